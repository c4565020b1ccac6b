"""The interface of a log format: its description, the records and facts of a file, the translator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from ingest.events import Event, LogLine, Rejected
from ingest.record_mapping import RecordMapping

_MISSES = 20


class Record(msgspec.Struct, gc=False):
    """One decoded object of a log, as a format gets it.

    `value` is the decoded object, or the value that the format's own `decode` returned for a line. `where` is
    the line on which the record begins. `data` has the record's bytes as in the file, with or without the
    final line break, and `start` is the byte offset of the first of them. `file` is the path of the record's
    file within a session that is spread over files; None for other logs.
    """

    where: LogLine
    value: Any
    data: bytes
    start: int
    _seen: int = 0  # offset up to which `find_line` has searched …
    _line: int = 0  # … and the line breaks before it
    _in_lines: bool | None = None  # whether the record has more than one; None = not looked yet
    _missed: int = 0  # texts that do not occur; each search went to the end of the record
    file: str | None = None

    def find_line(self, token: str, *, past: bool = False) -> LogLine:
        """Return the line of the next occurrence of `token`, searched from the place of the previous match.

        Ask for tokens in the order of the document: each byte is searched once. The result is the line of the
        record when the token is not found, when the record is a single line, and always after 20 failed
        searches. With `past`, the next search begins behind this match; needed for ids that occur again.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The description of a format: which facts its logs contain.

    The Data page shows this per source, so that readers do not take an unmeasured 0 % for a good value. Each
    field except `name`, `title` and `cannot_tell` is a short phrase for people that begins with `yes`,
    `partly` or `no`.
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
    cannot_tell: str  # one or two sentences


def read_no_sibling(_name: str) -> None:
    """Return None for every name: the default for a log without a folder."""


@dataclass(frozen=True, slots=True)
class About:
    """The facts about a file that a translator gets besides the records.

    `name` is the file's own name without folders, `folder` the name of its folder, `path` the whole path
    (`archive!member` in an archive); all may be empty. `identity` is made from the first bytes of the file,
    so it is the same in every copy and after the file grew; it serves as session id where the log names none.
    `read_sibling(name)` returns the bytes of a file in the same folder, or None when there is none or it is
    larger than `--max-line`. `mapping` has the paths of a record's fields (`--map`); only chat transcripts
    use it.
    """

    name: str = ""
    identity: str = ""
    read_sibling: Callable[[str], bytes | None] = read_no_sibling
    folder: str = ""
    path: str = ""
    mapping: RecordMapping | None = None


class Translator(Protocol):
    """Translates the records of one file, in file order, into events; keeps state between records.

    A translator can be pickled between two records: when the file has grown, reading continues from there. It
    may have a method `list_missing`, which returns the names of facts that it did not find.
    """

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        """Return the events that are complete with this record."""

    def finish(self) -> Iterable[Event | Rejected]:
        """Return the events that were still incomplete at the end of the file."""

    def close(self) -> None:
        """Remove temporary files; called once, whether or not the file was read to its end."""


class Format(Protocol):
    SOURCE: Source

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """Return True when the file is in this format.

        `head` has the first decodable objects of the file, at most 50.
        """

    def translator(self, about: About) -> Translator:
        """Return a new translator for one file."""
