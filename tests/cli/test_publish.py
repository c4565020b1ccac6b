"""Tests the command `callgauge publish`, and how it replaces a folder."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.answers.publish import replace_folder
from callgauge.cli.main import app
from ingest.errors import OptionError
from tests.analysis.store_fixture import publish
from tests.dashboard.sheets import calls
from tests.killed_processes import dying_at, forked

FILES = {
    "index.html": b"new",
    "badges/all.svg": b"<svg/>",
    "leaderboard.json": json.dumps(
        {"made_by": "callgauge publish", "files": ["index.html", "badges/all.svg", "leaderboard.json"]}
    ).encode(),
}

NEWER = {**FILES, "index.html": b"newer", "badges/all.svg": b"<svg>newer</svg>"}


def run(store: Path, out: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["publish", "--store", str(store), "--out", str(out), *words])
    return done.exit_code, done.output


def read_folder(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = [*calls(90, 10, model="falcon", tool="edit_file"), *calls(30, 30, model="heron", tool="edit_file")]
    publish(tmp_path / "store", {"tool_calls": made})
    return tmp_path / "store"


def test_the_folder_has_a_page_and_a_second_run_replaces_it(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "board"
    code, output = run(store, out, "--days", "all")
    assert code == 0, output
    assert "falcon is the best by parse errors" in output
    first = read_folder(out)
    assert {"index.html", "leaderboard.md", "leaderboard.json", "badges/all.svg"} <= set(first)
    assert run(store, out, "--days", "all")[0] == 0
    assert read_folder(out) == first
    assert run(store, out, "--hide-tools")[0] == 0
    assert b"edit_file" not in b"".join(read_folder(out).values())
    assert [path.name for path in out.parent.iterdir()] == ["board"]


@pytest.mark.parametrize("top", ["0", "99"])
def test_a_wrong_option_writes_nothing(store: Path, tmp_path: Path, top: str) -> None:
    ended, output = run(store, tmp_path / "board", "--top", top)
    assert (ended, "--top" in output) == (2, True), output
    assert not (tmp_path / "board").exists()


def test_a_store_without_calls_gives_a_page(tmp_path: Path) -> None:
    publish(tmp_path / "store", {})
    code, output = run(tmp_path / "store", tmp_path / "board")
    assert (code, "The store has no tool calls" in output) == (0, True)
    assert (tmp_path / "board" / "index.html").exists()


# --- the folder -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [("notes.txt", b"mine"), ("leaderboard.json", b"{"), ("leaderboard.json", b'{"made_by": "somebody"}')],
)
def test_a_folder_with_other_files_is_not_replaced(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "board").mkdir()
    (tmp_path / "board" / name).write_bytes(content)
    with pytest.raises(OptionError, match=f"contains '{name}'"):
        replace_folder(tmp_path / "board", FILES)
    assert read_folder(tmp_path / "board") == {name: content}


def test_a_published_folder_with_an_added_file_is_not_replaced(store: Path, tmp_path: Path) -> None:
    replace_folder(tmp_path / "board", FILES)
    (tmp_path / "board" / "badges" / "CNAME").write_text("example.com", "utf-8")
    code, output = run(store, tmp_path / "board")
    assert (code, "contains 'badges/CNAME'" in output) == (2, True)
    assert (tmp_path / "board" / "index.html").read_bytes() == b"new"


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "board").write_text("mine", "utf-8")
    with pytest.raises(OptionError, match="is a file"):
        replace_folder(tmp_path / "board", FILES)


def test_an_empty_folder_and_a_link_to_a_folder_are_used(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "board").symlink_to(tmp_path / "real")
    replace_folder(tmp_path / "board", FILES)
    assert (tmp_path / "board").is_symlink()
    assert read_folder(tmp_path / "real") == FILES


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_the_folder_keeps_its_mode(tmp_path: Path) -> None:
    replace_folder(tmp_path / "board", FILES)
    (tmp_path / "board").chmod(0o750)
    replace_folder(tmp_path / "board", FILES)
    assert (tmp_path / "board").stat().st_mode & 0o777 == 0o750


def test_a_full_disk_leaves_the_old_folder_and_no_remains(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_folder(tmp_path / "board", FILES)

    def fill(path: Path, _: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fill)
        code, output = run(store, tmp_path / "board")
    assert (code, "No space left on device. An existing folder is unchanged" in output) == (1, True), output
    assert read_folder(tmp_path / "board") == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "store"]


def test_a_failed_replacement_gives_the_old_folder_its_name_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_folder(tmp_path / "board", FILES)
    monkeypatch.setattr("callgauge.cli.answers.publish.exchange_folders", lambda *_: False)
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        if ".new-" in path.name:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(tmp_path / "board", {**FILES, "index.html": b"newer"})
    assert read_folder(tmp_path / "board") == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["board"]


def test_two_runs_at_the_same_time_leave_one_whole_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_folder(tmp_path / "board", FILES)
    monkeypatch.setattr("callgauge.cli.answers.publish.exchange_folders", lambda *_: False)
    rename = Path.rename
    others: list[Path] = []

    def rename_after_another_run(path: Path, target: Path) -> Path:
        if ".new-" in path.name and not others:
            others.append(target)
            target.mkdir()
            (target / "index.html").write_bytes(b"of the other run")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_after_another_run)
    replace_folder(tmp_path / "board", {**FILES, "index.html": b"newer"})
    assert others
    assert read_folder(tmp_path / "board") == {**FILES, "index.html": b"newer"}
    assert [path.name for path in tmp_path.iterdir()] == ["board"]


_CHANGES = ("open", "os.", "shutil.", "ctypes.")  # audit events of everything that changes a folder


def publish_until_killed(folder: Path, number: int, log: Path) -> None:
    """Replace the folder with other files, and die at the given step. A file is written in two steps."""
    die = dying_at(number, log)
    write = Path.write_bytes

    def write_in_two_steps(path: Path, content: bytes) -> int:
        write(path, content[: len(content) // 2])
        die("half a file")
        return write(path, content)

    Path.write_bytes = write_in_two_steps  # type: ignore[assignment, method-assign]
    sys.addaudithook(lambda event, _: die(event) if event.startswith(_CHANGES) else None)
    replace_folder(folder, NEWER)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the names are exchanged in one step")
def test_a_kill_at_any_step_leaves_all_old_files_or_all_new_files(tmp_path: Path) -> None:
    board, log, outcomes, steps = tmp_path / "board", tmp_path / "log", [], 0
    while True:
        replace_folder(board, FILES)
        log.unlink(missing_ok=True)
        steps += 1
        was_killed = forked(partial(publish_until_killed, board, steps, log)) == signal.SIGKILL
        outcomes.append(read_folder(board))
        assert outcomes[-1] in (FILES, NEWER), log.read_text("utf-8")
        if not was_killed:
            break
    assert outcomes[0] == FILES
    assert outcomes[-2:] == [NEWER, NEWER]  # the process can die after the new files are there
    assert steps > 20
    for remains in tmp_path.glob(".board.*"):
        os.utime(remains, (0, 0))
    replace_folder(board, FILES)
    assert [path.name for path in tmp_path.iterdir() if path != log] == ["board"]
