"""Reads the container `files`: all files of one session as lines of one file.

The first line names the session and the program that wrote it. Each file follows as two lines: the path and
the content. In the content, line feeds become carriage returns and carriage returns become tabs. These
changes do not affect whether the content is valid JSON. After the content, there is one blank line for each
line feed of the content. So line numbers are the same as in the original files.
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
    """Return True when these are the first bytes of a log in the container `files`."""
    return head.startswith(_START)


def make_first_line(producer: str, session: str | None) -> bytes:
    return orjson.dumps({_FIRST: producer, "session": session}) + b"\n"


def make_file_line(path: str, unread: str | None = None) -> bytes:
    """Return the line before a file's content. `unread` is the reason why the content could not be read."""
    fields = {_FILE: path} if unread is None else {_FILE: path, _UNREAD: unread}
    return orjson.dumps(fields) + b"\n"


def read_producer(head: Any) -> str | None:
    """Return the name of the program that wrote the session. Return None for any record but the first."""
    return head.get(_FIRST) if isinstance(head, dict) else None


class FileStart(NamedTuple):
    """A file of the session: the path in the session's folder, and the line where the content begins."""

    path: str
    where: LogLine


class FileRecords:
    """Adds the path of the file to each record of a session's files, and restores the file's line breaks.

    `starts` lists the files found so far. The caller removes files from this list.
    """

    def __init__(self) -> None:
        self.starts: list[FileStart] = []
        self._file = FileStart("", LogLine(0, 0))

    def attach(self, records: Iterable[Record | Rejected]) -> Iterator[Record | Rejected]:
        """Yield the records. Records that only contain the path of a file are left out."""
        for record in records:
            if isinstance(record, Rejected):
                yield replace(record, snippet=record.snippet.replace("\r", "\n"))
            elif record.where.line == 1:
                yield record
            elif record.where.line == self._file.where.line:
                data = record.data.replace(b"\r", b"\n")
                yield replace(record, data=data, file=self._file.path)
            # the condition is False when the line with the path was too long to be read
            elif _FILE in record.value:
                unread = record.value.get(_UNREAD)
                where = record.where if unread else self._content_of(record)
                self._file = FileStart(record.value[_FILE], where)
                self.starts.append(self._file)
                if unread:
                    yield Rejected(record.where, "unreadable", f"a file of the session {unread}")

    def _content_of(self, record: Record) -> LogLine:
        end = record.start + len(record.data.rstrip(b"\n")) + 1
        return LogLine(record.where.line + 1, end)
