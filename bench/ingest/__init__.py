"""Measures how fast three kinds of logs are loaded, compared with `orjson.loads`, DuckDB and other programs.

Every reader is started in a separate process, and the readers alternate. The shortest time of all rounds
counts, because other programs on the machine can only add time. `--pieces` measures the stages of loading in
one process instead. `--template FILE…` repeats the given logs instead of the three kinds.
"""

from __future__ import annotations

from ingest.processes import leave_threads_out

leave_threads_out()  # must run before an import of Arrow, so that a load can fork its workers

import argparse  # noqa: E402
import shutil  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

from bench.apart import run_module  # noqa: E402
from bench.ingest import limits, page, peers, pieces, same_days  # noqa: E402
from bench.ingest.kinds import KINDS, LogKind  # noqa: E402
from bench.ingest.measurements import BASELINE, DUCKDB, Best, KindMeasurements  # noqa: E402
from bench.ingest.night import CLAUDE_CODE, write_night  # noqa: E402

WORK = Path(__file__).parents[1] / ".work"
LOGS = "projects/night"  # the folder layout of Claude Code, which other programs expect


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    shutil.rmtree(WORK, ignore_errors=True)
    try:
        if options.pieces:
            sources = options.template or CLAUDE_CODE
            pieces.main(write_night(WORK / LOGS, options.mb * 1_000_000, sources))
            return 0
        programs = peers.install()
        measured = []
        for kind in _chosen_kinds(options.kind, options.template):
            measured.append(measure(WORK, kind, options.mb, options.rounds, programs))
            print("\n".join(page.section(measured[-1])), end="\n\n", flush=True)
        if options.write:
            largest = list(limits.limits(WORK, options.large))
            into = same_days.measure(WORK, options.mb * 1_000_000)
            page.PAGE.write_text(page.page(measured, largest, into, programs))
    finally:
        shutil.rmtree(WORK, ignore_errors=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench ingest", description=__doc__)
    parser.add_argument(
        "--mb",
        type=int,
        default=400,
        help="size of the transcripts in megabytes (400)",
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each reader reads the logs (3)")
    parser.add_argument("--kind", choices=[kind.name for kind in KINDS], help="measure only these logs")
    parser.add_argument("--pieces", action="store_true", help="time each stage alone, in one process")
    parser.add_argument(
        "--write", action="store_true", help="measure the largest inputs too, and write docs/"
    )
    parser.add_argument("--large", type=int, default=20, metavar="GB", help="size of the largest file (20)")
    parser.add_argument("--template", type=Path, nargs="+", metavar="FILE", help="logs to repeat")
    return parser


def _chosen_kinds(name: str | None, template: Sequence[Path] | None) -> list[LogKind]:
    if template:
        write = partial(write_night, sources=template)
        return [LogKind("template", ", ".join(path.name for path in template), write, share=1.0)]
    return [kind for kind in KINDS if name in (None, kind.name)]


def measure(
    work: Path, kind: LogKind, megabytes: int, rounds: int, programs: Sequence[peers.Program]
) -> KindMeasurements:
    """Write logs of one kind, and return the best measurement of each reader after `rounds` rounds.

    `megabytes` is the size of the transcripts.
    """
    logs, store = work / LOGS, work / "store"
    files = kind.write(logs, int(megabytes * kind.share * 1_000_000))
    commands = {
        name: ("bench.ingest.contender", name) for name in (BASELINE, "callgauge", "callgauge_2", "again")
    }
    if kind.sql.exists():
        commands[DUCKDB] = ("bench.ingest.contender", f"{DUCKDB}:{kind.name}")
    if kind.has_peers:
        commands |= {program.name: ("bench.ingest.peers", program.name) for program in programs}
    best = {name: Best() for name in commands}
    for _ in range(rounds):
        for name, (module, reader) in commands.items():
            best[name].take(run_module(module, reader, logs, store))
        shutil.rmtree(store)
        store.with_suffix(".duckdb").unlink(missing_ok=True)
    size = sum(path.stat().st_size for path in files)
    shutil.rmtree(logs)
    return KindMeasurements(kind.title, len(files), size, best)
