"""The interface of a log format: its description, the records that it gets, and its translator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec

from ingest.events import Event, LogLine, Rejected
from ingest.record_mapping import RecordMapping

_MISSES = 20


class Record(msgspec.Struct, gc=False):
    """One decoded object of a log, as a format receives it.

    `value` is the decoded object, or what the format's own `decode` returned. `where` is the line on which
    the record begins. `data` has the bytes of the record in the file. The bytes may end with a line break.
    `start` is the byte offset of `data`. If a session has several files, `file` is the path of the record's
    file; otherwise it is None.
    """

    where: LogLine
    value: Any
    data: bytes
    start: int
    _seen: int = 0  # byte offset in `data` up to which `find_line` has searched
    _line: int = 0  # number of line breaks before the offset `_seen`
    _in_lines: bool | None = None  # True when the record has several lines; None = not known yet
    _missed: int = 0  # number of texts that `find_line` did not find up to the end of the record
    file: str | None = None

    def find_line(self, token: str, *, past: bool = False) -> LogLine:
        """Return the line of the next occurrence of `token`. The search begins at the previous match.

        Search for strings in document order, because the search never goes back. If `token` is not found, the
        record has only one line, or 20 searches failed, return the first line of the record. With `past`, the
        next search begins behind this match. Use `past` if the same id occurs several times.
        """
        if self._in_lines is None:
            self._in_lines = self.data.find(b"\n", 0, -1) >= 0
        if self._missed == _MISSES or not self._in_lines:
            return self.where
        sought = token.encode("utf-8", "surrogatepass")
        position = self.data.find(sought, self._seen)
        if position < 0:
            self._missed += 1
            return self.where
        self._line += self.data.count(b"\n", self._seen, position)
        self._seen = position + len(sought) if past and b"\n" not in sought else position
        start = self.data.rfind(b"\n", 0, position) + 1
        return LogLine(self.where.line + self._line, self.start + start) if start else self.where


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a format: which facts its logs contain. The Data page shows these facts for each
    source.

    Each field except `name`, `title` and `cannot_tell` is a short phrase for users. The phrase begins with
    `yes`, `partly` or `no`.
    """

    name: str  # the module's name; the value of all `source` columns
    title: str
    raw_arguments: str
    argument_failures: str
    error_flag: str
    definitions: str
    system_prompt: str
    model: str
    turn_end: str
    cannot_tell: str  # what these logs cannot show, in one or two sentences


def read_no_sibling(_name: str) -> None:
    """Return None for every name. This function is used for a log that is not in a folder."""


class About(msgspec.Struct, frozen=True):
    """The facts about a file that a translator gets in addition to the records.

    `name` is the file's name without folders, `folder` the name of its folder, `path` the whole path
    (`archive!member` in an archive). All three may be empty. `identity` is a hash of the first bytes of the
    file. The hash is the same in every copy and after the file has grown. `identity` is the session id if the
    log contains no session id. `read_sibling(name)` returns the bytes of another file in the same folder. It
    returns None when that file is missing or larger than `--max-line`. `mapping` has the paths of a record's
    fields (`--map`). Only chat transcripts use `mapping`.
    """

    name: str = ""
    identity: str = ""
    read_sibling: Callable[[str], bytes | None] = read_no_sibling
    folder: str = ""
    path: str = ""
    mapping: RecordMapping | None = None


class Translator(Protocol):
    """Translates the records of one file into events, in file order. Keeps state between records.

    A translator must be picklable between two records. If the file grows, reading continues from the pickled
    state. A translator may have a method `list_missing`, which returns the names of facts that the translator
    did not find.
    """

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        """Return the events that this record completes."""

    def finish(self) -> Iterable[Event | Rejected]:
        """Return the events that remain when the file ends."""

    def close(self) -> None:
        """Remove temporary files. Called exactly once, even if the file was not read to the end."""


class Format(Protocol):
    SOURCE: Source

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """Return True when the file is in this format.

        `head` has the first objects of the file that can be decoded, at most 50.
        """

    def translator(self, about: About) -> Translator:
        """Return a new translator for one file."""
