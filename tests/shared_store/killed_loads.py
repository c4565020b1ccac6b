"""Executes loads into a shared store that SIGKILL ends at writes of each kind. Run it as a module: LOGS OUT.

LOGS contains `a` and `b`. First `a` is loaded. Then a load of `a` and `b` is killed. Each kill prints one
JSON line: the step of the kill, the number of sessions that another machine saw, and the content after
another load.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pyarrow as pa
import s3fs

from ingest.errors import StoreBusy
from ingest.formats import formats
from ingest.pipeline.load import load
from ingest.store.shared import shared_folder
from ingest.store.shared.link import link_folder
from ingest.store.shared.pointer import read_pointer
from tests.bucket import BUCKET
from tests.killed_processes import THOROUGH, dying_at, forked
from tests.shared_store.conftest import AT_ONCE, belongs
from tests.store.night import count

STEPS = ("upload", "commit", "committed", "switch")
MORE_STEPS = ("lease", "switched", "remove")
shared_folder.GRACE = shared_folder.UNFINISHED = AT_ONCE


def main(logs: str, out: str) -> None:
    pa.array([0])  # this imports everything that pyarrow imports at first use
    formats()
    both, base, steps = [Path(logs)], Path(out) / "base", Path(out) / "steps"

    def note(step: str) -> None:
        with steps.open("a") as file:
            file.write(f"{step}\n")

    link_all(base)
    forked(lambda: load([Path(logs) / "a"], base / "one"))
    forked(lambda: load(both, begin_from(base, Path(out) / "whole"), on_write=note))
    step_names = steps.read_text().splitlines()
    for step in (*STEPS, *(MORE_STEPS if THOROUGH else ())):
        kill_one(both, base, Path(out) / step, step_names.index(step) + 1)


def kill_one(both: list[Path], base: Path, place: Path, number: int) -> None:
    """Kill a load at its write number `number`. Then load again."""
    folder = begin_from(base, place)
    assert forked(lambda: load(both, folder, on_write=dying_at(number, place / "step"))) == signal.SIGKILL
    forked(lambda: tell(place, both))
    print((place / "told").read_text(), flush=True)


def link_all(place: Path) -> None:
    for name in ("one", "two", "three"):
        link_folder(place / name, f"s3://{BUCKET}/killed/{place.name}")


def begin_from(base: Path, place: Path) -> Path:
    """Copy a shared store to another address. Return a local folder of the copy."""
    link_all(place)

    def copy() -> None:
        files = s3fs.S3FileSystem()
        files.copy(f"{BUCKET}/killed/{base.name}/", f"{BUCKET}/killed/{place.name}/", recursive=True)

    # runs in a child process, because the storage driver starts a thread that later forks would lack
    forked(copy)
    return place / "one"


def tell(place: Path, both: list[Path]) -> None:
    outcome: dict[str, object] = {"step": (place / "step").read_text()}
    belongs(place / "two").fetch()
    outcome["seen"] = count(place / "two", "sessions")
    try:
        load(both, place / "three")
        outcome["others"] = "loads"
    except StoreBusy:
        outcome["others"] = "waits"
    load(both, place / "one")
    belongs(place / "two").fetch()
    outcome["then"] = count(place / "two", "sessions")
    shared = belongs(place / "two")
    content = shared.place.read("CURRENT")
    assert content is not None
    pointer = read_pointer(content[0], shared.place.address)
    outcome["left"] = sorted(shared.place.list_files().keys() - pointer.files)
    outcome["here"] = len(list((place / "one").glob("gen-*")))
    (place / "told").write_text(json.dumps(outcome))


if __name__ == "__main__":
    main(*sys.argv[1:])
