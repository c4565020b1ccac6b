"""Writes docs/internal/benchmarks_ingest.md from the measurements of the readers."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.ingest import same_days
from bench.ingest.limits import Limit
from bench.ingest.measurements import KindMeasurements
from bench.ingest.peers import Program

PAGE = Path(__file__).parents[2] / "docs" / "internal" / "benchmarks_ingest.md"

_HEAD = """# Benchmarks of loading

`./dev bench ingest --write` measures the figures and writes this page. The inputs are three kinds of logs:
the real Claude Code sessions of one day, repeated with new session IDs (`bench/ingest/night.py`), the made
session logs of the sample, repeated, and generated traces (`bench/ingest/traces.py`). Every reader runs
several times in a separate process, and the figures are from the fastest run. *Cpu / loads* is the
processor time, divided by the processor time of `orjson.loads` on every line. *µs / call* and *µs / line*
are processor time. *Noise* is the slowest run, divided by the fastest run. *Store* is the size of the result
as a percentage of the size of the logs."""

_NOTES = """The readers do different work. `orjson.loads` keeps nothing. The SQL for DuckDB
(`bench/ingest/sql`) drops invalid lines, does not check arguments and does not link retries.
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

The bottom figure of 1.1 includes 0.4 for planning SQL statements, 0.25 for error signatures and
0.15 for rates.

Only the main process writes rows and computes the daily sums. This is about a quarter of the processor
time of a load of transcripts, and 34 % of a load of dense session logs. Therefore two workers on two
cores are only 1.3 to 1.8 times as fast as one process.

Four changes did not make a load faster: disabling DuckDB's optimizers, other malloc thresholds, no
garbage collector, and other compression methods."""


def page(
    measured: Sequence[KindMeasurements],
    limits: Sequence[Limit],
    into: same_days.Seconds,
    programs: Sequence[Program],
) -> str:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    python = f"CPython {platform.python_version()}"
    versions = [f"{name} {version(name)}" for name in ("duckdb", "orjson", "msgspec")]
    versions += [f"{program.name} {program.version}" for program in programs]
    parts = [
        _HEAD,
        f"These figures were measured on {datetime.now(UTC):%Y-%m-%d} on {machine}, {python}.",
        f"The installed versions are {', '.join(versions)}.",
        *("\n".join(section(kind)) for kind in measured),
        _NOTES,
        "## Into a store with the same days",
        "\n".join(same_days.lines(into)),
        _NOT_COPIED,
        _PARTS,
    ]
    if limits:
        parts += ["## The largest inputs", "\n".join(_limits(limits))]
    return "\n\n".join(parts) + "\n"


def section(measured: KindMeasurements) -> Iterable[str]:
    """Yield the lines of the section of one kind of logs."""
    yield f"## {measured.title}"
    yield ""
    size = f"{measured.size / 1e6:,.0f} MB, {measured.lines:,} lines and {measured.calls:,} calls"
    yield f"{measured.files:,} files with {size}."
    yield f"Two workers are {measured.workers_ratio:.2f} times as fast as one process."
    yield ""
    yield from measured.table()


def _limits(limits: Iterable[Limit]) -> Iterable[str]:
    yield "| input | s | peak MB | result |"
    yield "|---|---:|---:|---|"
    for limit in limits:
        yield f"| {limit.name} | {limit.clock:.1f} | {limit.peak_mb:.0f} | {limit.outcome} |"
