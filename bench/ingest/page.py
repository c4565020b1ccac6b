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

`./dev bench ingest --write` measures the figures and writes this page. The input is the real Claude
Code sessions of one day (see `bench/ingest/night.py`), repeated with new session IDs. Every reader runs
several times in a separate process, and the figures are from the fastest run. *× loads* is the reader's
speed, divided by the speed of `orjson.loads` on every line. *× loads/core* uses processor time, and *×
loads* uses wall-clock time. *Store* is the size of the result as a percentage of the size of the logs."""

_NOTES = """The readers do different work. `orjson.loads` keeps nothing. The SQL for DuckDB
(`bench/ingest/read_json.sql`) drops invalid lines, does not check arguments and does not link retries.
agent-session-analytics loads all blocks into one database with DuckDB's command line. ccusage adds only
tokens. The time of a command (agent-session-analytics, ccusage) includes the start of the command."""

_NOT_COPIED = "One process loads the logs. The time to copy the published database is not included."
_PARTS = """## Where the time goes

The following figures are ratios: the processor time of each part of a load, divided by the processor
time of `orjson.loads` on the same bytes. Each figure is the least of several loads of 200 MB (28,000
calls) into an empty store, in one process.

| part of a load | × `orjson.loads` |
|---|---:|
| reading and hashing (SHA-256) | 0.25 |
| recognising the format (64 formats inspect the first objects) | 0.2 |
| splitting into lines | 0.1 |
| decoding UTF-8 | 0.1 |
| decoding into types (two thirds of it skip fields that no table needs) | 0.6 |
| translating records to events | 0.7 |
| building sessions and classifying calls (20 objects per call, 65 function calls per line) | 1.0 |
| building columns (a third of it encodes texts as UTF-8) | 0.3 |
| inserting | 0.35 |
| writing and compressing row groups (half of it for texts) | 0.35 |
| finding duplicates, retry sequences and daily sums | 1.1 |

The bottom figure of 1.1 includes 0.4 for planning 160 SQL statements, 0.25 for error signatures and
0.15 for rates.

Only the main process computes the daily sums, which take about a quarter of the time of a load of 200
MB. Therefore two workers on two cores are only 1.6 to 1.8 times as fast as one process.

Four changes did not make a load faster: disabling DuckDB's optimizers, other malloc thresholds, no
garbage collector, and other compression methods."""


def page(
    best: Mapping[str, Best],
    size: int,
    limits: Sequence[Limit],
    into: same_days.Seconds,
    peers: Iterable[str],
) -> str:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    python = f"CPython {platform.python_version()}"
    measured = f"These figures were measured on {datetime.now(UTC):%Y-%m-%d} on {machine}, {python}."
    versions = ", ".join([*(f"{name} {version(name)}" for name in ("duckdb", "orjson", "msgspec")), *peers])
    calls = best["callgauge"].output["calls"]
    parts = [
        _HEAD,
        f"{measured} The logs have {size / 1e6:,.0f} MB and {calls:,} calls.",
        f"The installed versions are {versions}.",
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
        store = f"{measured.output['store'] / size:.1%}" if "store" in measured.output else ""
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
