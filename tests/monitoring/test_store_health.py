"""Tests the health of a store."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from callgauge.memory.memory_file import MemoryFile
from callgauge.monitoring.store_health import HealthWatch
from tests.analysis.store_fixture import publish


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def load(store: Path, hours_ago: float, number: int = 1) -> None:
    ended = datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=hours_ago)
    publish(store, {"ingest_runs": [{"run_id": number, "finished_at": ended.isoformat()}]}, number=number)


def look(store: Path) -> str:
    health = HealthWatch(store, 26).check()
    assert str(store) not in json.dumps(health.describe())
    return health.reason or "well"


def test_a_young_load_is_well(store: Path) -> None:
    load(store, 25)
    assert look(store) == "well"
    health = HealthWatch(store, 26).check().describe()
    assert sorted(health) == ["age_seconds", "last_load", "limit_seconds"]
    assert health["limit_seconds"] == 26 * 3600


def test_an_old_load_is_not(store: Path) -> None:
    load(store, 31)
    assert look(store) == "The newest load ended 31 hours ago; 26 are the limit."


def test_a_night_that_found_nothing_new_is_a_load(store: Path) -> None:
    load(store, 100)
    yesterday = (datetime.now(UTC) - timedelta(hours=20)).isoformat(timespec="seconds")
    night = "INSERT INTO night_steps (night, step, began, ended, outcome, told) VALUES (?, ?, ?, ?, ?, '{}')"
    steps = [("2026-11-19", "load", yesterday, yesterday, "failed")]
    MemoryFile(store).write((night, steps))
    assert look(store).startswith("The newest load ended 100 hours ago")
    MemoryFile(store).write((night, [("2026-11-20", "load", yesterday, yesterday, "done")]))
    assert look(store) == "well"


@pytest.mark.parametrize("made", [False, True])
def test_no_store_yet_says_what_to_do(store: Path, made: bool) -> None:
    if made:
        store.mkdir()
    assert look(store) == "Nothing has been loaded yet: run callgauge nightly."


def test_a_store_that_no_load_was_noted_in_has_nothing_loaded(store: Path) -> None:
    publish(store, {})
    assert look(store).startswith("Nothing has been loaded yet")


@pytest.mark.parametrize("damage", ["no file", "no database", "no name"])
def test_a_store_that_does_not_open_is_not_well(store: Path, damage: str) -> None:
    load(store, 1)
    file = store / "gen-000001.duckdb"
    if damage == "no file":
        file.unlink()
    elif damage == "no database":
        file.write_bytes(b"\xff\x00" * 5_000)
    else:
        (store / "CURRENT").write_bytes(b"../../etc/passwd\xff")
    assert look(store).startswith("The store cannot be opened")


def test_a_new_generation_is_seen_and_an_open_one_is_not_opened_again(store: Path) -> None:
    clock = Clock()
    watch = HealthWatch(store, 26, clock)
    load(store, 31)
    assert watch.check().reason is not None
    load(store, 1, number=2)
    assert watch.check().reason is not None, "whoever asks often gets the answer before"
    clock.now = 2.0
    assert watch.check().reason is None
    (store / "gen-000002.duckdb").unlink()
    clock.now = 4.0
    assert watch.check().reason is not None, "it is gone"


def test_a_damaged_memory_does_not_hide_a_young_load(store: Path) -> None:
    load(store, 1)
    MemoryFile(store).path.write_bytes(b"no database at all" * 100)
    assert look(store) == "well"
