"""The interface of a log format: its description, its input records, and its translator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from ingest.events import Event, LogLine, Rejected
from ingest.record_mapping import RecordMapping

_MISSES = 20


class Record(msgspec.Struct, gc=False):
    """One decoded object of a log, as a format receives it.

    `value` is the decoded object, or what the format's own `decode` returned. `where` is the line on which
    the record begins. `data` has the record's bytes from the file, with or without the final line break;
    `start` is their byte offset. `file` is the path of the record's file if a session has several files, else
    None.
    """

    where: LogLine
    value: Any
    data: bytes
    start: int
    _seen: int = 0  # offset in `data` up to which `find_line` has searched
    _line: int = 0  # number of line breaks before that offset
    _in_lines: bool | None = None  # True when the record has several lines; None = not known yet
    _missed: int = 0  # number of texts that were searched to the end of the record and not found
    file: str | None = None

    def find_line(self, token: str, *, past: bool = False) -> LogLine:
        """Return the line of the next occurrence of `token`, searched from the previous match.

        Ask for tokens in document order, so that each byte is searched only once. If the token is not found,
        the result is the first line of the record. The same applies to a record with one line, and after 20
        failed searches. With `past`, the next search begins after this match, as needed for repeated ids.
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

    The Data page shows this for each source, so that nobody takes an unmeasured 0 % for a good value. Each
    field except `name`, `title` and `cannot_tell` is a short phrase for users that begins with `yes`,
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
    cannot_tell: str  # what these logs cannot show, in one or two sentences


def read_no_sibling(_name: str) -> None:
    """Return None for every name. This is the default for a log that is not in a folder."""


@dataclass(frozen=True, slots=True)
class About:
    """The facts about a file that a translator gets in addition to the records.

    `name` is the file's name without folders, `folder` the name of its folder, `path` the whole path
    (`archive!member` in an archive). All may be empty. `identity` is a hash of the first bytes of the file.
    It is the same in every copy and after the file has grown, and serves as session id if the log has none.
    `read_sibling(name)` returns the bytes of another file in the folder. It returns None when that file is
    missing or larger than `--max-line`. `mapping` has the paths of a record's fields (`--map`); only chat
    transcripts use it.
    """

    name: str = ""
    identity: str = ""
    read_sibling: Callable[[str], bytes | None] = read_no_sibling
    folder: str = ""
    path: str = ""
    mapping: RecordMapping | None = None


class Translator(Protocol):
    """Translates the records of one file, in file order, into events; keeps state between records.

    A translator must be picklable between two records. If the file grows, reading continues from the pickled
    state. An optional method `list_missing` returns the names of facts that the translator did not find.
    """

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        """Return the events that this record completes."""

    def finish(self) -> Iterable[Event | Rejected]:
        """Return the remaining events at the end of the file."""

    def close(self) -> None:
        """Remove temporary files. Called once, even if the file was not read to its end."""


class Format(Protocol):
    SOURCE: Source

    def recognise(self, head: Sequence[dict[str, Any]]) -> bool:
        """Return True when the file is in this format.

        `head` has the first decodable objects of the file, at most 50.
        """

    def translator(self, about: About) -> Translator:
        """Return a new translator for one file."""
