"""Translates files in which each record is one session: a run, an attempt or an example.

A format provides the function that reads one record. A session's id consists of the file's identity and a
hash of the record. If the file repeats a record, a number is added. The position of a record in the file does
not change the id.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b

from ingest.events import Event, Rejected
from ingest.log_format import About, Record

Read = Callable[[Record, str], Iterable[Event | Rejected]]
"""Picklable function that yields the events of a record, given the record and its session's id."""

_REMEMBERED = 100_000  # maximum number of remembered records; repeats of these records get a number


class RecordIds:
    """Makes record ids from the file's identity and each record's content."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._repeats: OrderedDict[bytes, int] = OrderedDict()

    def make(self, record: Record) -> str:
        """Return the id of the next record. Equal records get different ids."""
        digest = blake2b(record.data.strip(), digest_size=8).digest()
        count = self._repeats.pop(digest, 0) + 1
        self._repeats[digest] = count
        if len(self._repeats) > _REMEMBERED:
            self._repeats.popitem(last=False)
        return f"{self._identity}/{digest.hex()}{f'/{count}' if count > 1 else ''}"


class SessionPerRecord:
    """Translates each record into one session."""

    def __init__(self, about: About, read: Read) -> None:
        self._ids = RecordIds(about.identity)
        self._read = read

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        yield from self._read(record, self._ids.make(record))

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Do nothing: no file is open."""
