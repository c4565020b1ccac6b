"""Measures how long the queries and pages of the dashboard take on a generated store of 50 million calls."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.dashboard import made_large_store
from bench.dashboard.made_store import make
from bench.dashboard.people import MODELS, PEOPLE, crowd
from bench.dashboard.questions import FILTERS, measured
from bench.dashboard.views import CHANGES, views


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench-dashboard", description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000_000, help="how many calls the store holds")
    parser.add_argument(
        "--days",
        type=int,
        help="make sums and segments directly, for so many days (a multiple of 10) and 400 models: "
        "--calls 1000000000 --days 730 is the store of docs/scale.md",
    )
    parser.add_argument(
        "--store", type=Path, help="a folder to keep the made store in, used again if it is there"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or Path(folder)
        if not (store / "CURRENT").exists():
            print(f"making {options.calls:,} calls …", flush=True)
            _make(store, options.calls, options.days)
        for named, filters in (made_large_store.RANGES if options.days else {"": FILTERS}).items():
            _print_questions(store, named, filters)
        print(f"\n{'page':12} {'first ms':>9} {'repaint ms':>11} {'slowest':>8} {'Python CPU ms':>14}")
        for view in views(store, made_large_store.CHANGES if options.days else CHANGES):
            mark = "" if view.keeps_promise else "  ← slower than promised"
            times = f"{view.first:9.0f} {view.repaint:11.0f} {view.slowest:8.0f} {view.python:14.0f}"
            print(f"{view.page:12} {times}{mark}", flush=True)
        crowd_times = crowd(store, made_large_store.MODELS if options.days else MODELS)
        if crowd_times is not None:
            ratio = crowd_times.painted / crowd_times.empty if crowd_times.empty else 0.0
            print(
                f"\nfirst paint of Overview {crowd_times.painted:.0f} ms, {ratio:.1f} x that of an empty page"
            )
            opened = f"{crowd_times.alone:.0f} ms alone, {crowd_times.together:.0f} ms with {PEOPLE} at once"
            print(f"a page opened in a browser: {opened}")
            print(f"the server's memory at its highest: {crowd_times.memory_mb:.0f} MB")
    return 0


def _print_questions(store: Path, named: str, filters: Sequence[dict[str, Any]]) -> None:
    print(f"\n{named or 'question':22} {'median ms':>10} {'worst ms':>10} {'CPU ms':>8}  reads")
    for took in measured(store, filters):
        mark = "" if took.keeps_promise else "  ← slower than promised"
        reads = "facts" if took.facts else "daily sums"
        times = f"{took.median:10.0f} {took.worst:10.0f} {took.cpu:8.0f}"
        print(f"{took.metric:22} {times}  {reads}  {took.also}{mark}", flush=True)


def _make(store: Path, calls: int, days: int | None) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    if days is None:
        make(store / "gen-000001.duckdb", calls)
    else:
        store.mkdir(parents=True, exist_ok=True)
        made_large_store.make_large(store, calls, days)
    size = sum(path.stat().st_size for path in store.iterdir()) / 1e6
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"made in {time.perf_counter() - began:.0f} s, {time.process_time() - cpu:.0f} s of CPU: "
        f"{size:,.0f} MB on disk, {memory:,.0f} MB of memory at most"
    )
