"""`python -m docs.screenshots`: take the pictures for README.md from the sample store, light and dark."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from bench.dashboard.people import BROWSER_FLAGS, ROOT, served
from bench.first_visit import sample_store

IMAGES = Path(__file__).parent / "images"
LARGEST = 200_000  # maximum size of a picture, in bytes
COLOURS = 128
WIDTH, HEIGHT = 1280, 800
# Maps the name of a picture to the page that is opened, and to the link that is followed there, if any.
PICTURES: dict[str, tuple[str, str | None]] = {
    "overview": ("/", None),
    "prompts": ("/prompts", None),
    "call": ("/calls?fault=syntax", "tbody a"),
}
DRAWN = """() => {
  const app = document.querySelector('[data-testid="stApp"]')
  return app?.dataset.testScriptState === "notRunning"
    && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]')
}"""
SETTLED = 2_500  # milliseconds to wait after the script has run, because tables and charts are drawn later


def main() -> int:
    path = os.environ.get("BROWSER_BIN") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        print("no browser found: name one in BROWSER_BIN", file=sys.stderr)
        return 1
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = sample_store(Path(folder))
        with served(ROOT / "callgauge" / "server.py", store) as (url, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=BROWSER_FLAGS)
            for theme in ("light", "dark"):
                for name, (place, link) in PICTURES.items():
                    picture = IMAGES / f"{name}-{theme}.png"
                    _take(browser, url + place, link, theme, picture)
                    _quantise(picture)
                    print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1000} kB")
            browser.close()
    return 0


def _take(browser: Browser, url: str, link: str | None, theme: str, picture: Path) -> None:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(SETTLED)
    if link is not None:
        page.locator(link).first.click()
        page.wait_for_timeout(SETTLED)
        page.wait_for_function(DRAWN)
    page.screenshot(path=str(picture))
    context.close()


def _quantise(picture: Path) -> None:
    """Rewrite a picture with few colours. Raises ValueError when it is too large for the repository."""
    with Image.open(picture) as taken:
        taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
    if picture.stat().st_size > LARGEST:
        raise ValueError(f"{picture} has {picture.stat().st_size:,} bytes, more than {LARGEST:,}")


if __name__ == "__main__":
    sys.exit(main())
