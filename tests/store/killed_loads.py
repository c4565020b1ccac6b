"""Executes loads that SIGKILL ends at durable writes of each kind. Run it as a module: LOGS BASE OUT [WORK].

BASE is the initial store, or a missing folder. For each kill, OUT gets one store `OUT/n/store`, into which
the logs are loaded again after the kill.

WORK replaces both loads: `sealed` (loads that write all rows into segments), `forget:SESSION`, `retain:DAYS`,
`backup` (to `OUT/n/backups`), or `restore` (from `LOGS`).

Each kill prints one JSON line: the step of the kill, what a reader saw afterwards (for `backup`: the number
of complete backups), and the store if logs were loaded again. If several kills leave the same files, ordinary
tests load again only after the first and the last of them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from ingest.backup.make_backup import make_backup
from ingest.backup.manifest import list_backups
from ingest.backup.places import open_place
from ingest.backup.restore import restore
from ingest.backup.verify import verify_backup
from ingest.formats import formats
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint, file_reader
from ingest.store import writer
from ingest.store.generations import LOCK, OnWrite, ignore_write, lock_store, published_generation
from ingest.store.segments import connect_read_only
from tests.killed_processes import THOROUGH, dying_at, forked
from tests.store.sealed_months import SEALING, seal_everything

# With this size, even small logs need several batches.
writer.BATCH_ROWS = 40
file_reader.DRAIN_ROWS = 20
checkpoint.WORTH = 0  # loads resume every log that grew, even if it is small

Work = Callable[[Path, OnWrite], object]


def look(store: Path, log: Path) -> None:
    """Record the number of tool calls in the published store file. Record None if there is no store file."""
    generation = published_generation(store)
    if generation is None:
        log.write_text("null")
        return
    with connect_read_only(generation, {}) as con:
        row = con.execute(
            "SELECT (SELECT count(*) FROM tool_calls), (SELECT coalesce(sum(calls), 0) FROM files)"
        ).fetchone()
    assert row is not None
    assert row[0] == row[1], "a reader saw half a load"
    log.write_text(json.dumps(row[0]))


def count_whole(store: Path, log: Path) -> None:
    """Record the number of backups. Assert that each backup is complete."""
    place = open_place(store.with_name("backups"))
    names = list_backups(place)
    for name in names:
        verify_backup(store.with_name("backups"), backup=name)
    log.write_text(json.dumps(len(names)))


def choose_work(kind: str, logs: Path) -> Work:
    name, _, what = kind.partition(":")

    def work(store: Path, on_write: OnWrite) -> object:
        match name:
            case "forget":
                return forget(store, SessionChoice(sessions=[what]), on_write=on_write)
            case "retain":
                days, today = int(what), date(2026, 11, 10)
                return apply_retention(
                    store, text_days=days, fact_days=days + 2, today=today, on_write=on_write
                )
            case "backup":
                return make_backup(store, store.with_name("backups"), keep=1, on_write=on_write)
            case "restore":
                return restore(logs, store, on_write=on_write)
            case _:
                return load([logs], store, on_write=on_write)

    return work


def main(logs: str, base: str, out: str, kind: str = "load") -> None:
    pa.array([0])  # this imports everything that pyarrow imports at first use
    formats()
    if kind == "sealed":
        seal_everything(pytest.MonkeyPatch())
    work, see = choose_work(kind, Path(logs)), count_whole if kind == "backup" else look

    whole = Path(out) / "whole"
    whole.mkdir(parents=True)
    if Path(base).exists():
        shutil.copytree(base, whole / "store")
    if Path(base).with_name("backups").exists():
        shutil.copytree(Path(base).with_name("backups"), whole / "backups")
    forked(lambda: work(whole / "store", noting(whole / "steps")))
    first = 2 if kind in ("load", "sealed") or kind.startswith("forget") else 1
    numbers = choose_writes(
        (whole / "steps").read_text().splitlines(), first, SEALING if kind == "sealed" else ()
    )
    locks_first = not kind.startswith(("backup", "restore"))
    kills = [
        kill_one(work, see, Path(base), Path(out) / str(number), number, locks_first=locks_first)
        for number in numbers
    ]
    done_again = kills if THOROUGH else unlike(kills)
    for kill in done_again:
        forked(partial(work, kill.store, ignore_write))
    for kill in kills:
        store = str(kill.store) if kill in done_again else None
        print(json.dumps({"step": kill.step, "seen": kill.seen, "store": store}), flush=True)


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: the step at which the process was killed, what a reader saw afterwards, and a hash of the
    remaining files.
    """

    step: str
    seen: int | None
    store: Path
    left: str


def unlike(kills: Sequence[Kill]) -> list[Kill]:
    """Group the kills by the hash of the remaining files. Return the first and last kill of each group."""
    alike: dict[str, list[Kill]] = {}
    for kill in kills:
        alike.setdefault(kill.left, []).append(kill)
    return [kill for group in alike.values() for kill in dict.fromkeys((group[0], group[-1]))]


def lock(store: Path) -> None:
    with lock_store(store):
        pass


def left_behind(store: Path) -> str:
    """Return a hash of the store's files after a process has locked the store.

    Locking removes leftovers of the killed process. Only a copy of the store is locked.
    """
    copy = store.with_name("locked")
    shutil.copytree(store, copy)
    forked(lambda: lock(copy))
    # no load reads the content of this file, the owner and the time of the lock
    (copy / LOCK).write_bytes(b"")
    digest = hashlib.sha256()
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(copy)} {path.stat().st_size}\n".encode() + path.read_bytes())
    shutil.rmtree(copy)
    return digest.hexdigest()


def noting(log: Path) -> OnWrite:
    def on_write(step: str) -> None:
        with log.open("a") as file:
            file.write(f"{step}\n")

    return on_write


def choose_writes(steps: list[str], first: int, among: Collection[str]) -> list[int]:
    """Return the numbers (from 1) of the middle write of each kind. In thorough tests, also return the first
    and last writes.

    In ordinary tests, `among` limits the kinds. If `among` is empty, all kinds are used.
    """
    places: dict[str, list[int]] = {}
    for number, step in enumerate(steps, 1):
        if THOROUGH or not among or step in among:
            places.setdefault(step, []).append(number)
    return sorted({number for writes in places.values() for number in chosen(writes, first)})


def chosen(writes: list[int], first: int) -> list[int]:
    return [*writes[:first], writes[-1]] if THOROUGH else [writes[len(writes) // 2]]


def kill_one(
    work: Work, see: Callable[[Path, Path], None], base: Path, place: Path, number: int, *, locks_first: bool
) -> Kill:
    """Kill the process at its write number `number`. If `locks_first` is True, the process changes only the
    store that it locks.
    """
    place.mkdir(parents=True)
    store, step, seen_file = place / "store", place / "step", place / "seen"
    if base.exists():
        shutil.copytree(base, store)
    if base.with_name("backups").exists():
        shutil.copytree(base.with_name("backups"), store.with_name("backups"))
    assert forked(lambda: work(store, dying_at(number, step))) == signal.SIGKILL
    forked(lambda: see(store, seen_file))
    left = left_behind(store) if locks_first else str(place)
    return Kill(step.read_text(), json.loads(seen_file.read_text()), store, left)


if __name__ == "__main__":
    main(*sys.argv[1:])
