"""Searches the records of a file for tool calls that the format did not read.

A record from which the format made no event is searched for signs of tool calls
(`ingest.decoding.call_marks`). A line becomes a reject if its tool calls are read nowhere in the file. A file
becomes a reject if it has signs of tool calls but no tool call was read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from enum import Enum
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from ingest.decoding.call_marks import CallMark, find_marks, may_hold_marks
from ingest.decoding.containers import Container
from ingest.decoding.lines import make_snippet
from ingest.events import CallMade, LogLine, Rejected
from ingest.log_format import Record
from ingest.sessions.stored_text import canonical_json, json_text

_KNOWN = 100_000  # number of remembered calls; logs repeat earlier calls
_SHORT = 100  # characters; longer ids are remembered as hashes
_WAITING = 1_000  # largest number of lines that wait for events of a later record
_WAITING_BYTES = 1024 * 1024  # largest number of bytes of lines that wait and were not searched yet


class Made(Enum):
    """The kinds of events that a format made from a record."""

    NOTHING = "nothing"
    EVENTS = "events"
    CALLS = "calls"  # a tool call or a reject, so no tool call was overlooked


class _Line(NamedTuple):
    """A line from which the format made no event so far. It has signs of tool calls and the keys of these
    calls.
    """

    where: LogLine
    word: str
    calls: tuple[str, ...]
    snippet: str


class UnreadCalls:
    """The tool calls that were read from a file, and signs of unread tool calls.

    An object can be pickled between two batches. In a log of lines (`by_line`), the reader adds the byte
    offset of each event's line to `placed`.
    """

    def __init__(self, container: Container) -> None:
        self._is_json = container is not Container.YAML
        self.by_line = container.is_lines
        self._known: OrderedDict[str, None] = OrderedDict()
        self.placed: set[int] = set()  # byte offsets of the lines that have made events since the last batch
        self._silent: list[Record] = []  # waiting records that were not searched
        self._silent_bytes = 0  # number of bytes in `_silent`
        # lines with signs of calls that were searched and still wait
        self._lines: OrderedDict[int, _Line] = OrderedDict()
        # the first record with signs of calls; None as soon as a call was read
        self._first: _Line | None = None
        self._marked = 0
        self._read = False  # True when a call was read from this file
        self._refused = False  # True when a line of this file became a reject

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling. Waiting lines that cannot contain a call are left out."""
        silent = [record for record in self._silent if self._may_hold_calls(record)]
        return {
            **self.__dict__,
            "_silent": silent,
            "_silent_bytes": sum(len(record.data) for record in silent),
        }

    def note_call(self, call: CallMade) -> None:
        self._read = True
        self._first = None
        arguments = call.raw_arguments if call.raw_arguments is not None else call.arguments
        self._known[_call_key(call.tool_call_id, call.tool, arguments)] = None
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    def look(self, record: Record) -> None:
        """Search a record from which the format made other events than calls, or a silent document."""
        if not self._read:
            self._search(record)

    def look_at_silent(self, records: list[Record]) -> Iterator[Rejected]:
        """Add lines from which the format has made no event yet. Call this after each batch of lines.

        The lines wait unsearched, because most formats use such a line a few lines later. Yield rejects for
        lines with signs of calls that have waited too long.
        """
        self._silent += records
        self.drop_placed()
        if self._silent_bytes > _WAITING_BYTES or len(self._silent) > _WAITING:
            yield from self._search_silent()

    def _search_silent(self) -> Iterator[Rejected]:
        for record in self._silent:
            if (line := self._search(record)) is not None:
                self._lines[record.where.offset] = line
        self._silent, self._silent_bytes = [], 0
        while len(self._lines) > _WAITING:
            yield from self._reject(self._lines.popitem(last=False)[1])

    def drop_placed(self) -> None:
        """Drop the waiting lines that have made events. Empty `placed`."""
        placed = self.placed
        for offset in self._lines.keys() & placed:
            del self._lines[offset]
        self._silent = [record for record in self._silent if record.where.offset not in placed]
        self._silent_bytes = sum([len(record.data) for record in self._silent])
        placed.clear()

    def _search(self, record: Record) -> _Line | None:
        """Return the line with its signs of calls. Return None if the line has no sign, or if all these calls
        were read.
        """
        marks = _list_marks(record) if self._may_hold_calls(record) else []
        if not marks:
            return None
        self._marked += 1
        line = _describe_line(record, marks)
        if not self._read and self._first is None:
            self._first = line
        return None if self._knows(line.calls) else line

    def _may_hold_calls(self, record: Record) -> bool:
        return not self._is_json or may_hold_marks(record.data)

    def _reject(self, line: _Line) -> Iterator[Rejected]:
        if not self._knows(line.calls):
            self._refused = True
            reason = f"a tool call (`{line.word}`) in a line that this format does not know"
            yield Rejected(line.where, "unread_calls", reason, line.snippet)

    def finish(self) -> Iterator[Rejected]:
        """Yield a reject for each line whose calls were never read.

        If no call of the file was read, yield a reject for the file.
        """
        self.drop_placed()
        yield from self._search_silent()
        for line in self._lines.values():
            yield from self._reject(line)
        if self._first is not None and not self._refused:
            more = f" in {self._marked:,} records" if self._marked > 1 else ""
            yield Rejected(
                self._first.where,
                "unread_calls",
                f"the file contains tool calls (`{self._first.word}`{more}), but none of them was read",
                self._first.snippet,
            )

    def _knows(self, calls: tuple[str, ...]) -> bool:
        return all(call in self._known for call in calls)


def _list_marks(record: Record) -> list[CallMark]:
    value = record.value
    if not isinstance(value, dict):  # the format decoded only some fields of the line
        try:
            value = orjson.loads(record.data)
        except orjson.JSONDecodeError:
            return []
    return list(find_marks(value))


def _describe_line(record: Record, marks: list[CallMark]) -> _Line:
    calls = tuple({_call_key(mark.id, mark.name, mark.arguments) for mark in marks})
    word, data = marks[0].word, record.data
    at = max(0, data.find(f'"{word}"'.encode()))
    begin = data.rfind(b"\n", 0, at) + 1
    where = record.where
    if begin:
        where = LogLine(where.line + data.count(b"\n", 0, at), record.start + begin)
    return _Line(where, word, calls, make_snippet(data[begin:] if begin else data))


def _call_key(call_id: str | None, tool: str | None, arguments: Any) -> str:
    """Return a key that is equal for copies of a call.

    The key is the call's id. Without an id, it is a hash of tool and arguments.
    """
    if call_id is not None and len(call_id) <= _SHORT:
        return call_id
    if call_id is None:
        text = (
            canonical_json(arguments) if isinstance(arguments, str) else json_text(arguments, sort_keys=True)
        )
        call_id = f"{tool}:{text}"
    return blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
