"""What the readers of a night took in, docs/benchmarks_ingest.md out."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.bench.ingest import same_days
from tests.bench.ingest.limits import Limit
from tests.bench.ingest.tables import BASELINE, TITLES, Best

PAGE = Path(__file__).parents[3] / "docs" / "benchmarks_ingest.md"

_HEAD = """# Benchmarks of loading

Written by `./dev bench ingest --write`; run it to have your own. The night is made of real Claude Code
sessions (`tests/bench/ingest/night.py` says which), repeated under new ids. Every reader runs in a process of
its own, in turns; the least time of all rounds counts. *× loads* is the speed as a multiple of `orjson.loads`
on every line, for each core and by the clock; *store* is the size of what is kept, as a share of the logs."""

_NOTES = """Not all do the same. `orjson.loads` keeps nothing. DuckDB's SQL (`read_json.sql` beside the night)
checks nothing: a line that is no JSON vanishes, arguments are not judged, attempts are not linked, no row
knows its line. agent-session-analytics has DuckDB's command line read all blocks into one database; ccusage
adds tokens up and keeps nothing. Peers are measured where they are on the PATH; starting them counts."""

_NOT_COPIED = "One process. Copying the published file is not counted."
_PARTS = """## Where the time goes

One process, in units of `orjson.loads` on the same bytes: py-spy, and the least processor time of each file
over several rounds. 100 MB of the night, in files of 0.8 MB, on a busy machine:

- reading and hashing (SHA-256) 0.25, recognising its format 0.2 (64 formats look at its first objects);
- lines 0.1, UTF-8 0.1, decoding by type 0.6: half of it skips what no table needs;
- translating 0.7, sessions and judging 1.0: some 20 objects a call, none of which takes a tenth of it;
- columns 0.4: a third of it writes texts as UTF-8, which Python holds otherwise;
- inserting 0.4, writing and compressing row groups 0.35, of which texts are a half. On two threads inserting
  takes 0.5; arguments that are stored twice cost another 0.1.

Searching lines for tool calls that nobody read took 0.4: most lines wait for a later one, and were searched
before. The garbage collector runs twice in a load; it costs nothing."""


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
    for name, one in best.items():
        store = f"{one.told['store'] / size:.1%}" if "store" in one.told else ""
        yield (
            f"| {TITLES.get(name, name)} | {one.clock:.2f} | {one.processor:.2f} "
            f"| {size / 1e6 / one.clock:.0f} "
            f"| {baseline.processor / one.processor:.2f} | {baseline.clock / one.clock:.2f} "
            f"| {one.peak_mb:.0f} | {store} |"
        )


def _limits(limits: Iterable[Limit]) -> Iterable[str]:
    yield "| input | s | peak MB | what became of it |"
    yield "|---|---:|---:|---|"
    for one in limits:
        yield f"| {one.name} | {one.clock:.1f} | {one.peak_mb:.0f} | {one.outcome} |"
