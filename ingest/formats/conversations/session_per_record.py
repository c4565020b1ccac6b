"""Translates files in which each record is one session: a run, an attempt or an example.

A format gives the function that reads one record. A session's id is the identity of the file with a hash of
the record, and a count where the file has the same record again: other records under the same first line are
other sessions, and the same record is the same session wherever it is in the file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

from ingest.events import Event, Rejected
from ingest.log_format import About, Record

Read = Callable[[Record, str], Iterable[Event | Rejected]]
"""Function that yields the events of a record, given the id of its session; it must be picklable."""

_REMEMBERED = 100_000  # records; equal ones that are further apart count as copies


class RecordIds:
    """Makes ids of the records of one file, from the file's identity and the content of a record."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._told: OrderedDict[bytes, int] = OrderedDict()

    def make(self, record: Record) -> str:
        """Return the id of the next record; equal records get different ids."""
        digest = blake2b(record.data.strip(), digest_size=8).digest()
        count = self._told.pop(digest, 0) + 1
        self._told[digest] = count
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return f"{self._identity}/{digest.hex()}{f'/{count}' if count > 1 else ''}"


class SessionPerRecord:
    """A translator that makes one session of each record, and keeps only their ids between records."""

    def __init__(self, about: About, read: Read) -> None:
        self._ids = RecordIds(about.identity)
        self._read = read

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        yield from self._read(record, self._ids.make(record))

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Do nothing: there is nothing outside of memory to release."""
