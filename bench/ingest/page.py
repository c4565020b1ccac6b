"""Writes docs/internal/benchmarks_ingest.md from the measurements of the readers."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.ingest import same_days
from bench.ingest.limits import Limit
from bench.ingest.tables import BASELINE, TITLES, Best

PAGE = Path(__file__).parents[2] / "docs" / "internal" / "benchmarks_ingest.md"

_HEAD = """# Benchmarks of loading

Written by `./dev bench ingest --write`; run it for your own figures. The input is one night of real
Claude Code sessions (listed in `bench/ingest/night.py`), repeated under new ids. Every reader runs in its
own process, in turns, and the least time of all rounds counts. *× loads* is the speed as a multiple of
`orjson.loads` on every line: per core, and by wall-clock time. *Store* is the size of the result as a
share of the logs."""

_NOTES = """The readers do different work. `orjson.loads` keeps nothing. DuckDB's SQL (`read_json.sql` in
the same folder) checks nothing: invalid lines disappear, arguments are not judged, retries are not
linked, and rows have no line numbers. agent-session-analytics loads all blocks into one database with
DuckDB's command line. ccusage only adds tokens. Readers from the PATH include their start."""

_NOT_COPIED = "One process. Copying the published file is not included."
_PARTS = """## Where the time goes

One process, in units of `orjson.loads` on the same bytes. The figures are the least processor times over
several loads of 200 MB (28,000 calls) into an empty store, on a busy machine, so they are a little higher
than above:

- reading and hashing (SHA-256) 0.25, recognising the format 0.2 (64 formats inspect the first objects);
- lines 0.1, UTF-8 0.1, decoding by type 0.6 (two thirds of it skip fields that no table needs);
- translating 0.7, sessions and classification 1.0: about 20 objects per call and 65 function calls per
  line;
- columns 0.3, a third of it for encoding texts as UTF-8;
- inserting 0.35, writing and compressing row groups 0.35, half of it for texts;
- duplicates, retry sequences and daily sums 1.1; 0.4 of this is constant (planning 160 statements).
  Error signatures take 0.25 (an eighth of these calls failed), the rates 0.15.

A store of up to 200,000 calls is written by one thread, because two threads take a fifth more processor
time. A load of two sessions takes 0.5 s, mostly for DuckDB's planning.

Two workers take a tenth more processor time than one process. The daily sums are computed by the load
itself: a quarter of a load of 200 MB, about a fifth of one of 1 GB (calculated). So with two cores, two
workers are 1.6 to 1.8 times as fast as one process.

These did not help: disabling DuckDB's optimizers, other malloc thresholds, no garbage collector, other
compression methods."""


def page(
    best: Mapping[str, Best],
    size: int,
    limits: Sequence[Limit],
    into: same_days.Seconds,
    peers: Iterable[str],
) -> str:
    made = f"{datetime.now(UTC):%Y-%m-%d}. {platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    versions = ", ".join([*(f"{name} {version(name)}" for name in ("duckdb", "orjson", "msgspec")), *peers])
    calls = best["callgauge"].told["calls"]
    parts = [
        _HEAD,
        f"{made}, CPython {platform.python_version()}. {size / 1e6:,.0f} MB, {calls:,} calls.",
        f"Versions: {versions}.",
        "\n".join(_readers(best, size)),
        _NOTES,
        "## Into a store with the same days",
        "\n".join(same_days.lines(into)),
        _NOT_COPIED,
        _PARTS,
    ]
    if limits:
        parts += ["## The largest inputs", "\n".join(_limits(limits))]
    return "\n\n".join(parts) + "\n"


def _readers(best: Mapping[str, Best], size: int) -> Iterable[str]:
    yield "| reader | s | cpu s | MB/s | × loads/core | × loads | peak MB | store |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    baseline = best[BASELINE]
    for name, measured in best.items():
        store = f"{measured.told['store'] / size:.1%}" if "store" in measured.told else ""
        yield (
            f"| {TITLES.get(name, name)} | {measured.clock:.2f} | {measured.processor:.2f} "
            f"| {size / 1e6 / measured.clock:.0f} "
            f"| {baseline.processor / measured.processor:.2f} | {baseline.clock / measured.clock:.2f} "
            f"| {measured.peak_mb:.0f} | {store} |"
        )


def _limits(limits: Iterable[Limit]) -> Iterable[str]:
    yield "| input | s | peak MB | result |"
    yield "|---|---:|---:|---|"
    for limit in limits:
        yield f"| {limit.name} | {limit.clock:.1f} | {limit.peak_mb:.0f} | {limit.outcome} |"
