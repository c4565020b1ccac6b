"""What a first visit costs: time beside an empty Streamlit page, bytes over the wire, and how much moves."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from callgauge.dashboard.pages import PAGES
from tests.bench.dashboard.people import BROWSER_FLAGS, ROOT, browser_path, empty_script, served

MOST_TIMES_EMPTY = 1.5  # promised for the first page
MOST_SHIFT = 0.1  # what web.dev calls good
EMPTY = "(empty page)"
# Noted by the page itself, in ms since the visit began: `answer` when the first heading stands, `drawn` when
# the script has run and no placeholder is left in the window. Below the window nothing need be drawn.
_WATCH = """
  const seen = window.firstVisit = { shift: 0 }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value
  }).observe({ type: "layout-shift", buffered: true })
  const inWindow = (node) => {
    const { top, height } = node.getBoundingClientRect()
    return height > 0 && top < window.innerHeight
  }
  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]')
    const waiting = '[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]'
    if (document.querySelector('[data-testid="stMain"] :is(h1, h2, h3)')) seen.answer ??= performance.now()
    const ran = seen.answer && app?.dataset.testScriptState === "notRunning"
    if (ran && ![...document.querySelectorAll(waiting)].some(inWindow)) seen.drawn ??= performance.now()
    requestAnimationFrame(look)
  }
  look()
"""


@dataclass(frozen=True, slots=True)
class Visit:
    """Times in ms since the visit began; `bytes`: as sent; `shift`: the cumulative layout shift."""

    painted: float
    answer: float
    drawn: float
    bytes: int
    shift: float


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench first_visit", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="visits of each page")
    parser.add_argument("--store", type=Path, help="a loaded store, in place of the sample")
    options = parser.parse_args(arguments)
    path = browser_path()
    if path is None:
        print("no browser found: name one in BROWSER_BIN", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or sample_store(Path(folder))
        visits = _visits(path, store, empty_script(Path(folder)), options.rounds)
    empty = _median(visits[EMPTY], "drawn")
    print(
        f"{'page':14} {'painted':>8} {'answer':>8} {'drawn ms':>9} {'x empty':>8} {'kB sent':>8} {'shift':>7}"
    )
    for name, several in visits.items():
        drawn = _median(several, "drawn")
        ratio, shift = drawn / empty, _median(several, "shift")
        times = f"{_median(several, 'painted'):8.0f} {_median(several, 'answer'):8.0f} {drawn:9.0f}"
        kept = ratio <= MOST_TIMES_EMPTY and shift <= MOST_SHIFT
        mark = "" if kept else "  ← more than promised"
        print(f"{name:14} {times} {ratio:8.2f} {_median(several, 'bytes') / 1000:8.0f} {shift:7.3f}{mark}")
    return 0


def _median(visits: Sequence[Visit], measure: str) -> float:
    return float(statistics.median(getattr(visit, measure) for visit in visits))


def sample_store(folder: Path) -> Path:
    store = folder / "store"
    command = [
        sys.executable,
        "-m",
        "callgauge",
        "ingest",
        str(ROOT / "sample_data" / "logs"),
        "--store",
        str(store),
    ]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=False)  # 3 where lines were rejected
    return store


def _visits(browser_path: str, store: Path, empty: Path, rounds: int) -> dict[str, list[Visit]]:
    """Return the visits of each page, in turns: what else the machine does meets all pages alike."""
    found: dict[str, list[Visit]] = defaultdict(list)
    with (
        served(ROOT / "callgauge" / "server.py", store) as (url, _),
        served(empty, store) as (empty_url, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path, args=BROWSER_FLAGS)
        places = {EMPTY: f"{empty_url}/"} | {page.name: f"{url}/{page.name}" for page in PAGES}
        for number in range(rounds + 1):
            for name, place in places.items():
                visit = _visit(browser, place)
                if number:  # the first round fills the caches that every start fills
                    found[name].append(visit)
        browser.close()
    return found


def _visit(browser: Browser, url: str) -> Visit:
    """Return what the visit of a new person cost."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(_WATCH)
    page = context.new_page()
    network = context.new_cdp_session(page)
    sent = []
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sent.append(int(event["encodedDataLength"])))
    page.goto(url)
    page.wait_for_function("window.firstVisit.drawn", timeout=60_000)
    page.wait_for_timeout(1000)  # what still moves, counts
    seen = page.evaluate("window.firstVisit")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    context.close()
    return Visit(painted, seen["answer"], seen["drawn"], sum(sent), seen["shift"])
