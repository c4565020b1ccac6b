"""Measures a first visit: bytes, layout shift, time, and CPU time, compared with an empty Streamlit page."""

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

MOST_TIMES_PLAIN = 1.5  # maximum time of every page, as a multiple of the time of a plain page with a chart
MOST_SHIFT = 0.05  # half of the limit that web.dev calls good
EMPTY = "(empty page)"
CHART = "(plain page with a chart)"
_CHART_SCRIPT = """import streamlit as st
st.title('Chart')
lines = [{'type': 'scatter', 'name': name, 'y': [(7 * day + 3 * place) % 10 for day in range(28)]}
         for place, name in enumerate('abcde')]
st.plotly_chart({'data': lines, 'layout': {'height': 420}})
"""
# The page records two times, in ms since the start of the visit. At `answer`, the first heading is shown. At
# `drawn`, the script has run and no placeholder is left in the window. Nothing may be drawn below the window.
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
_TICKS = os.sysconf("SC_CLK_TCK")  # clock ticks per second of processor time in /proc
_ABOUT = """# Benchmarks of a first visit

`./dev bench first_visit --write` measures the figures and writes this page. The benchmark opens each
page of the sample store in a new browser that has no cache. Visits of each page alternate with visits
of two Streamlit pages: an empty page, which contains only `st.title`, and a plain page, which contains
a title and a Plotly chart of five lines. Each figure is the median of all visits.

*Heading* is the time until the first heading is visible. *Drawn* is the time until the page has run and
the window of 1440 × 900 pixels shows no placeholder. *CPU* is the processor time of browser and server
until the page is drawn. *Shift* is the cumulative layout shift until one second after the page is
drawn. The targets are a drawn time of at most 1.5 times that of the plain page, and a shift below 0.05.

These figures were measured on {facts}.

{table}

In this benchmark, the server has cached the numbers of each page, so queries add little time. The time
to draw a page depends on the page's number of elements, because the browser draws each element with
React. Therefore the server sends a collapsed section only when a person opens the section. When the
server sent collapsed sections, the page Overview had 255 messages (444 kB), and not 160 messages (171
kB). The small trend lines on Overview are our own SVG, because `st.metric` loads Vega (250 kB).

The following table was measured on 2026-11-30 with 100,000 calls and three visits of each page. The load
average of the machine was about 12.

| page | drawn ms | × chart | CPU ms | × chart | shift |
|---|---:|---:|---:|---:|---:|
| empty page | 3531 | 0.50 | 1720 | 0.46 | 0.000 |
| plain page with a Plotly chart | 7076 | 1.00 | 3720 | 1.00 | 0.000 |
| Overview | 4514 | 0.64 | 2950 | 0.79 | 0.011 |
| Compare | 4808 | 0.68 | 2780 | 0.75 | 0.022 |
| Models | 3603 | 0.51 | 2630 | 0.71 | 0.008 |

## A change of the filters

The benchmark changes the selected days in Chromium, and measures the time from the click until the page
has run. Measurements of each page alternate with measurements of a plain page (a title, a selector, one
line). The figures are medians of 10 runs, measured on 2026-11-29 with 26,708 calls on 2 cores. The
rates of the selected days were in the server's cache. Wall-clock times depend on the load average of
the machine (15 to 21), so compare the ratios of processor time.

| | time, ms | × plain | CPU of the server, ms | CPU of the browser, ms | CPU × plain |
|---|---:|---:|---:|---:|---:|
| plain page | 649 | 1.00 | 70 | 280 | 1.0 |
| Models, before | 2088 | 3.22 | 215 | 1215 | 4.1 |
| Models | 1254 | 1.93 | 110 | 905 | 2.9 |
| Overview, before | 3949 | 6.09 | 420 | 1990 | 6.9 |
| Overview | 2230 | 3.44 | 195 | 1190 | 4.0 |

After a change of the filters, a page should take at most twice the time of the plain page. The page
Models reaches this target for wall-clock time but not for processor time. The page Overview misses the
target for wall-clock time and for processor time. If the rates of the selected days are not in the
server's cache, the page Models takes 10 times as long as the plain page, and the page Overview takes 26
times as long.

On a store with the daily sums of 50 million calls, a filter that nobody has chosen before costs Overview 6
to 8 queries and 274 ms of the server's processor time (2026-11-30, median of nine changes in three turns).
In the same turns, revision 151fea0e took 14 queries and 455 ms. With other programs on both cores, it was
378 and 615 ms. Planning takes 5 to 10 ms of a query. Without other programs, Overview reaches the target of
300 ms.

For each published version of the store, the server caches the rankings, differences, costs and slices
that pages compute. The browser takes most of the time, because one run of the page Models sends 72
messages, and one run of Overview sends 146 messages.

## An idle tab and the server's memory

The following table shows how much processor time the server takes for an idle browser tab and for a
reload of a page. *Idle* is the processor time per 5 s of one open tab of Overview that nobody uses.
*Page load* is the processor time of a reload in Chromium (median of seven reloads). We measured these
figures on 2026-11-29 with 26,708 calls on 2 busy cores.

| | idle, CPU s per 5 s | page load, CPU s |
|---|---|---|
| garbage collection after every run, a check every 2 s (until November 2026) | 0.37–0.48 | 0.95 |
| no collection after a run, a check every 2 s | 0.045–0.06 | 0.71 |

A tab now checks for new data every 10 s. By default, Streamlit runs a full garbage collection after
every run of a script or fragment. The setting `runner.postScriptGC = false` disables this garbage
collection.

The following table compares the code with revision 940f4541 on a store of 100,000 calls. It shows
medians of the server's processor time. The first column is the time of a reload in Chromium, or the
idle time of an open tab, in four turns. The other columns are seven new sessions without a browser. The
load average of the machine was 12 to 15 on 2026-11-30.

| | reload of Overview, s | idle, s per 5 s | session, Overview, s | Compare, s | Models, s |
|---|---:|---:|---:|---:|---:|
| 940f4541 | 0.511 | 0.282 | 0.326 | 0.314 | 0.228 |
| 89d80e15 | | | 0.152 (× 0.47) | 0.231 (× 0.79) | 0.111 (× 0.48) |
| now | 0.114 (× 0.22) | 0.026 (× 0.09) | 0.097 (× 0.31) | 0.078 (× 0.25) | 0.074 (× 0.34) |

The server caches what a page computes, and each rate keeps its interval. So a second run of a page sends
no query and computes no comparison, estimate or label again.

During 300 visits of ten pages and 20 loads of logs, the server's resident memory is at most 361 MB. A
garbage collection after every run would save about 10 MB. But 300 visits take 113 s of processor time
if the collection runs after every run, and otherwise 89 s.
"""


@dataclass(frozen=True, slots=True)
class Visit:
    """The measurements of one visit.

    Times are in ms since the visit began. `cpu` is the processor time of browser and server until the time
    `drawn`, in ms. `bytes` are the bytes sent over the network. `shift` is the cumulative layout shift until
    one second after `drawn`.
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
    parser.add_argument("--pages", help="names of pages, with commas between them; all without")
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    options = parser.parse_args(arguments)
    path = browser_path()
    if path is None:
        print("no browser found: name one in BROWSER_BIN", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or sample_store(Path(folder))
        names = options.pages.split(",") if options.pages else [page.name for page in PAGES]
        visits = _visits(path, store, Path(folder), options.rounds, names)
    lines = _write_table(visits)
    print("\n".join(lines))
    if options.write:
        PAGE.write_text(_write_page(lines, options.rounds), encoding="utf-8")
    return 0


def _write_table(visits: Mapping[str, Sequence[Visit]]) -> list[str]:
    drawn, cpu = (_median(visits[CHART], measure) for measure in ("drawn", "cpu"))
    lines = [
        "| page | painted ms | heading ms | drawn ms | × chart | CPU ms | × chart | kB sent | shift | kept |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, several in visits.items():
        medians = {field.name: _median(several, field.name) for field in fields(Visit)}
        is_kept = medians["drawn"] <= MOST_TIMES_PLAIN * drawn and medians["shift"] < MOST_SHIFT
        lines.append(
            f"| {name} | {medians['painted']:.0f} | {medians['answer']:.0f} | {medians['drawn']:.0f} "
            f"| {medians['drawn'] / drawn:.2f} | {medians['cpu']:.0f} | {medians['cpu'] / cpu:.2f} "
            f"| {medians['bytes'] / 1000:.0f} | {medians['shift']:.3f} | {'yes' if is_kept else '**no**'} |"
        )
    return lines


def _write_page(table: Sequence[str], rounds: int) -> str:
    about = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    versions = f"CPython {platform.python_version()}, streamlit {version('streamlit')}"
    load = f"load average {os.getloadavg()[0]:.0f} at the end" if hasattr(os, "getloadavg") else ""
    facts = f"{datetime.now(UTC).date()} on " + ", ".join(
        filter(None, (about, versions, f"{rounds} visits of each page", load))
    )
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
    # the exit code is 3 if lines were unreadable
    subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    return store


def _chart_script(folder: Path) -> Path:
    script = folder / "chart.py"
    script.write_text(_CHART_SCRIPT, encoding="utf-8")
    return script


def _visits(
    browser_path: str, store: Path, folder: Path, rounds: int, pages: Sequence[str]
) -> dict[str, list[Visit]]:
    """Return the visits of each page.

    The pages are visited in turn, so that other programs on the machine affect all pages equally.
    """
    visits: dict[str, list[Visit]] = defaultdict(list)
    with (
        served(ROOT / "callgauge" / "server.py", store) as (url, server),
        served(empty_script(folder), store) as (empty_url, empty_server),
        served(_chart_script(folder), store) as (chart_url, chart_server),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path, args=BROWSER_FLAGS)
        system = browser.new_browser_cdp_session()
        places = {EMPTY: (f"{empty_url}/", empty_server.pid), CHART: (f"{chart_url}/", chart_server.pid)}
        places |= {name: (f"{url}/{name}", server.pid) for name in pages}
        for number in range(rounds + 1):
            for name, (place, pid) in places.items():
                visit = _visit(browser, place, system, pid)
                if number:  # the first round fills the caches that every start fills
                    visits[name].append(visit)
        browser.close()
    return visits


def _visit(browser: Browser, url: str, system: CDPSession, server: int) -> Visit:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(_WATCH)
    page = context.new_page()
    network = context.new_cdp_session(page)
    sent = []
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sent.append(int(event["encodedDataLength"])))
    began = _processor_ms(system, server)
    page.goto(url)
    page.wait_for_function("() => window.firstVisit.drawn", timeout=60_000)
    cpu = _processor_ms(system, server) - began
    page.wait_for_timeout(1000)  # wait, because elements that still move count as layout shift
    timings = page.evaluate("window.firstVisit")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    context.close()
    return Visit(painted, timings["answer"], timings["drawn"], cpu, sum(sent), timings["shift"])


def _processor_ms(system: CDPSession, server: int) -> float:
    """Return the total processor time of the browser and the server so far in ms, or 0 without /proc."""
    browser = sum(process["cpuTime"] for process in system.send("SystemInfo.getProcessInfo")["processInfo"])
    try:
        spent = Path(f"/proc/{server}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[11:13]
    except OSError:
        spent = []
    return 1000 * (float(browser) + sum(map(int, spent)) / _TICKS)
