"""How long the questions and pages of the dashboard take on a made store of 50 million calls."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.bench.dashboard.made_store import make
from tests.bench.dashboard.people import PEOPLE, crowd
from tests.bench.dashboard.questions import measured
from tests.bench.dashboard.views import views


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench-dashboard", description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000_000, help="how many calls the store holds")
    parser.add_argument(
        "--store", type=Path, help="a folder to keep the made store in, used again if it is there"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or Path(folder)
        if not (store / "CURRENT").exists():
            print(f"making {options.calls:,} calls …", flush=True)
            make(store / "gen-000001.duckdb", options.calls)
        print(f"{'question':22} {'median ms':>10} {'worst ms':>10}  reads")
        for took in measured(store):
            mark = "" if took.kept else "  ← slower than promised"
            reads = "facts" if took.facts else "daily sums"
            print(f"{took.metric:22} {took.median:10.0f} {took.worst:10.0f}  {reads}  {took.also}{mark}")
        print(f"\n{'page':12} {'first ms':>9} {'repaint ms':>11} {'slowest':>8} {'Python CPU ms':>14}")
        for view in views(store):
            mark = "" if view.kept else "  ← slower than promised"
            times = f"{view.first:9.0f} {view.repaint:11.0f} {view.slowest:8.0f} {view.python:14.0f}"
            print(f"{view.page:12} {times}{mark}")
        found = crowd(store)
        if found is not None:
            ratio = found.painted / found.empty if found.empty else 0.0
            print(f"\nfirst paint of Overview {found.painted:.0f} ms, {ratio:.1f} x that of an empty page")
            opened = f"{found.alone:.0f} ms alone, {found.together:.0f} ms with {PEOPLE} at once"
            print(f"a page opened in a browser: {opened}")
            print(f"the server's memory at its highest: {found.memory_mb:.0f} MB")
    return 0
