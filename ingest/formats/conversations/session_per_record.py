"""Translates files in which each record is one session: a run, an attempt or an example.

A format gives the function that reads one record. The first session's id is the identity of the file; each
later session has a slash and the record's number appended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ingest.events import Event, Rejected
from ingest.log_format import About
from ingest.record import Record

Read = Callable[[Record, str], Iterable[Event | Rejected]]
"""Function that yields the events of a record, given the id of its session; it must be picklable."""


class SessionPerRecord:
    """A translator that makes one session of each record, and keeps only a count between records."""

    def __init__(self, about: About, read: Read) -> None:
        self._identity = about.identity
        self._read = read
        self._count = 0

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        session_id = f"{self._identity}/{self._count}" if self._count else self._identity
        self._count += 1
        yield from self._read(record, session_id)

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Do nothing: there is nothing outside of memory to release."""
