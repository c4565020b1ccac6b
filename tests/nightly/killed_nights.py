"""Executes a nightly job that SIGKILL ends repeatedly. Run it as a module: FOLDER STEP….

FOLDER contains a callgauge.toml and logs. For each STEP, a nightly run starts, and is killed at this step.
The last nightly run is not killed. Each nightly run prints one JSON line with the recorded steps and the
state of the store.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb

from callgauge.memory.nights.source_states import SourceStates
from ingest.formats import formats
from ingest.store.generations import published_generation
from tests.killed_processes import forked
from tests.nightly.nights import do_night, list_outcomes


def main(folder: str, *steps: str) -> None:
    place = Path(folder)
    formats()
    for step in steps:
        died = forked(lambda: do_night(place / "callgauge.toml", on_write=die_at(step)))  # noqa: B023 - at once
        assert died == signal.SIGKILL, f"there is no {step}"
        print(json.dumps(list_outcomes(place / "store")), flush=True)
    forked(lambda: do_night(place / "callgauge.toml"))
    forked(lambda: print(json.dumps(look(place)), flush=True))


def die_at(wanted: str) -> Callable[[str], None]:
    def on_write(step: str) -> None:
        if step == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    return on_write


def look(place: Path) -> dict[str, object]:
    store = place / "store"
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as con:
        calls = con.execute("SELECT call_id FROM tool_calls ORDER BY call_id").fetchall()
    sources = [(source.name, str(source.newest), source.problem) for source in SourceStates(store).read()]
    return {"calls": calls, "steps": list_outcomes(store), "sources": sources}


if __name__ == "__main__":
    main(*sys.argv[1:])
