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

Written by `./dev bench ingest --write`; run it to have your own. The night is made of real Claude Code
sessions (`bench/ingest/night.py` says which), repeated under new ids. Every reader runs in a process of
its own, in turns; the least time of all rounds counts. *× loads* is the speed as a multiple of `orjson.loads`
on every line, for each core and by the clock; *store* is the size of what is kept, as a share of the logs."""

_NOTES = """Not all do the same. `orjson.loads` keeps nothing. DuckDB's SQL (`read_json.sql` beside the night)
checks nothing: a line that is no JSON vanishes, arguments are not judged, attempts are not linked, no row
knows its line. agent-session-analytics has DuckDB's command line read all blocks into one database; ccusage
adds tokens up and keeps nothing. Peers are measured where they are on the PATH; starting them counts."""

_NOT_COPIED = "One process. Copying the published file is not counted."
_PARTS = """## Where the time goes

One process, in units of `orjson.loads` on the same bytes: the least processor time of each file over several
rounds, and of each statement over several loads of 200 MB (28,000 calls) into an empty store; a busy machine,
which makes all of it some tenths more than the table above:

- reading and hashing (SHA-256) 0.25, recognising its format 0.2 (64 formats look at its first objects);
- lines 0.1, UTF-8 0.1, decoding by type 0.6: two thirds of it skip what no table needs;
- translating 0.7, sessions and judging 1.0: some 20 objects a call and 65 function calls a line, none of
  which takes a tenth of it;
- columns 0.3: a third of it writes texts as UTF-8, which Python holds otherwise;
- inserting 0.35, writing and compressing row groups 0.35, of which texts are a half;
- settling and summing up 1.1, of which 0.4 are the same for every load: 160 statements to plan. Signing
  failed calls takes 0.25 (they are an eighth of this night), the rates 0.15.

A store of up to 200,000 calls is written and summed up on one thread: two take a fifth more processor time. A
load of two sessions takes 0.5 s, four fifths of it in DuckDB, most of which is planning.

Two workers take a tenth more processor time than one process. Settling and summing up stay with the load: a
quarter of a load of 200 MB, and by calculation a fifth of one of 1 GB. So on two cores two workers can be 1.6
to 1.8 times as fast as one process, the more the better two threads share the sums.

What did not help: leaving out any of DuckDB's optimizers, other thresholds of malloc, no garbage collector,
other methods of compression."""


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
        "## Into a store that holds the same days",
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
    yield "| input | s | peak MB | what became of it |"
    yield "|---|---:|---:|---|"
    for limit in limits:
        yield f"| {limit.name} | {limit.clock:.1f} | {limit.peak_mb:.0f} | {limit.outcome} |"
