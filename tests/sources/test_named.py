"""Tests the arguments of a load: patterns, standard input, and lists of files."""

from __future__ import annotations

import gzip
import io
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ingest.errors import InputError, OptionError
from ingest.formats import formats
from ingest.pipeline.load import load
from ingest.pipeline.planning.selection import parse_moment
from ingest.sources import log_content
from ingest.sources.local_files import read_file_list
from tests.sources.archives import zipped
from tests.store.night import ask, count, session


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Send these bytes to standard input in small pieces, as through a pipe."""

    class Pipe(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return super().read1(min(size or 7, 7))

        def seekable(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe(data)))


def sessions(store: Path) -> list[str]:
    return sorted(name for (name,) in ask(store, "SELECT session_id FROM sessions"))


# --- patterns --------------------------------------------------------------------------------------


def test_a_pattern_stands_for_the_files_that_match(logs: Path, store: Path) -> None:
    (logs / "deep" / "er").mkdir(parents=True)
    for number, name in enumerate(["a.jsonl", "b.jsonl", "c.txt", "deep/er/d.jsonl", ".hidden.jsonl"]):
        (logs / name).write_text(session(f"s{number}"))
    assert load([f"{logs}/*.jsonl"], store).loaded == 2
    assert load([f"{logs}/**/*.jsonl"], store).loaded == 1
    assert load([f"{logs}/[c]*"], store).loaded == 1
    assert sessions(store) == ["s0", "s1", "s2", "s3"]


def test_a_file_whose_name_is_a_pattern_is_itself(logs: Path, store: Path) -> None:
    (logs / "[a]*.jsonl").write_text(session("s1"))
    (logs / "a.jsonl").write_text(session("s2"))
    load([logs / "[a]*.jsonl"], store)
    assert sessions(store) == ["s1"]


def test_a_pattern_that_nothing_matches_is_named(logs: Path, store: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\*\.jsonl does not exist; check the spelling"):
        load([f"{logs}/nothing*.jsonl"], store)


# --- standard input --------------------------------------------------------------------------------


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_what_is_piped_in_is_known_by_what_it_is(
    store: Path, monkeypatch: pytest.MonkeyPatch, pack: type[bytes]
) -> None:
    for name, loaded in (("s1", 1), ("s2", 1), ("s1", 0), ("s2", 0)):
        piped(monkeypatch, pack(session(name).encode()))
        report = load(["-"], store)
        assert (report.loaded, report.unchanged, report.rejected) == (loaded, 1 - loaded, ())
    assert sessions(store) == ["s1", "s2"]
    names = [name for (name,) in ask(store, "SELECT path FROM files")]
    assert all(name.startswith("stdin:") for name in names)


@pytest.mark.thorough
def test_a_file_that_was_piped_in_before_is_recognised(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, session("s1").encode())
    load(["-"], store)
    (logs / "a").write_text(session("s1"))
    assert load([logs], store).moved == 1
    piped(monkeypatch, session("s1").encode())
    assert load(["-"], store).unchanged == 1
    assert ask(store, "SELECT path FROM files") == [(str(logs / "a"),)]


@pytest.mark.thorough
def test_a_pipe_that_was_refused_leaves_no_trace_once_it_works(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, b"no log")
    assert "has no JSON object" in load(["-"], store).rejected[0].reason
    for _ in range(2):
        piped(monkeypatch, session("s1").encode())
        assert load(["-"], store).rejected == ()
    assert (count(store, "files"), sessions(store)) == (1, ["s1"])


def test_an_archive_cannot_be_piped_in(tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, zipped(tmp_path / "x", {"a": b"{}"}).read_bytes())
    reason = load(["-"], store).rejected[0].reason
    assert reason == "cannot be read: it is a zip archive; name the file instead of piping it"


@pytest.mark.thorough
def test_a_pipe_whose_format_shows_late_is_kept_within_bounds(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_content, "_MAX_OF_PIPES", 3_000_000)
    piped(monkeypatch, b"x" * 2_000_000 + b"\n" + session("s1").encode())
    assert load(["-"], store, max_line=100_000).sessions == 1
    piped(monkeypatch, b"x" * 4_000_000 + b"\n" + session("s2").encode())
    assert "name the file instead" in load(["-"], store, max_line=100_000).rejected[0].reason


def test_a_terminal_is_no_log(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert load(["-"], store).rejected[0].reason == "is a terminal; pipe a log into it"


# --- lists of files ----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_list_names_files_relative_to_itself(
    logs: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("a", "b c", "#d", "e1", "e2", "ü"):
        (logs / name).write_text(session(f"s-{name}"))
    (tmp_path / "home.jsonl").write_text(session("s-home"))
    manifest = logs / "list.txt"
    manifest.write_bytes(
        "\ufeff# the night\r\na\r\n  b c  \r\n\r\n./#d\n e[12]\nü\n~/home.jsonl\nmissing\n".encode()
    )
    report = load(read_file_list(str(manifest)), store)
    assert report.loaded == 7
    assert [rejected.path for rejected in report.rejected] == [str(logs / "missing")]


def test_addresses_in_a_list_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("s3://bucket/night/\nhttps://example.com/a.jsonl\n")
    assert read_file_list(str(tmp_path / "list")) == ["s3://bucket/night/", "https://example.com/a.jsonl"]


def test_a_list_can_be_piped_in(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(logs)
    piped(monkeypatch, b"a\n-\n")
    assert read_file_list("-") == [str(logs / "a"), str(logs / "-")]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "contains no path"),
        (b"# nothing\n", "contains no path"),
        (b"a\0b", "it is not text; write one path per line"),
        (None, "No such file"),
    ],
)
def test_a_list_that_is_none_is_wrong_use(tmp_path: Path, data: bytes | None, why: str) -> None:
    if data is not None:
        (tmp_path / "list").write_bytes(data)
    with pytest.raises(OptionError, match=why):
        read_file_list(str(tmp_path / "list"))


# --- since and limit ---------------------------------------------------------------------------------

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", NOW - timedelta(minutes=90)),
        ("12h", NOW - timedelta(hours=12)),
        (" 7d ", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-11-20T18:00+01:00", datetime(2026, 11, 20, 17, tzinfo=UTC)),
        ("2026-11-20T18:00Z", datetime(2026, 11, 20, 18, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("yesterday", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2 weeks ago", NOW - timedelta(weeks=2)),
    ],
)
def test_a_moment_is_a_date_a_time_or_so_long_ago(text: str, expected: datetime) -> None:
    assert parse_moment(text, NOW) == int(expected.timestamp() * 1e9)


@pytest.mark.parametrize("text", ["", "soon", "7", "d", "-7d", "999999w", "2026-13-01", "7d7d", "٣d x"])
def test_what_is_no_moment_is_wrong_use(text: str) -> None:
    with pytest.raises(OptionError, match="is not a time; use today, yesterday"):
        parse_moment(text, NOW)


@pytest.mark.thorough
def test_files_that_did_not_change_since_are_left_out(logs: Path, store: Path) -> None:
    for days, name in enumerate(["new", "old", "older"]):
        (logs / name).write_text(session(name))
        then = datetime.now(UTC).timestamp() - days * 86_400 - 60
        os.utime(logs / name, (then, then))
    report = load([logs], store, since="12h")
    assert (report.loaded, report.left) == (1, 2)
    assert (load([logs], store, since="36h").left, sessions(store)) == (1, ["new", "old"])
    os.utime(logs / "new", (0, 1))
    os.utime(logs / "old", (0, 1))
    report = load([logs], store, since="12h")
    assert (report.left, report.loaded, report.generation) == (3, 0, None)


@pytest.mark.thorough
def test_an_archive_is_as_new_as_its_file(logs: Path, store: Path) -> None:
    # the times of the archive's members are in 1980
    zipped(logs / "night.zip", {"a": session("s1").encode()})
    assert load([logs], store, since="1h").loaded == 1


@pytest.mark.thorough
def test_so_many_files_are_read_and_the_next_load_reads_on(logs: Path, store: Path) -> None:
    (logs / "0-no-log").write_text("nothing")
    for number in range(5):
        (logs / f"{number}.jsonl").write_text(session(f"s{number}"))
    for loaded, left in ((2, 3), (2, 1), (1, 0), (0, 0)):
        report = load([logs], store, limit=2)
        assert (report.loaded, report.left, len(report.rejected)) == (loaded, left, 1)
    assert len(sessions(store)) == 5


@pytest.mark.thorough
def test_an_archive_that_was_read_in_part_is_read_on(logs: Path, store: Path) -> None:
    zipped(logs / "night", {f"{number}": session(f"s{number}").encode() for number in range(3)})
    assert [load([logs], store, limit=2).loaded for _ in range(3)] == [2, 1, 0]


# --- a format that is named --------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_wrong_guess_can_be_overridden_and_the_file_is_read_again(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a").write_text(session("s1"))
    with monkeypatch.context() as patched:
        for name in ("claude_code", "codex"):
            patched.setattr(formats()[name], "recognise", lambda head: True)
        reason = load([logs], store).rejected[0].reason
        assert "matches several formats (claude_code and codex and session_history)" in reason
        assert "choose one with --format" in reason
        assert load([logs], store, form="session_history").loaded == 1
    assert load([logs], store).unchanged == 1
    (rejected,) = load([logs], store, form="claude_code").rejected
    assert rejected.reason.startswith("contains no claude_code data")
    assert ask(store, "SELECT source, status FROM files") == [("session_history", "loaded")]
    assert load([logs], store).unchanged == 1


def test_a_format_that_does_not_exist_is_wrong_use(logs: Path, store: Path) -> None:
    (logs / "a").write_text(session("s1"))
    with pytest.raises(OptionError, match="unknown format 'claude_cod'; did you mean claude_code"):
        load([logs], store, form="claude_cod")
