"""Tests daily sums of old months, which are in separate files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from itertools import cycle
from pathlib import Path

import duckdb
import pytest

from callgauge.analysis.metrics.published_store import open_generation
from ingest.backup.make_backup import make_backup
from ingest.backup.restore import restore
from ingest.backup.verify import verify_backup, verify_store
from ingest.errors import StoreError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.model_names import count_models_anew
from ingest.maintenance.reparse import reparse
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.store import building_months
from ingest.store import segments as stored_segments
from ingest.store.building_months import BuildingMonths
from ingest.store.generations import published_generation
from tests.store.night import ROLLUPS, TABLES, ask, contents, opened, session
from tests.store.sealed_months import (
    LOADS,
    first_night,
    grown_log,
    in_month,
    late_log,
    new_night,
    seal_everything,
    seal_months,
    task_session,
)
from tests.store.test_segments import segments

MONTHS = "SELECT month, name FROM segments WHERE month IS NOT NULL ORDER BY month"


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    seal_months(monkeypatch)


def months(store: Path) -> dict[int, str]:
    return {month.month: name for month, name in ask(store, MONTHS)}


def open_rows(store: Path) -> dict[str, int]:
    """Return how many rows of sums are in the store file itself, by database table."""
    generation = published_generation(store)
    assert generation is not None
    with opened(generation, "READ_ONLY") as con:
        tables = [table for table in ROLLUPS if table != "signatures"]
        return {table: con.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in tables}  # noqa: S608


def load_both(logs: Path, store: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load([logs], whole)
    with monkeypatch.context() as patched:
        seal_everything(patched)
        load([logs], store)


@pytest.mark.thorough
def test_a_store_of_sealed_months_is_the_store_in_one_file(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = store.with_name("whole")
    for at_once, step in zip(cycle((20, building_months.ROWS_AT_ONCE)), LOADS, strict=False):
        monkeypatch.setattr(building_months, "ROWS_AT_ONCE", at_once)
        step(logs)
        load_both(logs, store, whole, monkeypatch)
        assert contents(store) == contents(whole), step.__name__
        assert set(open_rows(store).values()) == {0}
    assert list(months(store)) == [7, 8, 9, 10, 11]
    assert not segments(whole)
    verify_store(store)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        lambda store: forget(store, SessionChoice(sessions=["long", "task8", "late"])),
        lambda store: reparse(store, everything=True),
        lambda store: apply_retention(store, text_days=40, fact_days=60, today=date(2026, 11, 12)),
        lambda store: apply_retention(store, text_days=1, today=date(2026, 11, 12)),
        count_models_anew,
    ],
    ids=["forget", "reparse", "retain", "texts", "models"],
)
def test_maintenance_changes_months_as_it_changes_one_file(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    whole = store.with_name("whole")
    for step in LOADS:
        step(logs)
    load_both(logs, store, whole, monkeypatch)
    for place in (whole, store):
        (place / "naming.toml").write_text('[aliases.names]\nm = "counted as one"\n')
    change(whole)
    with monkeypatch.context() as patched:
        seal_everything(patched)
        change(store)
    without = ("forgotten_at",)
    assert contents(store, TABLES, without) == contents(whole, TABLES, without)
    verify_store(store)
    new_night(logs)
    (logs / "old.jsonl").write_text(in_month(task_session("old"), 7))
    load_both(logs, store, whole, monkeypatch)
    assert contents(store, ROLLUPS) == contents(whole, ROLLUPS)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_models_of_days_without_facts_are_renamed_in_their_months(logs: Path, store: Path) -> None:
    first_night(logs)
    load([logs], store)
    apply_retention(store, fact_days=1, today=date(2026, 11, 12))
    (store / "naming.toml").write_text('[aliases.names]\nm = "counted as one"\n')
    count_models_anew(store)
    models = "SELECT DISTINCT model FROM daily_turns WHERE model IS NOT NULL"
    assert ask(store, models) == [("counted as one",)]


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_load_leaves_the_months_of_other_days_alone(logs: Path, store: Path) -> None:
    first_night(logs)
    load([logs], store)
    before = months(store)
    late_log(logs)
    load([logs], store)
    after = months(store)
    assert {month for month in before if before[month] != after[month]} == {8}
    assert before[8] in segments(store)  # readers of the previous store file still use this segment
    grown_log(logs)
    load([logs], store)
    assert before[8] not in segments(store)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_session_that_goes_on_changes_its_row_on_its_first_day(logs: Path, store: Path) -> None:
    turns = "SELECT day, turns FROM task_trials WHERE session_id = 'long'"
    first_night(logs)
    (logs / "long.jsonl").write_text(in_month(task_session("long"), 8))
    load([logs], store)
    assert ask(store, turns) == [(date(2026, 8, 1), 2)]
    lines = task_session("long").replace('"turn": 2', '"turn": 3').splitlines(keepends=True)
    (logs / "long-3.jsonl").write_text("".join(line for line in lines if '"turn": 1' not in line))
    load([logs], store)
    assert ask(store, turns) == [(date(2026, 8, 1), 3)]


@pytest.mark.thorough
def test_months_that_are_new_or_small_stay_open(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_night(logs)
    (logs / "7.jsonl").unlink()
    (logs / "claude.jsonl").unlink()
    (logs / "11.jsonl").write_text(task_session("t", day=1))
    monkeypatch.setattr(building_months, "SEAL_AT", 0)
    load([logs], store)
    assert list(months(store)) == [8, 9]
    monkeypatch.setattr(building_months, "KEPT_OPEN", timedelta(33))
    other = store.with_name("other")
    load([logs], other)
    assert list(months(other)) == [8]
    monkeypatch.setattr(building_months, "SEAL_AT", 256 * 1024 * 1024)
    load([logs], store.with_name("small"))
    assert not segments(store.with_name("small"))


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_days_to_come_make_no_month_old(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building_months, "KEPT_OPEN", timedelta(31))
    today = date.today()  # noqa: DTZ011 - a day more or less does not matter
    for name, day in (("now", today), ("wrong clock", today.replace(year=today.year + 70, day=1))):
        (logs / name).write_text(task_session(name).replace("2026-11-01", day.isoformat()))
    load([logs], store)
    assert not months(store)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize(
    ("day", "message"), [(2, "do not add up"), (5, "sums of 2026-08-05 conflict with those of its month")]
)
def test_a_sum_beside_those_of_its_month_is_not_published(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, day: int, message: str
) -> None:
    first_night(logs)
    load([logs], store)
    before = contents(store)
    (logs / "late.jsonl").write_text(in_month(session("late", day=day), 8))
    monkeypatch.setattr(BuildingMonths, "pull_days", lambda *_: None)
    with pytest.raises(StoreError, match=message):
        load([logs], store)
    assert contents(store) == before


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_what_is_forgotten_is_in_no_byte_of_any_month(logs: Path, store: Path) -> None:
    first_night(logs)
    text = task_session("gone", raw='{"path": "a.py", "canary-7731": 1}').replace("What is in", "canary-7731")
    (logs / "gone.jsonl").write_text(in_month(text, 8))
    load([logs], store)
    assert ask(store, "SELECT count(*) FROM task_trials WHERE contains(task_text, 'canary-7731')") == [(1,)]
    late_log(logs)
    load([logs], store)
    forget(store, SessionChoice(sessions=["gone"]))
    left = [path for path in store.iterdir() if path.is_file()]
    assert not [path.name for path in left if b"canary-7731" in path.read_bytes()]
    assert list(months(store)) == [7, 8, 9, 11]


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_backup_holds_the_months(logs: Path, store: Path, tmp_path: Path) -> None:
    first_night(logs)
    load([logs], store)
    place = tmp_path / "backups"
    make_backup(store, place)
    verify_backup(place)
    other = tmp_path / "restored"
    restore(place, other)
    assert contents(other) == contents(store)
    assert months(other) == months(store)
    late_log(logs)
    load([logs], other)
    verify_store(other)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_damaged_month_is_found(logs: Path, store: Path) -> None:
    first_night(logs)
    load([logs], store)
    path = store / months(store)[8]
    data = bytearray(path.read_bytes())
    place = len(data) - 200_000
    data[place : place + 8] = bytes(byte ^ 255 for byte in data[place : place + 8])
    path.write_bytes(data)
    with pytest.raises(StoreError):
        verify_store(store)


@pytest.mark.usefixtures("sealed")
def test_a_server_that_shows_no_texts_shows_none_of_old_months(logs: Path, store: Path) -> None:
    first_night(logs)
    load([logs], store)
    generation = published_generation(store)
    assert generation is not None
    (number,) = ask(store, "SELECT number FROM segments WHERE month = DATE '2026-08-01'")[0]
    with open_generation(generation, texts=False) as con:
        for trials in ("task_trials", f"parts.task_trials_{number}"):
            counts = con.execute(f"SELECT count(*), count(task_text) FROM {trials}").fetchone()  # noqa: S608
            assert counts is not None
            assert counts[0] > counts[1] == 0


def test_months_whose_columns_stand_in_another_order_join_by_name() -> None:
    """In a migrated store, new columns come last. The files of later months have another order of columns."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE older (x INTEGER, y VARCHAR); INSERT INTO older VALUES (1, 'a')")
        connection.execute("CREATE TABLE newer (y VARCHAR, x INTEGER); INSERT INTO newer VALUES ('b', 2)")
        rows = connection.execute(stored_segments._union_views(["older", "newer"])).fetchall()
    assert rows == [(1, "a"), (2, "b")]
