"""What a first visit costs: time and CPU beside an empty Streamlit page, bytes sent, and how much moves."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, sync_playwright

from bench.dashboard.people import BROWSER_FLAGS, ROOT, browser_path, empty_script, served
from callgauge.dashboard.pages import PAGES

MOST_TIMES_EMPTY = 1.5  # promised for every page
MOST_SHIFT = 0.05  # half of what web.dev calls good
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
  }
  setInterval(look, 20)
"""


PAGE = ROOT / "docs" / "internal" / "benchmarks_pages.md"
_TICKS = os.sysconf("SC_CLK_TCK")  # of processor time in /proc, in a second
_ABOUT = """# Benchmarks of a first visit

Written by `./dev bench first_visit --write`; run it to have your own. Each page of the sample's store is
opened in a new browser without a cache, in turns with an empty Streamlit page (`st.title` alone) of the
same Streamlit. The median of all visits counts. *Heading*: the page's first heading stands. *Drawn*: the
page has run and nothing in the window of 1440 × 900 pixels is a placeholder. A chart comes after that,
in a place of its own height. *CPU*: of browser and server until then; where other work shares the
machine, it is the ratio to trust. *Shift*: the cumulative layout shift until a second later. Promised
are at most 1.5 × the empty page's time, and a shift below 0.05.

{facts}.

{table}

What a page costs beyond an empty one is not its figures: these come from a cache here. Each element is a
message of its own, and the browser draws it with React. So what is folded away is sent once it is
opened: the Overview sends 160 messages in place of 255, 171 kB in place of 444. The small lines of the
Overview are drawn by 15 lines of our own: those of `st.metric` load Vega (250 kB), which was a quarter
of the browser's scripting time. Scripts that every page needs are named in the first page, so that they
come along with Streamlit's own.

Plotly stays whole. Streamlit's frontend imports its one bundle (`PlotlyChart.*.js`, 4.7 MB, 1.2 MB as
sent) when the first chart is drawn; the bundle is part of Streamlit's build, and no setting names
another. A partial bundle would need a chart component of our own in place of `st.plotly_chart`. So a
chart is loaded when it comes into view.
"""


@dataclass(frozen=True, slots=True)
class Visit:
    """Times in ms since the visit began, until `drawn` with `cpu` ms of processor in browser and server.

    `bytes`: as sent; `shift`: the cumulative layout shift until a second later.
    """

    painted: float
    answer: float
    drawn: float
    cpu: float
    bytes: int
    shift: float


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench first_visit", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="visits of each page")
    parser.add_argument("--store", type=Path, help="a loaded store, in place of the sample")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    options = parser.parse_args(arguments)
    path = browser_path()
    if path is None:
        print("no browser found: name one in BROWSER_BIN", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or sample_store(Path(folder))
        visits = _visits(path, store, empty_script(Path(folder)), options.rounds)
    lines = _write_table(visits)
    print("\n".join(lines))
    if options.write:
        PAGE.write_text(_write_page(lines, options.rounds), encoding="utf-8")
    return 0


def _write_table(visits: Mapping[str, Sequence[Visit]]) -> list[str]:
    drawn, cpu = (_median(visits[EMPTY], measure) for measure in ("drawn", "cpu"))
    lines = [
        "| page | painted ms | heading ms | drawn ms | × empty | CPU ms | × empty | kB sent | shift | kept |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, several in visits.items():
        its = {field.name: _median(several, field.name) for field in fields(Visit)}
        kept = its["drawn"] <= MOST_TIMES_EMPTY * drawn and its["shift"] < MOST_SHIFT
        lines.append(
            f"| {name} | {its['painted']:.0f} | {its['answer']:.0f} | {its['drawn']:.0f} "
            f"| {its['drawn'] / drawn:.2f} | {its['cpu']:.0f} | {its['cpu'] / cpu:.2f} "
            f"| {its['bytes'] / 1000:.0f} | {its['shift']:.3f} | {'yes' if kept else '**no**'} |"
        )
    return lines


def _write_page(table: Sequence[str], rounds: int) -> str:
    about = f"{datetime.now(UTC).date()}. {platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    versions = f"CPython {platform.python_version()}, streamlit {version('streamlit')}"
    load = f"load {os.getloadavg()[0]:.0f} at the end" if hasattr(os, "getloadavg") else ""
    facts = ", ".join(filter(None, (about, versions, f"{rounds} visits of each page", load)))
    return _ABOUT.format(facts=facts, table="\n".join(table))


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
        served(ROOT / "callgauge" / "server.py", store) as (url, server),
        served(empty, store) as (empty_url, empty_server),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path, args=BROWSER_FLAGS)
        system = browser.new_browser_cdp_session()
        places = {EMPTY: (f"{empty_url}/", empty_server.pid)}
        places |= {page.name: (f"{url}/{page.name}", server.pid) for page in PAGES}
        for number in range(rounds + 1):
            for name, (place, pid) in places.items():
                visit = _visit(browser, place, system, pid)
                if number:  # the first round fills the caches that every start fills
                    found[name].append(visit)
        browser.close()
    return found


def _visit(browser: Browser, url: str, system: CDPSession, server: int) -> Visit:
    """Return what the visit of a new person cost; `server`: the id of the server's process."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(_WATCH)
    page = context.new_page()
    network = context.new_cdp_session(page)
    sent = []
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sent.append(int(event["encodedDataLength"])))
    began = _processor_ms(system, server)
    page.goto(url)
    page.wait_for_function("window.firstVisit.drawn", timeout=60_000)
    cpu = _processor_ms(system, server) - began
    page.wait_for_timeout(1000)  # what still moves, counts
    seen = page.evaluate("window.firstVisit")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    context.close()
    return Visit(painted, seen["answer"], seen["drawn"], cpu, sum(sent), seen["shift"])


def _processor_ms(system: CDPSession, server: int) -> float:
    """Return the processor time so far of all processes of the browser and of the server; 0 without /proc."""
    browser = sum(one["cpuTime"] for one in system.send("SystemInfo.getProcessInfo")["processInfo"])
    try:
        spent = Path(f"/proc/{server}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[11:13]
    except OSError:
        spent = []
    return 1000 * (float(browser) + sum(map(int, spent)) / _TICKS)
