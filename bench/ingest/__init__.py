"""Measures how fast one night's Claude Code logs are loaded, compared with `orjson.loads` and DuckDB.

Every reader is started in a separate process, and the readers alternate. The shortest time of all rounds
counts, because other programs on the machine can only add time. `--pieces` measures the stages of loading in
one process instead. `--template FILE…` repeats the given logs.
"""

from __future__ import annotations

from ingest.processes import leave_threads_out

leave_threads_out()  # must run before an import of Arrow, so that a load can fork its workers

import argparse  # noqa: E402
import shutil  # noqa: E402
from pathlib import Path  # noqa: E402

from bench.apart import run_module  # noqa: E402
from bench.ingest import limits, night, page, peers, pieces, same_days  # noqa: E402
from bench.ingest.tables import BASELINE, Best, table  # noqa: E402

WORK = Path(__file__).parents[1] / ".work"
NIGHT = "projects/night"  # the folder layout of Claude Code, which other programs expect
READERS = (BASELINE, "callgauge", "callgauge_2", "again", "duckdb_sql")


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    shutil.rmtree(WORK, ignore_errors=True)
    try:
        sources = options.template or night.CLAUDE_CODE
        files = night.write_night(WORK / NIGHT, options.mb * 1_000_000, sources)
        size = sum(path.stat().st_size for path in files)
        print(f"{len(files)} files, {size / 1e6:.0f} MB")
        if options.pieces:
            pieces.main(files)
        else:
            best = measure(WORK, options.rounds)
            print("\n".join(table(best, size)))
            ratio = best["callgauge"].clock / best["callgauge_2"].clock
            print(f"two workers are {ratio:.2f} times as fast as one process")
            if options.write:
                largest = list(limits.limits(WORK, options.large))
                into = same_days.measure(WORK, WORK / NIGHT, sources)
                names = map(peers.version, peers.installed())
                page.PAGE.write_text(page.page(best, size, largest, into, names))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench ingest", description=__doc__)
    parser.add_argument("--mb", type=int, default=1000, help="size of the night in megabytes (1000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each reader reads it (3)")
    parser.add_argument("--pieces", action="store_true", help="time each stage alone, in one process")
    parser.add_argument(
        "--write", action="store_true", help="measure the largest inputs too, and write docs/"
    )
    parser.add_argument("--large", type=int, default=20, metavar="GB", help="size of the largest file (20)")
    parser.add_argument("--template", type=Path, nargs="+", metavar="FILE", help="logs to repeat")
    return parser


def measure(work: Path, rounds: int) -> dict[str, Best]:
    """Return the best measurement of `rounds` rounds for each reader, in the order of the readers."""
    modules = dict.fromkeys(READERS, "bench.ingest.contender")
    modules |= dict.fromkeys(peers.installed(), "bench.ingest.peers")
    best = {name: Best() for name in modules}
    for _ in range(rounds):
        store = work / "store"
        for name, module in modules.items():
            best[name].take(run_module(module, name, work / NIGHT, store))
        shutil.rmtree(store)
        store.with_suffix(".duckdb").unlink()
    return best
