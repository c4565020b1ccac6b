"""The container `files`: the files of one session, one after another, as lines.

The first line names the producer and the session. Then come, for each file, a line with its path, and its
content as one line: line feeds are written as carriage returns and carriage returns as tabs, which JSON
allows and forbids in the same places. For each line feed of the content a blank line follows, so that line
numbers are those of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from ingest.events import LogLine, Rejected
from ingest.log_format import Record

_FIRST, _FILE, _UNREAD = "session_files", "session_file", "unread"
_START = b'{"session_files":'
ONE_LINE = bytes.maketrans(b"\r\n", b"\t\r")


def is_session_files(head: bytes) -> bool:
    """Return True when these first bytes begin the files of a session."""
    return head.startswith(_START)


def make_first_line(producer: str, session: str | None) -> bytes:
    return orjson.dumps({_FIRST: producer, "session": session}) + b"\n"


def make_file_line(path: str, unread: str | None = None) -> bytes:
    """Return the line before a file's content; `unread` is the reason for missing content."""
    fields = {_FILE: path} if unread is None else {_FILE: path, _UNREAD: unread}
    return orjson.dumps(fields) + b"\n"


def read_producer(head: Any) -> str | None:
    """Return the producer that the first record of such a content names; None for any other record."""
    return head.get(_FIRST) if isinstance(head, dict) else None


class FileStart(NamedTuple):
    """A file of the session: its path in the tree, and where its content begins among the lines."""

    path: str
    where: LogLine


class FileRecords:
    """Gives each record of a session's files the path of its file, and the line breaks that the file has.

    `starts` are the files that were met; the caller removes them.
    """

    def __init__(self) -> None:
        self.starts: list[FileStart] = []
        self._file = FileStart("", LogLine(0, 0))

    def attach(self, records: Iterable[Record | Rejected]) -> Iterator[Record | Rejected]:
        """Yield the records without the lines that only name a file."""
        for record in records:
            if isinstance(record, Rejected):
                yield replace(record, snippet=record.snippet.replace("\r", "\n"))
            elif record.where.line == 1:
                yield record
            elif record.where.line == self._file.where.line:
                data = record.data.replace(b"\r", b"\n")
                yield replace(record, data=data, file=self._file.path)
            elif _FILE in record.value:  # else the previous line was too long
                unread = record.value.get(_UNREAD)
                where = record.where if unread else self._content_of(record)
                self._file = FileStart(record.value[_FILE], where)
                self.starts.append(self._file)
                if unread:
                    yield Rejected(record.where, "unreadable", f"a file of the session {unread}")

    def _content_of(self, record: Record) -> LogLine:
        end = record.start + len(record.data.rstrip(b"\n")) + 1
        return LogLine(record.where.line + 1, end)
