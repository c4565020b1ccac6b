"""Translates records that are a session each: a run, an attempt or an example.

A format gives the function that reads one record; its sessions are named after the file and the record's
number, from the second on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ingest.events import Event, Rejected
from ingest.log_format import About
from ingest.record import Record

Read = Callable[[Record, str], Iterable[Event | Rejected]]
"""A record and the id of its session in, its events out. A function of a module: it can be pickled."""


class SessionPerRecord:
    """A translator that keeps nothing between two records but their number."""

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
        """Nothing is kept outside of memory."""
