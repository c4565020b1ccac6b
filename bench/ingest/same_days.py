"""Measures how long a night's logs take to load into an empty store, and into a store with calls of the same
days.

The arguments are NIGHT STORE WORK ROUNDS. The two cases alternate, and the module prints the lowest CPU
seconds of each case as one line of JSON. The time to copy the published store file is subtracted.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import duckdb

from bench.apart import run_module
from bench.ingest import night
from ingest.pipeline.load import load
from ingest.store.generations import StoreFolder, published_generation

NEW_MB = 47
ROUNDS = 3

Seconds = dict[str, float]


def measure(work: Path, size: int) -> Seconds:
    """Load a night of `size` bytes into a store, and measure how long another night takes to load into this
    store.
    """
    earlier, store, new = work / "earlier", work / "full", work / "new"
    night.write_night(earlier, size)
    load([earlier], store, workers=1)
    night.write_night(new, NEW_MB * 1_000_000, first=1_000_000)
    ran = run_module("bench.ingest.same_days", new, store, work / "again", ROUNDS)
    for folder in (earlier, store, new):
        shutil.rmtree(folder)
    return ran.output


def lines(seconds: Seconds) -> Iterator[str]:
    """Return the table of `measure` in Markdown."""
    yield "| a night of 47 MB into | cpu s | × empty |"
    yield "|---|---:|---:|"
    yield f"| an empty store | {seconds['empty']:.2f} | 1.00 |"
    ratio = seconds["full"] / seconds["empty"]
    row_title = f"a store with {seconds['calls']:,.0f} calls of the same days"
    yield f"| {row_title} | {seconds['full']:.2f} | {ratio:.2f} |"


def main(new: Path, earlier: Path, work: Path, rounds: int) -> None:
    best: Seconds = {}
    for _ in range(rounds):
        for name, base in (("empty", None), ("full", earlier)):
            if base is not None:
                shutil.copytree(base, work)
            with _copying_not_counted() as copying:
                begun = time.process_time()
                report = load([new], work, workers=1)
                spent = time.process_time() - begun - sum(copying)
            assert report.calls, "nothing was loaded"
            best[name] = min(spent, best.get(name, spent))
            shutil.rmtree(work)
    print(json.dumps(best | {"calls": _count_calls(earlier)}))


@contextmanager
def _copying_not_counted() -> Iterator[list[float]]:
    """Yield a list. Whenever the published store file is copied, the CPU seconds of the copy are added to
    this list.
    """
    seconds: list[float] = []
    copy = StoreFolder.start_from_published

    def timed(folder: StoreFolder) -> Path:
        begun = time.process_time()
        try:
            return copy(folder)
        finally:
            seconds.append(time.process_time() - begun)

    with mock.patch.object(StoreFolder, "start_from_published", timed):
        yield seconds


def _count_calls(store: Path) -> int:
    with duckdb.connect(str(published_generation(store)), read_only=True) as con:
        return int(con.execute("SELECT count(*) FROM tool_calls").fetchall()[0][0])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
