"""How fast a log is ingested, as a multiple of `orjson.loads` on every line in the same process.

Options: --mb N (size of the log, 200 unless told), --pieces (also time each stage alone). Other work on the
machine distorts the time on the clock; the multiple in processor time (all threads) stays put.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from ingest.collect import look_at
from ingest.containers import read_records
from ingest.events import Event, Rejected
from ingest.formats import decoder_of, translated
from ingest.lines import MAX_LINE
from ingest.pipeline import load
from ingest.reading import Recognised, Unusable, recognised
from ingest.records import Record
from ingest.work import FileWork
from lenient import ToolCatalog
from tests.bench.repeated_logs import repeated

ROOT = Path(__file__).parents[2]
WORK = Path(__file__).parent / ".work"


@dataclass(slots=True)
class Measured:
    """What one log's stages took, in seconds on the clock and of processors, and what the load said."""

    source: str
    size: int
    clock: dict[str, float] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)
    lines: int = 0
    calls: int = 0
    store_size: int = 0


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    samples = samples_by_format()
    if not samples:
        print("sample_data/ holds no log that a format claims", file=sys.stderr)
        return 1
    pa.array([0])  # imports what pyarrow imports at its first use; starting up is not measured here
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    try:
        share = options.mb * 1_000_000 // len(samples)
        results = [measure(name, files, share, options.pieces) for name, files in samples.items()]
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    print_table(results)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench ingest", description=__doc__)
    parser.add_argument(
        "--mb", type=int, default=200, help="size of the log in megabytes, shared by the formats"
    )
    parser.add_argument("--pieces", action="store_true", help="also time each stage alone")
    return parser


def samples_by_format() -> dict[str, list[Path]]:
    """The logs of sample_data/ by the format that claims them."""
    found: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "sample_data").rglob("*.jsonl")):
        try:
            name = recognised(look_at(str(path)), MAX_LINE).form.SOURCE.name
        except Unusable:
            continue
        found.setdefault(name, []).append(path)
    return found


def measure(source: str, files: list[Path], size: int, pieces: bool) -> Measured:
    log, store = WORK / f"{source}.jsonl", WORK / f"{source}-store"
    repeated(files, log, size)
    measured = Measured(source, log.stat().st_size)
    with timed(measured, "loads before"):
        decode(log)
    with timed(measured, "ingest"):
        report = load([log], store)
    with timed(measured, "loads after"):
        decode(log)
    if pieces:
        time_pieces(measured, log)
    measured.lines, measured.calls = report.lines, report.calls
    measured.store_size = sum(path.stat().st_size for path in store.glob("gen-*.duckdb"))
    return measured


@contextmanager
def timed(measured: Measured, name: str) -> Iterator[None]:
    clock, processor = time.perf_counter(), time.process_time()
    yield
    measured.clock[name] = time.perf_counter() - clock
    measured.processor[name] = time.process_time() - processor


def decode(log: Path) -> None:
    """The baseline: decode every line and do nothing with it."""
    with log.open("rb") as stream:
        for line in stream:
            with suppress(ValueError):  # the samples hold broken lines on purpose
                orjson.loads(line)


def time_pieces(measured: Measured, log: Path) -> None:
    known = recognised(look_at(str(log)), MAX_LINE)
    form = known.form
    stages: dict[str, Callable[[Iterator[Record | Rejected]], Any]] = {
        "records": lambda records: deque(records, maxlen=0),
        "records, translate": lambda records: deque(translated(form, records, known.about), maxlen=0),
        "records, translate, work": lambda records: work_through(known, records),
    }
    for name, stage in stages.items():
        with timed(measured, name), log.open("rb", buffering=1024 * 1024) as stream:
            stage(read_records(stream, known.container, MAX_LINE, decoder_of(form)))


def work_through(known: Recognised, records: Iterator[Record | Rejected]) -> None:
    work = FileWork(file_id=1, source=known.form.SOURCE.name, catalog=ToolCatalog.of(()))
    for event in translated(known.form, records, known.about):
        if isinstance(event, Event):
            work.take(event)
        if work.pending > 5_000:
            work.drain()
    work.finish()


def print_table(results: list[Measured]) -> None:
    titles = ("MB", "lines", "calls", "s", "lines/s", "MB/s", "x loads", "x cpu", "store")
    print(f"{'format':18}" + "".join(f"{title:>9}" for title in titles))
    for one in results:
        seconds = one.clock["ingest"]
        print(
            f"{one.source:18}{one.size / 1e6:9.0f}{one.lines:9,}{one.calls:9,}{seconds:9.1f}"
            f"{one.lines / seconds:9,.0f}{one.size / 1e6 / seconds:9.1f}"
            f"{multiple(one.clock, 'ingest'):9.2f}{multiple(one.processor, 'ingest'):9.2f}"
            f"{one.store_size / one.size:9.0%}"
        )
    for one in results:
        for name in one.clock:
            taken = f"{one.clock[name]:.2f} s, {multiple(one.clock, name):.2f} x loads"
            print(f"  {one.source}: {name}: {taken}, {multiple(one.processor, name):.2f} x cpu")
    print(
        "x loads: speed as a multiple of orjson.loads on every line, by the clock; x cpu: by processor time"
    )
    print(f"store: size of the store to size of the log; peak memory of this process {peak_mb():.0f} MB")


def multiple(seconds: dict[str, float], name: str) -> float:
    """Speed relative to the baseline: the mean of one run before and one after, as the pace changes."""
    return (seconds["loads before"] + seconds["loads after"]) / 2 / seconds[name]


def peak_mb() -> float:
    """The largest resident size this process had, in MB (macOS counts bytes, Linux kilobytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)
