"""Tests loads of SQLite databases while other programs write them."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.pipeline.dry_run import forecast_load
from ingest.pipeline.load import load
from ingest.pipeline.reading.format_explanation import explain_files
from ingest.sources.databases import snapshot
from ingest.sources.discovery import look_at_file
from ingest.sources.log_content import open_log
from tests.sources.archives import zipped
from tests.store.night import ask

ROOT = Path(__file__).parents[2]
TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, started_at REAL);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
    tool_calls TEXT, tool_name TEXT, timestamp REAL);
"""
CALL = '[{"id": "call_%d", "function": {"name": "terminal", "arguments": "{}"}}]'
CALLS = "SELECT tool_call_id, line FROM tool_calls ORDER BY line"


@pytest.fixture
def database(logs: Path) -> Path:
    return logs / "state.db"


@pytest.fixture
def writer(database: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that keeps its database open in write-ahead mode."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.executescript(TABLES)
    connection.execute("INSERT INTO sessions VALUES ('s', 'cli', 'aurora', 1790000000.0)")
    yield connection
    connection.close()


def add_call(connection: sqlite3.Connection, number: int) -> None:
    connection.execute(
        "INSERT INTO messages (id, session_id, role, tool_calls) VALUES (?, 's', 'assistant', ?)",
        (number, CALL % number),
    )


def stamps(logs: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in logs.iterdir()}


def why_rejected(logs: Path, store: Path) -> list[str]:
    return [rejected.reason for rejected in load([logs], store).rejected]


@pytest.mark.thorough
def test_what_a_writer_has_committed_is_read_and_what_it_has_not_is_not(
    writer: sqlite3.Connection, database: Path, logs: Path, store: Path
) -> None:
    add_call(writer, 1)
    writer.execute("BEGIN IMMEDIATE")
    add_call(writer, 2)
    beside = stamps(logs)
    report = load([logs], store)
    assert (report.loaded, report.rejected) == (1, ())
    assert ask(store, CALLS) == [("call_1", 3)]
    assert stamps(logs) == beside
    writer.execute("COMMIT")
    assert stamps(logs)["state.db"] == beside["state.db"]
    assert load([logs], store).loaded == 1
    assert ask(store, CALLS) == [("call_1", 3), ("call_2", 4)]
    again = load([logs], store)
    assert (again.generation, again.loaded) == (None, 0)


@pytest.mark.thorough
def test_files_beside_a_database_are_read_with_it(
    writer: sqlite3.Connection, logs: Path, store: Path
) -> None:
    add_call(writer, 1)
    report = load([logs], store)
    assert [(Path(companion.path).name, companion.reason) for companion in report.companions] == [
        ("state.db-shm", "is read with state.db"),
        ("state.db-wal", "is read with state.db"),
    ]
    assert [rejected.reason for rejected in forecast_load([logs], store).rejected] == []


@pytest.mark.thorough
def test_a_checkpoint_changes_the_file_and_not_what_is_in_it(
    writer: sqlite3.Connection, logs: Path, store: Path
) -> None:
    add_call(writer, 1)
    load([logs], store)
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    report = load([logs], store)
    assert (report.loaded, report.unchanged) == (0, 1)
    assert ask(store, CALLS) == [("call_1", 3)]


KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript(sys.argv[2])
add = "INSERT INTO messages (session_id, role, tool_calls, content) VALUES ('s', 'assistant', ?, ?)"
connection.execute(add, (sys.argv[3], ""))
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN")
connection.execute("UPDATE messages SET tool_calls = NULL")
for _ in range(400):
    connection.execute(add, (None, "x" * 500))
os.kill(os.getpid(), 9)
"""


@pytest.mark.thorough
def test_a_transaction_that_a_killed_program_left_is_undone(logs: Path, store: Path, database: Path) -> None:
    """The journal of the killed program contains the database pages from before its transaction."""
    subprocess.run([sys.executable, "-c", KILLED, database, TABLES, CALL % 1], check=False)
    assert (logs / "state.db-journal").stat().st_size > 0
    load([logs], store)
    assert ask(store, "SELECT tool_call_id FROM tool_calls") == [("call_1",)]


@pytest.mark.thorough
def test_a_database_that_changes_all_the_time_is_left_for_a_later_load(
    writer: sqlite3.Connection, database: Path, logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_call(writer, 1)
    copy_side, number = snapshot._copy_side, iter(range(2, 100))

    def copy_while_a_checkpoint_runs(side: snapshot.OpenSide, suffix: str, target: Path) -> bytes:
        add_call(writer, next(number))
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return copy_side(side, suffix, target)

    monkeypatch.setattr(snapshot, "_PAUSE", 0)
    monkeypatch.setattr(snapshot, "_copy_side", copy_while_a_checkpoint_runs)
    (reason,) = why_rejected(logs / "state.db", store)
    assert (
        reason == "cannot be read: it is an SQLite database that changed while it was copied; load it again"
    )
    monkeypatch.undo()
    assert load([logs], store).rejected == ()


@pytest.mark.thorough
def test_a_copy_of_a_moment_is_taken_again_when_a_checkpoint_came_between(
    writer: sqlite3.Connection, database: Path, logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_call(writer, 1)
    copy_side, calls = snapshot._copy_side, []

    def copy_after_one_checkpoint(side: snapshot.OpenSide, suffix: str, target: Path) -> bytes:
        calls.append(suffix)
        if len(calls) == 1:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            add_call(writer, 2)
        return copy_side(side, suffix, target)

    monkeypatch.setattr(snapshot, "_copy_side", copy_after_one_checkpoint)
    assert load([database], store).rejected == ()
    assert ask(store, CALLS) == [("call_1", 3), ("call_2", 4)]


def finish(writer: sqlite3.Connection, calls: int) -> None:
    writer.execute("BEGIN")
    for number in range(1, calls + 1):
        add_call(writer, number)
    writer.execute("COMMIT")
    writer.execute("PRAGMA journal_mode = DELETE")
    writer.close()


@pytest.mark.thorough
def test_a_database_that_is_compressed_or_in_an_archive_is_read(
    writer: sqlite3.Connection, database: Path, logs: Path, store: Path
) -> None:
    add_call(writer, 1)
    files = {path.name: path.read_bytes() for path in logs.iterdir() if not path.name.endswith("-shm")}
    writer.close()
    zipped(logs / "backup.zip", files)
    (logs / "whole.db.gz").write_bytes(gzip.compress(database.read_bytes(), mtime=0))
    database.unlink()
    report = load([logs], store)
    assert (report.rejected, [Path(companion.path).name for companion in report.companions]) == (
        (),
        ["backup.zip!state.db-wal"],
    )
    assert ask(store, CALLS) == [("call_1", 3)]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:2000], "it is a damaged or encrypted SQLite database"),
        (lambda data: data[:16] + os.urandom(len(data) - 16), "it is a damaged or encrypted SQLite database"),
        (lambda data: data[:100] + bytes(4096) + data[4196:], "it is a damaged or encrypted SQLite database"),
        (
            lambda data: os.urandom(64) + b"\0" + data[65:],
            "is a binary file; if it is an SQLite database, it is encrypted",
        ),
        (lambda _: b"", "is empty"),
    ],
    ids=["cut off", "encrypted behind its header", "a page of zeros", "encrypted", "empty"],
)
def test_a_database_that_cannot_be_read_is_one_reject(
    damage: object, reason: str, writer: sqlite3.Connection, database: Path, logs: Path, store: Path
) -> None:
    finish(writer, 200)
    database.write_bytes(damage(database.read_bytes()))  # type: ignore[operator]
    (why,) = why_rejected(logs, store)
    assert reason in why


@pytest.mark.thorough
def test_a_page_that_is_broken_in_the_middle_takes_the_file_back(
    writer: sqlite3.Connection, database: Path, logs: Path, begun: Path
) -> None:
    finish(writer, 2000)
    data = bytearray(database.read_bytes())
    data[-4096 * 3 :] = os.urandom(4096 * 3)
    database.write_bytes(data)
    (why,) = why_rejected(logs, begun)
    assert why.startswith("cannot be read")
    assert "damaged" in why
    assert ask(begun, "SELECT count(*) FROM tool_calls WHERE session_id <> 'earlier'") == [(0,)]


def test_a_database_of_something_else_is_named_by_its_tables(logs: Path, store: Path) -> None:
    with sqlite3.connect(logs / "shop.db") as connection:
        connection.executescript("CREATE TABLE orders (id); CREATE VIEW messages AS SELECT 1 AS id;")
    (why,) = why_rejected(logs, store)
    assert why.startswith("is an SQLite database in no format known here (its tables: orders)")
    (claim,) = explain_files(logs / "shop.db")
    assert (claim.name, claim.reason) == (None, why)


def test_tables_of_two_producers_are_not_guessed_at(
    writer: sqlite3.Connection, logs: Path, store: Path
) -> None:
    writer.execute("CREATE TABLE conversations (key TEXT, value TEXT)")
    (why,) = why_rejected(logs, store)
    assert why.startswith("matches several formats (hermes and kiro)")


def test_tables_without_a_row_are_a_log_without_sessions(
    writer: sqlite3.Connection, logs: Path, store: Path
) -> None:
    writer.execute("DELETE FROM sessions")
    report = load([logs], store)
    assert (report.loaded, report.rejected) == (1, ())
    assert ask(store, "SELECT count(*) FROM sessions") == [(0,)]


def test_a_row_that_is_too_large_or_no_text_costs_itself(
    writer: sqlite3.Connection, logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "LARGEST_VALUE", 5000)
    add_call(writer, 1)
    add_call(writer, 2)
    writer.execute("UPDATE messages SET content = ? WHERE id = 1", ("x" * 6000,))
    writer.execute(
        "INSERT INTO messages (id, session_id, role, content) VALUES (3, 's', 'user', CAST(x'ff41' AS TEXT))"
    )
    load([logs], store)
    assert ask(store, CALLS) == [("call_2", 4)]
    rows = ask(store, "SELECT line, code, reason FROM rejects ORDER BY line")
    assert [(line, code) for line, code, _ in rows] == [(3, "line_too_long"), (5, "not_utf8")]
    assert "row 1 of the table messages" in rows[0][2]


def test_no_room_for_a_copy_is_told_before_it_is_made(
    writer: sqlite3.Connection, database: Path, logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_call(writer, 1)
    usage = type(shutil.disk_usage("/"))(10, 10, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    (why,) = why_rejected(database, store)
    assert "has no room for a copy" in why
    assert "set TMPDIR" in why


@pytest.mark.thorough
def test_no_copy_is_left_behind(
    writer: sqlite3.Connection, logs: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_call(writer, 1)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    load([logs], store)
    assert list((tmp_path / "tmp").glob("callgauge-database-*")) == []


@pytest.mark.thorough
def test_a_database_can_be_piped(database: Path, writer: sqlite3.Connection, store: Path) -> None:
    finish(writer, 1)
    command = [sys.executable, "-m", "callgauge", "ingest", "-", "--store", str(store), "--quiet"]
    done = subprocess.run(command, input=database.read_bytes(), capture_output=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, b"")
    assert ask(store, "SELECT tool_call_id FROM tool_calls") == [("call_1",)]


def test_the_rows_can_be_read_from_the_start_again(writer: sqlite3.Connection, database: Path) -> None:
    add_call(writer, 1)
    with open_log(look_at_file(database), rewinds=True) as content:
        content.readinto(first := bytearray(40))
        content.rewind()
        content.readinto(again := bytearray(400))
    assert again.startswith(first)
