"""`python -m docs.build_site`: build the documentation as a site in site/, with offline search.

A broken link is an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
FAVICON = ROOT / "callgauge" / "static" / "favicon.png"
_FILES = ROOT / "docs" / "site"
_PAGES = ("*.md", "docs/**/*", "tests/fuzz/README.md", "sample_data/README.md", "sample_data/LICENCES.txt")
_LEFT_OUT = {".py", ".pyc", ".toml"}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NAMED_FENCE = re.compile(r"^```(\w+) (\S+)$")
_LIST_ITEM = re.compile(r"(?:-|\d+\.) ")
# The theme loads this script from another host. Without the script, search fails in a site opened from a
# folder.
_FOREIGN_SCRIPT = "https://unpkg.com/iframe-worker/shim"
_OWN_SCRIPT = "assets/iframe-worker.js"


class SiteError(Exception):
    """Raised when the site could not be built. The message is the builder's report."""


def list_pages(root: Path) -> Iterator[Path]:
    """Yield the paths of the site's files, relative to the repository.

    Links between the files work in the repository and in the site.
    """
    for pattern in _PAGES:
        for path in sorted(root.glob(pattern)):
            is_builder = path.is_relative_to(root / "docs" / "site")
            if path.is_file() and path.suffix not in _LEFT_OUT and not is_builder:
                yield path.relative_to(root)


def adapt_markdown(text: str) -> str:
    """Return Markdown in the form that the builder needs.

    A named code block gets a title, and a list gets a blank line before the list.
    """
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        follows_text = bool(lines) and lines[-1][:1].strip() and not _LIST_ITEM.match(lines[-1])
        if not is_code and follows_text and _LIST_ITEM.match(line):
            lines.append("")
        lines.append(_NAMED_FENCE.sub(r'```\1 title="\2"', line))
    return "\n".join(lines) + "\n"


def build_site(target: Path = SITE, root: Path = ROOT) -> None:
    """Replace `target` by the site of the pages under `root`. Raises SiteError for a broken link or anchor.

    The builder reads a copy of the pages. In the repository, the builder would also read the Markdown files
    of virtual environments.
    """
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        for page in list_pages(root):
            (pages / page).parent.mkdir(parents=True, exist_ok=True)
            if page.suffix == ".md":
                text = adapt_markdown((root / page).read_text(encoding="utf-8"))
                (pages / page).write_text(text, encoding="utf-8")
            else:
                shutil.copyfile(root / page, pages / page)
        (pages / "assets").mkdir()
        for path in (FAVICON, _FILES / "site.css", _FILES / "iframe-worker.js"):
            shutil.copyfile(path, pages / "assets" / path.name)
        shutil.copyfile(_FILES / "zensical.toml", Path(folder, "zensical.toml"))
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        build = subprocess.run(command, cwd=folder, capture_output=True, check=False, encoding="utf-8")
        if build.returncode:
            report = _COLOURS.sub("", build.stdout + build.stderr).partition("Traceback")[0]
            raise SiteError(
                f"{report.strip()}\nthe site was not built: fix the links and run ./dev docs again"
            )
        site = Path(folder, "site")
        for path in site.rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            script = "../" * (len(path.relative_to(site).parts) - 1) + _OWN_SCRIPT
            path.write_text(text.replace(_FOREIGN_SCRIPT, script), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(site, target)


if __name__ == "__main__":
    try:
        build_site()
    except SiteError as problem:
        sys.exit(str(problem))
    print(f"built the documentation: open {SITE / 'index.html'}")
