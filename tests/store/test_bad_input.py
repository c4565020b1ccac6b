"""Tests hostile files and folders."""

from __future__ import annotations

import gzip
import os
import socket
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import InputError
from ingest.events import Event, Rejected
from ingest.formats import formats
from ingest.log_format import About, Record
from ingest.pipeline.load import load
from ingest.pipeline.reading.format_explanation import explain_files
from ingest.sources.stored_names import parse_stored_path, stored_path
from tests.store.night import ask, contents, count, rows_by_reference, session


def rejected(logs: Path, store: Path) -> dict[str, str]:
    """Return the reasons for the rejected files by file name. Assert that each reason is one sentence."""
    rows = ask(store, "SELECT path, reason FROM files WHERE status = 'rejected'")
    assert all("\n" not in reason and "Traceback" not in reason for _, reason in rows)
    return {parse_stored_path(path).name: reason for path, reason in rows}


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (bytes(5000), "is a binary file"),
        (os.urandom(64) + b"\0\n" * 50, "is a binary file"),
        (gzip.compress(b"{}", mtime=0), "is in no format known here"),
        # the file is cut off, but the reason is about its complete lines
        (gzip.compress(b'{"ts":1}\n' * 99, mtime=0)[:-9], "is in no format known here"),
        ('{"ts": 1}\n'.encode("utf-16"), "is in no format known here (its first object has the keys ts)"),
        ("no log\n".encode("utf-16"), "has no JSON object on any of its first lines"),
        (b"one\ntwo\n", "has no JSON object on any of its first lines"),
        (b'{\n  "ts": 1\n}\n', "is in no format known here (its first object has the keys ts)"),
        (b"[1, 2]\n", "is not a JSON document, and none of its lines is a JSON object"),
        (b'{"colour": "red"}\n', "is in no format known here (its first object has the keys colour)"),
        (b"\n\n\n", "has no JSON object"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_a_file_that_is_no_log_is_rejected_with_the_reason(
    logs: Path, store: Path, data: bytes, reason: str
) -> None:
    (logs / "bad").write_bytes(data)
    (logs / "good.jsonl").write_text(session("s1"))
    report = load([logs], store)
    assert report.loaded == 1
    assert [Path(rejected.path).name for rejected in report.rejected] == ["bad"]
    assert reason in report.rejected[0].reason
    assert reason in rejected(logs, store)["bad"]
    assert load([logs], store).generation is None, "the same refusal is no news"


def test_which_format_claims_a_file_is_said_without_loading_it(logs: Path) -> None:
    (logs / "good").write_text(session("s1"))
    (logs / "bad").write_bytes(bytes(10))
    os.mkfifo(logs / "pipe")
    names = ("good", "bad", "pipe", "missing")
    answers = [claim for name in names for claim in explain_files(logs / name)]
    assert [(claim.name, claim.reason) for claim in answers] == [
        ("session_history", None),
        (None, "is a binary file"),
        (None, "is a pipe, not a file"),
        (None, "does not exist"),
    ]


@pytest.mark.thorough
def test_a_rejected_file_that_was_mended_is_loaded(logs: Path, store: Path) -> None:
    file = logs / "a.jsonl"
    file.write_text("not yet\n")
    load([logs], store)
    file.write_text(session("s1"))
    assert load([logs], store).loaded == 1
    assert rejected(logs, store) == {}
    assert count(store, "files") == 1


@pytest.mark.thorough
def test_a_log_that_becomes_unusable_keeps_what_was_loaded(logs: Path, store: Path) -> None:
    file = logs / "a.jsonl"
    file.write_text(session("s1"))
    load([logs], store)
    before = rows_by_reference(store)
    file.write_text("no log any more\n")
    (report, again) = load([logs], store), load([logs], store)
    assert rows_by_reference(store) == before
    assert "what was loaded from it before stays" in rejected(logs, store)["a.jsonl"]
    assert (report.loaded, len(report.rejected), again.generation) == (0, 1, None)
    file.write_text(session("s2"))
    load([logs], store)
    assert sorted(row for (row,) in ask(store, "SELECT session_id FROM sessions")) == ["s1", "s2"]


def breaking(at_line: int, error: Exception) -> Any:
    """Return a translator that fails after some lines, as with a bug in a format or a disk error."""
    translator = formats()["session_history"].translator

    class Broken:
        def __init__(self, about: About) -> None:
            self._whole = translator(about)
            self.finish, self.close = self._whole.finish, self._whole.close

        def take(self, record: Record) -> Iterable[Event | Rejected]:
            if record.where.line == at_line:
                raise error
            return self._whole.take(record)

    return Broken


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("batch_rows", [1, 20_000], ids=["rows already written", "rows still waiting"])
def test_a_file_that_breaks_its_format_midway_leaves_no_row(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch, batch_rows: int
) -> None:
    (logs / "a.jsonl").write_text(session("s1"))
    (logs / "b.jsonl").write_text("broken\n" + session("s2") + session("s3"))
    (logs / "c.jsonl").write_text(session("s4"))
    monkeypatch.setattr("ingest.store.writer.BATCH_ROWS", batch_rows)
    monkeypatch.setattr("ingest.pipeline.reading.file_reader.DRAIN_ROWS", 1)
    broken = breaking(25, KeyError("a bug"))
    monkeypatch.setattr(formats()["session_history"], "translator", broken)
    report = load([logs], store)
    assert (report.loaded, report.rejects) == (2, 0)
    assert "at line 25 (KeyError: 'a bug')" in rejected(logs, store)["b.jsonl"]
    assert sorted(row for (row,) in ask(store, "SELECT session_id FROM sessions")) == ["s1", "s4"]
    assert count(store, "rejects") == 0


def test_a_file_that_cannot_be_read_is_rejected_and_read_when_it_can(
    logs: Path, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = logs / "a.jsonl"
    file.write_text(session("s1"))
    opened = Path.open

    def forbidden(path: Path, *args: Any, **options: Any) -> Any:
        if path == file:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", forbidden)
        load([logs], begun)
    assert rejected(logs, begun) == {"a.jsonl": "cannot be read: Permission denied"}
    assert load([logs], begun).loaded == 1


def test_a_disk_error_midway_costs_the_file_only(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a.jsonl").write_text(session("s1"))
    (logs / "b.jsonl").write_text("broken\n" + session("s2") + session("s3"))
    broken = breaking(25, OSError(5, "Input/output error"))
    monkeypatch.setattr(formats()["session_history"], "translator", broken)
    report = load([logs], store)
    assert (report.loaded, report.sessions) == (1, 1)
    assert "cannot be read beyond line" in rejected(logs, store)["b.jsonl"]
    assert "Input/output error" in rejected(logs, store)["b.jsonl"]


def test_broken_lines_cost_themselves(logs: Path, store: Path) -> None:
    good = session("s1").encode()
    bad = [b"not json", b'{"a": "\xff"}', b"\0\0\0", b"[1]", b"{", b"x" * 3000]
    data = b"\xef\xbb\xbf" + b"\r\n".join(
        [*good.splitlines(), *bad, *session("s2").encode().splitlines(), b""]
    )
    (logs / "a.jsonl").write_bytes(data)
    report = load([logs], store, max_line=2000)
    assert (report.sessions, report.rejects) == (2, len(bad))
    rows = ask(store, "SELECT line, byte_offset, code, snippet FROM rejects ORDER BY line")
    assert [code for _, _, code, _ in rows] == [
        "not_json", "not_utf8", "not_json", "not_an_object", "not_json", "line_too_long",
    ]  # fmt: skip
    for (line, offset, _, _), expected in zip(rows, bad, strict=True):
        assert data[offset:].startswith(expected)
        assert data[:offset].count(b"\n") == line - 1


def test_a_first_line_over_the_limit_does_not_hide_the_format(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text("x" * 2_000_000 + "\n" + session("s1"))
    report = load([logs], store, max_line=100_000)
    assert (report.loaded, report.sessions, report.rejects) == (1, 1, 1)


@pytest.mark.thorough
def test_lone_surrogates_and_nul_characters_survive_as_text(logs: Path, store: Path) -> None:
    raw = '{"a": "\ud800 \0 "x"}'
    (logs / "a.jsonl").write_text(session("s1", turns=(1,), raw=raw))
    assert load([logs], store).calls == 1
    assert ask(store, "SELECT raw_arguments FROM tool_calls") == [('{"a": "\\ud800 \0 "x"}',)]


def test_log_text_is_never_sql(logs: Path, store: Path) -> None:
    hostile = "'; DROP TABLE files; --"
    (logs / f"{hostile}.jsonl").write_text(session(hostile, raw=hostile))
    load([logs], store)
    assert ask(store, "SELECT DISTINCT session_id, raw_arguments FROM tool_calls") == [(hostile, hostile)]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "name",
    [
        b'it\'s "quoted".log',
        b"two\nlines.log",
        b"\xff\xfe.log",
        b"back\\xffslash.log",
        "日本語.log".encode(),
        b"$(x)`y`.log",
    ],
    ids=repr,
)
def test_any_file_name_is_loaded_and_known_again(logs: Path, store: Path, name: bytes) -> None:
    path = Path(os.fsdecode(os.fsencode(logs) + b"/" + name))
    path.write_text(session("s1"))
    assert load([logs], store).loaded == 1
    assert load([logs], store).generation is None
    ((stored,),) = ask(store, "SELECT path FROM files")
    assert parse_stored_path(stored) == path


@pytest.mark.parametrize("name", [b"/a/\xff\\", b"/a/\\xff", b"/\\\\x41", "/ü".encode(), b"/\\"], ids=repr)
def test_a_stored_path_can_be_turned_back(name: bytes) -> None:
    path = Path(os.fsdecode(name))
    assert parse_stored_path(stored_path(path)) == path
    stored_path(path).encode()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", ["a 'quoted' store", 'a "store"', "store;--", "støre"])
def test_any_store_name_works(logs: Path, tmp_path: Path, name: str) -> None:
    (logs / "a.jsonl").write_text(session("s1"))
    load([logs], tmp_path / name)
    assert count(tmp_path / name, "sessions") == 1


@pytest.mark.timeout(120)
def test_pipes_sockets_and_devices_are_not_opened(logs: Path, begun: Path) -> None:
    os.mkfifo(logs / "pipe")
    (logs / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listener:
        cwd = Path.cwd()
        os.chdir(logs)  # the path of a socket may have only about a hundred characters
        listener.bind("socket")
        os.chdir(cwd)
        load([logs], begun)
    assert rejected(logs, begun) == {
        "null": "is a device, not a file",
        "pipe": "is a pipe, not a file",
        "socket": "is a socket, not a file",
    }


@pytest.mark.thorough
@pytest.mark.timeout(120)
def test_a_pipe_that_somebody_writes_to_is_left_alone(logs: Path, store: Path) -> None:
    os.mkfifo(logs / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((logs / "pipe").read_bytes()))
    reader.start()
    load([logs], store)
    with (logs / "pipe").open("wb") as stream:
        stream.write(b"untouched")
    reader.join()
    assert got == [b"untouched"]


@pytest.mark.thorough
def test_links_are_followed_and_loops_end(logs: Path, store: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.jsonl").write_text(session("s1"))
    (elsewhere / "up").symlink_to(logs)
    (logs / "linked").symlink_to(elsewhere)
    (logs / "again").symlink_to(elsewhere)
    (logs / "self").symlink_to("self")
    (logs / "nowhere").symlink_to(tmp_path / "missing")
    report = load([logs], store)
    assert (report.loaded, report.sessions) == (1, 1)
    assert set(rejected(logs, store)) == {"self", "nowhere"}


def test_hidden_files_and_the_store_itself_are_left_out_of_a_walk(logs: Path) -> None:
    (logs / ".hidden").mkdir()
    for path in (logs / ".a.jsonl", logs / ".hidden" / "b.jsonl", logs / "c.jsonl"):
        path.write_text(session(path.name))
    report = load([logs], logs / "store")
    assert (report.loaded, report.rejected) == (1, ())
    assert load([logs], logs / "store").generation is None
    assert load([logs / ".a.jsonl"], logs / "store").loaded == 1


def test_a_folder_without_logs_is_one_sentence_and_makes_no_store(logs: Path, store: Path) -> None:
    with pytest.raises(InputError, match=r"nothing to load: .*logs contains no files"):
        load([logs], store)
    assert not store.exists()


def test_a_missing_path_is_one_sentence_and_makes_no_store(logs: Path, store: Path) -> None:
    with pytest.raises(InputError, match="nothing-here does not exist"):
        load([logs / "nothing-here"], store)
    assert not store.exists()


@pytest.mark.thorough
def test_a_missing_path_beside_others_costs_only_itself(logs: Path, store: Path) -> None:
    (logs / "a.jsonl").write_text(session("s1"))
    report = load([logs, logs / "nothing-here"], store)
    assert (report.loaded, [file.reason for file in report.rejected]) == (1, ["does not exist"])


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("content", ["not json", "", None], ids=["not JSON", "empty", "missing"])
def test_tools_that_cannot_be_read_are_one_sentence(
    logs: Path, store: Path, tmp_path: Path, content: str | None
) -> None:
    (logs / "a.jsonl").write_text(session("s1"))
    tools = tmp_path / "tools.json"
    if content is not None:
        tools.write_text(content)
    with pytest.raises(InputError, match=r"tools\.json"):
        load([logs], store, tools=[tools])
    assert not store.exists()


def test_a_rejected_files_row_counts_are_zero(logs: Path, begun: Path) -> None:
    (logs / "bad").write_bytes(b"")
    load([logs], begun)
    assert ask(begun, "SELECT sessions, turns, calls, rejects FROM files WHERE path LIKE '%/bad'") == [
        (0, 0, 0, 0)
    ]
    assert contents(begun, ["rejects"])["rejects"] == []
