"""Tests logs in UTF-16 and UTF-32, with and without a byte order mark."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline.load import load
from ingest.sources.archives.file_type import Utf8Stream, detect_encoding
from tests.sources.archives import zipped
from tests.store.night import ask, contents, session

ENCODINGS = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE,
         "utf-32-le": codecs.BOM_UTF32_LE, "utf-32-be": codecs.BOM_UTF32_BE}  # fmt: skip
TEXT = session("s1") + session("s2").replace('"type"', '"título": "日本語 🙂", "type"')


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


class Slow(io.RawIOBase):
    """A stream that returns at most `size` bytes per read."""

    def __init__(self, data: bytes, size: int) -> None:
        self._left, self._size = data, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._left[: min(len(buffer), self._size)]
        self._left = self._left[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)


def decoded(data: bytes, encoding: str, size: int = 1000) -> bytes:
    with Utf8Stream(Slow(data, size), encoding) as stream:
        return stream.readall()


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("mark", [True, False], ids=["marked", "unmarked"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_log_gives_the_same_tables_as_in_utf8(
    tmp_path: Path, store: Path, encoding: str, mark: bool
) -> None:
    log, plain = tmp_path / "log.jsonl", tmp_path / "plain"
    log.write_bytes((MARKS[encoding] if mark else b"") + TEXT.encode(encoding))
    report = load([log], store)
    assert (report.loaded, report.rejected) == (1, ())
    log.write_text(TEXT, encoding="utf-8")
    load([log], plain)
    tables = {name: rows for name, rows in contents(store).items() if name != "files"}
    assert tables.items() <= contents(plain).items()
    figures = "SELECT size_bytes, fingerprint, lines, calls, rejects FROM files"
    assert ask(store, figures) == ask(plain, figures)


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_log_that_is_seen_again_is_unchanged_and_one_that_grew_is_read(
    tmp_path: Path, store: Path, encoding: str
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(session("s1").encode(encoding))
    load([log], store)
    assert load([log], store).unchanged == 1
    log.write_bytes(TEXT.encode(encoding))
    assert load([log], store).loaded == 1
    assert ask(store, "SELECT count(*) FROM sessions") == [(2,)]
    shutil.move(log, tmp_path / "other.jsonl")
    assert load([tmp_path / "other.jsonl"], store).loaded == 0, "a move is recognised"
    assert ask(store, "SELECT count(*) FROM sessions") == [(2,)]


@pytest.mark.thorough
def test_compressed_logs_and_members_of_archives_too(tmp_path: Path, store: Path) -> None:
    (tmp_path / "log.gz").write_bytes(gzip.compress(session("s1").encode("utf-16")))
    zipped(tmp_path / "logs.zip", {"a.jsonl": session("s2").encode("utf-32")})
    load([tmp_path / "log.gz", tmp_path / "logs.zip"], store)
    assert ask(store, "SELECT session_id FROM sessions ORDER BY 1") == [("s1",), ("s2",)]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"", None),
        (b"{", None),
        (b'{"a": 1}', None),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        ("  [1]".encode("utf-16-be"), "utf-16-be"),
        ("\n{}".encode("utf-32-be"), "utf-32-be"),
        ("{}".encode("utf-16-le"), "utf-16-le"),
        ("text".encode("utf-16-le"), None),
        (b"{\0\0\0", "utf-32-le"),
        (bytes(64), None),
        (b"{\0\1\2\3\4\5\6", None),
        (b"{\0" + bytes(range(128, 200)), None),
        (b"SQLite format 3\0", None),
    ],
    ids=repr,
)
def test_an_encoding_is_told_from_the_first_bytes(head: bytes, encoding: str | None) -> None:
    assert detect_encoding(head) == encoding


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("size", [1, 3, 64 * 1024])
def test_pieces_of_any_size_give_the_same(encoding: str, size: int) -> None:
    text = "é🙂\n" * 200
    assert decoded(MARKS[encoding] + text.encode(encoding), encoding, size) == text.encode()


def test_what_is_no_character_costs_itself() -> None:
    lone, cut = "a\ud800b".encode("utf-16-le", "surrogatepass"), "ab".encode("utf-16-le")[:-1]
    assert decoded(lone, "utf-16-le") == "a\ud800b".encode("utf-8", "surrogatepass")
    assert decoded(cut, "utf-16-le") == "a\ufffd".encode()
    assert decoded(b"a\0\0\0\xff\xff\xff\xffb\0\0\0", "utf-32-le") == "a\ufffdb".encode()


def test_another_text_in_utf16_is_no_log(tmp_path: Path, store: Path) -> None:
    (tmp_path / "notes.txt").write_bytes("Nothing here.\n".encode("utf-16"))
    (rejected,) = load([tmp_path / "notes.txt"], store).rejected
    assert "has no JSON object on any of its first lines" in rejected.reason
