"""Tests that `callgauge forget` removes ids from the access log while servers write to it."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.serving import access_log
from callgauge.serving.access_log import DELETED, AccessLog, remove_ids
from callgauge.serving.identity import User
from ingest.pipeline.load import load
from ingest.safe_files import lock_file
from tests.store.night import ask, session

ANN = User("ann", "viewer", may_write=True)


def events(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "access.jsonl").read_text().splitlines()]


def test_forget_leaves_no_id_in_the_access_log(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    (logs / "a.jsonl").write_text(session("keep") + session("go/deep", day=2))
    load([logs], store)
    [(call,)] = ask(store, "SELECT min(call_id) FROM tool_calls WHERE session_id = 'go/deep'")
    log = AccessLog(store, most_bytes=600)
    log.write("page", ANN, page="sessions", session="go/deep")
    for path in ("/api/v1/sessions/go/deep", f"/api/v1/calls/{call}", "/api/v1/rates"):
        log.write("api", ANN, path=path)
    for _ in range(3):
        log.write("page", ANN, page="sessions", session="keep")
    assert (store / "access.1.jsonl").exists(), "an older file of the log, too"
    result = CliRunner().invoke(app, ["forget", "--store", str(store), "--session", "go/deep"])
    assert result.exit_code == 0, result.output
    everything = b"".join(path.read_bytes() for path in sorted(store.glob("access*")))
    assert b"go/deep" not in everything
    assert call.encode() not in everything
    assert everything.count(DELETED.encode()) == 3
    assert everything.count(b'"keep"') == 3
    assert b"/api/v1/rates" in everything


def test_a_dry_run_changes_no_log(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    (logs / "a.jsonl").write_text(session("keep") + session("go", day=2))
    load([logs], store)
    AccessLog(store).write("page", session="go")
    assert (
        CliRunner().invoke(app, ["forget", "--store", str(store), "--session", "go", "--dry-run"]).exit_code
        == 0
    )
    assert events(store)[0]["session"] == "go"


def test_nothing_is_deleted_while_the_log_cannot_be_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    (logs / "a.jsonl").write_text(session("keep") + session("go", day=2))
    load([logs], store)
    AccessLog(store).write("page", session="go")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(access_log, "replace_private", fail)
    result = CliRunner().invoke(app, ["forget", "--store", str(store), "--session", "go"])
    assert result.exit_code == 1
    assert "access log" in result.stderr
    assert "Free some space" in result.stderr
    assert ask(store, "SELECT count(*) FROM sessions WHERE session_id = 'go'") == [(1,)]


def test_no_line_of_a_running_server_is_lost(tmp_path: Path) -> None:
    stop = threading.Event()
    written = [0, 0]

    def serve(number: int) -> None:
        log = AccessLog(tmp_path, most_bytes=1_000_000)
        while not stop.is_set():
            log.write("page", ANN, page=f"{number}-{written[number]}", session="go")
            written[number] += 1
            time.sleep(0.003)

    servers = [threading.Thread(target=serve, args=(number,)) for number in (0, 1)]
    for server in servers:
        server.start()
    for _ in range(20):
        remove_ids(tmp_path, {"go"})
        time.sleep(0.01)
    stop.set()
    for server in servers:
        server.join()
    remove_ids(tmp_path, {"go"})
    pages = [event["page"] for event in events(tmp_path)]
    assert min(written) > 10
    assert sorted(pages) == sorted(f"{number}-{each}" for number in (0, 1) for each in range(written[number]))
    assert not any(event["session"] == "go" for event in events(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["access.jsonl", "access.lock"]


def test_a_hung_process_with_the_lock_stops_no_request_and_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log, "_PATIENCE", 0.05)
    with lock_file(tmp_path / "access.lock", lambda _owner: None):
        AccessLog(tmp_path).write("page", page="overview")
    assert events(tmp_path)[0]["page"] == "overview"


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
@pytest.mark.parametrize(("folder_mode", "expected"), [(0o2770, 0o660), (0o2750, 0o640), (0o755, 0o600)])
def test_a_log_without_an_id_stays_open_to_the_group_of_its_folder(
    tmp_path: Path, folder_mode: int, expected: int
) -> None:
    tmp_path.chmod(folder_mode)
    AccessLog(tmp_path).write("page", page="sessions", session="go")
    modes = [(tmp_path / "access.jsonl").stat().st_mode & 0o777]
    assert remove_ids(tmp_path, {"go"}) == 1
    modes.append((tmp_path / "access.jsonl").stat().st_mode & 0o777)
    assert modes == [expected, expected]


@pytest.mark.skipif(os.name != "posix", reason="Windows has few symbolic links")
def test_an_id_is_also_removed_from_a_log_behind_a_symbolic_link(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "access.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    AccessLog(store).write("page", page="sessions", session="go")
    assert remove_ids(store, {"go"}) == 1
    assert json.loads((tmp_path / "elsewhere.jsonl").read_text())["session"] == DELETED


def test_a_torn_line_with_an_id_goes_and_other_lines_stay_as_they_are(tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    log.write_text(
        '{"event": "page", "session": "go\n{"event": "page", "sess\n{"event":"page","session":"goat"}\n'
    )
    assert remove_ids(tmp_path, {"go"}) == 1
    assert log.read_text() == '{"event": "page", "sess\n{"event":"page","session":"goat"}\n'
    assert remove_ids(tmp_path, set()) == 0


def test_a_folder_without_an_access_log_gets_no_file(tmp_path: Path) -> None:
    assert remove_ids(tmp_path, {"go"}) == 0
    assert not list(tmp_path.iterdir())
