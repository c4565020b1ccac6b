"""Tests repeated loads."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ingest.load_report import Progress
from ingest.pipeline.load import load
from ingest.store import generation_file, writer
from ingest.store.connection import connect_for_building
from ingest.store.generations import published_generation
from tests.store.night import FACTS, ask, contents, count, rows_by_reference, session


def write(path: Path, *sessions: str) -> Path:
    path.write_text("".join(sessions))
    return path


def afresh(logs: Path, store: Path) -> dict[str, list[str]]:
    """Return the stored rows after loading the current files into a new store."""
    fresh = store.with_name("fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    load([logs], fresh)
    return rows_by_reference(fresh)


def test_a_load_reports_what_it_read(logs: Path, store: Path) -> None:
    write(logs / "a.jsonl", session("s1", turns=(2, 1)), session("s2", turns=(3,)), "broken\n")
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.moved, report.rejected) == (1, 0, 0, ())
    assert (report.sessions, report.turns, report.calls, report.duplicates, report.rejects) == (2, 3, 6, 0, 1)
    assert report.bytes == (logs / "a.jsonl").stat().st_size
    assert report.lines == len((logs / "a.jsonl").read_text().splitlines())
    assert report.generation == "gen-000001.duckdb"
    assert [count(store, table) for table in ("sessions", "turns", "tool_calls", "rejects")] == [2, 3, 6, 1]


def test_loading_twice_publishes_nothing_the_second_time(logs: Path, store: Path) -> None:
    write(logs / "a.jsonl", session("s1"))
    load([logs], store)
    before = {path.name: path.stat().st_mtime_ns for path in store.iterdir() if path.name != "lock"}
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.generation) == (0, 1, None)
    assert {path.name: path.stat().st_mtime_ns for path in store.iterdir() if path.name != "lock"} == before


@pytest.mark.thorough
def test_a_file_named_twice_or_through_its_folder_is_read_once(logs: Path, store: Path) -> None:
    file = write(logs / "a.jsonl", session("s1"))
    assert load([file, logs, file], store).loaded == 1
    assert count(store, "sessions") == 1


def test_a_touched_file_is_not_read_again(logs: Path, store: Path) -> None:
    file = write(logs / "a.jsonl", session("s1"))
    load([logs], store)
    os.utime(file, ns=(1, 1))
    assert load([logs], store).generation is None


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (session("s1", ended=False), session("s1")),
        (session("s1") + session("s2")[:500], session("s1") + session("s2") + session("s3")),
        (session("s1") + session("s2"), session("s2") + session("s1") + session("s3")),
        (session("s1"), session("s1", raw='{"path": "b.py"}')),
    ],
    ids=[
        "an open session ended",
        "a torn line became whole",
        "rewritten",
        "rewritten, same size",
    ],
)
def test_a_changed_file_replaces_its_rows(logs: Path, store: Path, before: str, after: str) -> None:
    write(logs / "other.jsonl", session("s9"))
    file = write(logs / "a.jsonl", before)
    load([logs], store)
    write(file, after)
    os.utime(file, ns=(1, 1))
    report = load([logs], store)
    assert (report.loaded, report.unchanged) == (1, 1)
    assert rows_by_reference(store) == afresh(logs, store)
    assert count(store, "files") == 2


def test_a_torn_last_line_waits_as_a_reject_and_is_read_when_it_is_whole(logs: Path, store: Path) -> None:
    whole = session("s1")
    file = write(logs / "a.jsonl", whole[:-20])
    assert load([logs], store).rejects == 1
    write(file, whole)
    assert load([logs], store).rejects == 0
    assert count(store, "rejects") == 0


@pytest.mark.thorough
def test_a_moved_file_is_not_read_again_but_known_by_its_new_name(logs: Path, store: Path) -> None:
    file = write(logs / "a.jsonl", session("s1"))
    load([logs], store)
    before = contents(store, FACTS)
    file.rename(logs / "b.jsonl")
    report = load([logs], store)
    assert (report.loaded, report.moved) == (0, 1)
    assert contents(store, FACTS) == before
    assert str(logs / "b.jsonl") in contents(store, ["files"])["files"][0]
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_a_copied_file_is_not_read_again(logs: Path, store: Path) -> None:
    file = write(logs / "a.jsonl", session("s1"))
    load([logs], store)
    shutil.copy(file, logs / "b.jsonl")
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.generation) == (0, 2, None)


@pytest.mark.thorough
def test_two_copies_in_one_load_are_read_once(logs: Path, store: Path) -> None:
    shutil.copy(write(logs / "a.jsonl", session("s1")), logs / "b.jsonl")
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.duplicates) == (1, 1, 0)


def test_the_rows_of_a_deleted_file_stay(logs: Path, store: Path) -> None:
    file = write(logs / "a.jsonl", session("s1"))
    write(logs / "b.jsonl", session("s2"))
    load([logs], store)
    before = contents(store, FACTS)
    file.unlink()
    assert load([logs], store).generation is None
    assert contents(store, FACTS) == before


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("old_name", ["app.log.1", "aaa.log"])
def test_rotated_logs_lose_nothing(logs: Path, store: Path, old_name: str) -> None:
    """`aaa.log` is read before `app.log`, and `app.log.1` is read after it. The result must be the same."""
    file = write(logs / "app.log", session("s1"))
    load([logs], store)
    file.rename(logs / old_name)
    write(file, session("s2"))
    load([logs], store)
    assert rows_by_reference(store) == afresh(logs, store)
    assert count(store, "sessions") == 2


@pytest.mark.thorough
def test_files_that_trade_places_lose_nothing(logs: Path, store: Path) -> None:
    first, second = write(logs / "a.log", session("s1")), write(logs / "b.log", session("s2"))
    load([logs], store)
    write(second, session("s3"))
    write(first, session("s2"))
    assert load([logs], store).moved == 1
    names = "SELECT session_id, path[-5:], status FROM sessions JOIN files USING (file_id)"
    assert sorted(ask(store, names)) == [
        ("s1", "a.log", "earlier"), ("s2", "a.log", "loaded"), ("s3", "b.log", "loaded"),
    ]  # fmt: skip


@pytest.mark.thorough
def test_a_chain_of_loads_ends_where_one_load_does(logs: Path, store: Path) -> None:
    for night in range(4):
        write(
            logs / f"{night}.jsonl",
            session(f"s{night}", day=night + 1),
            session("open", turns=range(1, night + 2)),
        )
        write(logs / "grows.jsonl", *(session(f"g{n}", day=n + 1) for n in range(night + 1)))
        load([logs], store)
    assert rows_by_reference(store) == afresh(logs, store)
    rollups = ("daily_calls", "daily_turns", "daily_codes")
    assert contents(store, rollups) == contents(store.with_name("fresh"), rollups)


def test_a_small_load_executes_few_statements(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning a statement takes 1 to 5 ms, which is most of the time of a small load."""
    (logs / "old.jsonl").write_text(session("old"), "utf-8")
    load([logs], store)
    (logs / "new.jsonl").write_text(session("new"), "utf-8")
    executed: list[object] = []

    class CountingConnection:
        def __init__(self, path: Path, database: Any) -> None:
            self._con = connect_for_building(path, database)
            # an INSERT reads the caller's variable `incoming`
            self._con.execute("SET python_scan_all_frames = true")

        def __getattr__(self, name: str) -> Any:
            return getattr(self._con, name)

        def execute(self, *words: Any) -> Any:
            executed.append(words)
            return self._con.execute(*words)

    monkeypatch.setattr(generation_file, "connect_for_building", CountingConnection)
    load([logs], store)
    assert ask(store, "SELECT DISTINCT session_id FROM sessions ORDER BY ALL") == [("new",), ("old",)]
    assert 0 < len(executed) <= 100, f"{len(executed)} statements"


@pytest.mark.thorough
def test_small_batches_give_the_same_tables(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        write(
            logs / f"{number}.jsonl", session(f"s{number}"), "broken\n", session(f"t{number}", raw="{'a': 1}")
        )
    whole = afresh(logs, store)
    monkeypatch.setattr(writer, "BATCH_ROWS", 3)
    monkeypatch.setattr("ingest.pipeline.reading.file_reader.DRAIN_ROWS", 2)
    load([logs], store)
    assert rows_by_reference(store) == whole


def test_progress_goes_up_to_the_end(logs: Path, store: Path) -> None:
    write(logs / "a.jsonl", session("s1"), "broken\n")
    write(logs / "b.jsonl", session("s2"))
    reports: list[Progress] = []
    load([logs], store, on_progress=reports.append)
    done = [progress.bytes_done for progress in reports]
    assert done == sorted(done)
    last = reports[-1]
    assert (last.files_done, last.bytes_done, last.rejects) == (2, last.bytes_total, 1)
    assert last.bytes_total == sum(path.stat().st_size for path in logs.iterdir())


@pytest.mark.thorough
def test_only_two_generations_and_no_write_ahead_log_are_kept(logs: Path, store: Path) -> None:
    for number in range(4):
        write(logs / f"{number}.jsonl", session(f"s{number}"))
        load([logs], store)
    names = sorted(path.name for path in store.iterdir())
    assert names == ["CURRENT", "gen-000003.duckdb", "gen-000004.duckdb", "lock"]
    current = published_generation(store)
    assert current is not None
    assert current.name == "gen-000004.duckdb"


@pytest.mark.thorough
def test_a_log_that_grows_while_it_is_read_is_recorded_as_far_as_it_was_read(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(logs / "a.jsonl", session("s1"))
    size = file.stat().st_size
    grown = False

    def grow(_: Progress) -> None:
        nonlocal grown
        if not grown:
            grown = True
            with file.open("a") as stream:
                stream.write(session("s2"))

    assert load([logs], store, on_progress=grow).bytes == size
    assert count(store, "sessions") == 1
    assert load([logs], store).loaded == 1
    assert count(store, "sessions") == 2
