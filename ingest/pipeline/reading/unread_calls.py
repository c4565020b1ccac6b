"""Watches the records of a file for tool calls that its format did not read.

A call that stands in a log and in no table would be a failure that nobody can see. So a record that made no
call is searched for marks of calls (`ingest.decoding.call_marks`). Two things become rejects: a line of which
the format makes nothing at all, and whose calls are not read elsewhere in the file; and a file with marks of
which no call was read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from enum import Enum
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from ingest.decoding.call_marks import CallMark, find_marks, may_hold_marks
from ingest.decoding.containers import Container
from ingest.decoding.lines import make_snippet
from ingest.events import CallMade, Event, LogLine, Rejected
from ingest.record import Record
from ingest.sessions.stored_text import canonical_json, json_text

_KNOWN = 100_000  # calls of a file that are remembered: logs repeat the calls of the steps before
_WAITING = 1_000  # lines that wait for the events of a later record


class Made(Enum):
    """What a format made of a record."""

    NOTHING = "nothing"
    EVENTS = "events"
    CALLS = "calls"  # … or a reject, which says more than a mark of a call does


class _Line(NamedTuple):
    """A line of which the format has made nothing yet, and hashes of the calls in it."""

    where: LogLine
    word: str
    calls: tuple[bytes, ...]
    snippet: str


class UnreadCalls:
    """The calls that were read from a file, and the marks of others. Can be pickled between two records."""

    def __init__(self, container: Container) -> None:
        self._is_json = container is not Container.YAML
        self._by_line = container is Container.LINES
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._waiting: OrderedDict[int, _Line] = OrderedDict()  # by byte offset of the line
        self._first: _Line | None = None  # the first record with marks, while no call has been read
        self._marked = 0  # records with marks
        self._read = False  # a call of this file was read
        self._refused = False  # a line was rejected here

    def note_event(self, event: Event) -> bool:
        """Record an event; return True when it is a call. Its line is not one of which nothing was made."""
        if self._waiting:
            self._waiting.pop(event.where.offset, None)
        if type(event) is not CallMade:
            return False
        self._read = True
        self._first = None
        arguments = event.raw_arguments if event.raw_arguments is not None else event.arguments
        self._known[_hash_call(event.tool_call_id, event.tool, arguments)] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return True

    def look(self, record: Record, made: Made) -> Iterator[Rejected]:
        """Search a record of which no call was made. Yield a line that waited too long for its events."""
        silent = made is Made.NOTHING and self._by_line
        if (self._read and not silent) or not self._may_hold(record):
            return
        marks = _list_marks(record)
        if not marks:
            return
        self._marked += 1
        line = _describe_line(record, marks)
        if not self._read and self._first is None:
            self._first = line
        if silent and not self._knows(line.calls):
            self._waiting[record.where.offset] = line
            if len(self._waiting) > _WAITING:
                yield from self._reject_lines([self._waiting.popitem(last=False)[1]])

    def finish(self) -> Iterator[Rejected]:
        """Yield the lines of which nothing was made; else the file, when no call of it was read."""
        yield from self._reject_lines(self._waiting.values())
        if self._first is not None and not self._refused:
            more = f" in {self._marked:,} records" if self._marked > 1 else ""
            yield Rejected(
                self._first.where,
                "unread_calls",
                f"the file holds tool calls (`{self._first.word}`{more}), and none of them was read",
                self._first.snippet,
            )

    def _reject_lines(self, lines: Iterable[_Line]) -> Iterator[Rejected]:
        for line in lines:
            if not self._knows(line.calls):
                self._refused = True
                reason = f"a tool call (`{line.word}`) in a line that this format does not know"
                yield Rejected(line.where, "unread_calls", reason, line.snippet)

    def _may_hold(self, record: Record) -> bool:
        return not self._is_json or may_hold_marks(record.data)

    def _knows(self, calls: tuple[bytes, ...]) -> bool:
        return all(call in self._known for call in calls)


def _list_marks(record: Record) -> list[CallMark]:
    value = record.value
    if not isinstance(value, dict):  # a format has decoded parts of the line only
        try:
            value = orjson.loads(record.data)
        except orjson.JSONDecodeError:
            return []
    return list(find_marks(value))


def _describe_line(record: Record, marks: list[CallMark]) -> _Line:
    calls = tuple({_hash_call(mark.id, mark.name, mark.arguments) for mark in marks})
    word, data = marks[0].word, record.data
    at = max(0, data.find(f'"{word}"'.encode()))
    begin = data.rfind(b"\n", 0, at) + 1
    where = record.where
    if begin:
        where = LogLine(where.line + data.count(b"\n", 0, at), record.start + begin)
    return _Line(where, word, calls, make_snippet(data[begin:] if begin else data))


def _hash_call(known: str | None, tool: str | None, arguments: Any) -> bytes:
    """Return a hash by which a repeated call is recognised: of its id, else of its tool and arguments."""
    if known is None:
        text = (
            canonical_json(arguments) if isinstance(arguments, str) else json_text(arguments, sort_keys=True)
        )
        known = f"{tool}:{text}"
    return blake2b(known.encode("utf-8", "surrogatepass"), digest_size=8).digest()
