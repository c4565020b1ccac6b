"""Loads that die by SIGKILL at a durable write, at each kind of them; a module: LOGS BASE OUT [SESSION].

BASE is a store to start from (or a folder that is not there), OUT gets one store a kill: `OUT/n/store`. Each
is loaded again after the kill; where a SESSION is named it is forgotten instead, both times. Prints one JSON
line a kill: the step it died at, what a reader then saw. Everything is imported once and then forked: a
process a load would take most of the time to start.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa

from ingest.formats import formats
from ingest.maintenance.forget import SessionChoice, forget
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint, file_reader
from ingest.store import generations, writer
from ingest.store.generations import OnWrite, ignore_write, published_generation
from tests.killed_processes import THOROUGH, dying_at, forked

# Small enough that a small night takes several batches and the copy several pieces.
writer.BATCH_ROWS = 40
file_reader.DRAIN_ROWS = 20
generations._COPY_PIECE = 4_000_000
checkpoint.WORTH = 0  # every log is large enough to be read on where it grew

Work = Callable[[Path, OnWrite], object]


def look(store: Path, log: Path) -> None:
    """Note what a reader sees: the number of calls in the published generation, None without one."""
    generation = published_generation(store)
    if generation is None:
        log.write_text("null")
        return
    with duckdb.connect(str(generation), read_only=True) as con:
        row = con.execute(
            "SELECT (SELECT count(*) FROM tool_calls), (SELECT coalesce(sum(calls), 0) FROM files)"
        ).fetchone()
    assert row is not None
    assert row[0] == row[1], "a reader saw half a load"
    log.write_text(json.dumps(row[0]))


def main(logs: str, base: str, out: str, leaving: str | None = None) -> None:
    pa.array([0])  # imports what pyarrow imports at its first use
    formats()

    def work(store: Path, on_write: OnWrite) -> object:
        if leaving is None:
            return load([Path(logs)], store, on_write=on_write)
        return forget(store, SessionChoice(sessions=[leaving]), on_write=on_write)

    whole = Path(out) / "whole"
    whole.mkdir(parents=True)
    if Path(base).exists():
        shutil.copytree(base, whole / "store")
    forked(lambda: work(whole / "store", noting(whole / "steps")))
    for number in choose_writes((whole / "steps").read_text().splitlines()):
        kill_one(work, Path(base), Path(out) / str(number), number)


def noting(log: Path) -> OnWrite:
    def on_write(step: str) -> None:
        with log.open("a") as file:
            file.write(f"{step}\n")

    return on_write


def choose_writes(steps: list[str]) -> list[int]:
    """Of each kind of write the middle one, as numbers from 1; thorough runs take the first two and last."""
    places: dict[str, list[int]] = {}
    for number, step in enumerate(steps, 1):
        places.setdefault(step, []).append(number)
    return sorted({number for found in places.values() for number in chosen(found)})


def chosen(found: list[int]) -> list[int]:
    return [*found[:2], found[-1]] if THOROUGH else [found[len(found) // 2]]


def kill_one(work: Work, base: Path, place: Path, number: int) -> None:
    """One killed at its `number`-th write, and the next one."""
    place.mkdir(parents=True)
    store, step, seen = place / "store", place / "step", place / "seen"
    if base.exists():
        shutil.copytree(base, store)
    assert forked(lambda: work(store, dying_at(number, step))) == signal.SIGKILL
    forked(lambda: look(store, seen))
    forked(lambda: work(store, ignore_write))
    told = {"step": step.read_text(), "seen": json.loads(seen.read_text()), "store": str(store)}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
