"""Keeps the open sessions of one file. The latest sessions are in memory, all others in a temporary file.

One file may mix the events of any number of sessions, so no session can be closed early to save memory. The
class is generic: it uses only the `weight` of a session.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, Self, TypeVar, cast

# bytes in memory of log lines that wait for later lines, over all sessions of a file
MEMORY = 24 * 1024 * 1024
_SMALL = 4_096  # bytes that are counted for a session in which no lines wait
_STEPS = 64  # The memory of the sessions is measured each time it has grown by MEMORY / 64 bytes.


class _HasWeight(Protocol):
    @property
    def weight(self) -> int: ...  # bytes of the session's lines that wait for later lines


T = TypeVar("T", bound=_HasWeight)


class OpenSessions(Generic[T]):
    """Open sessions by key.

    Sessions with the newest events are in memory, all others in the temporary file.
    """

    def __init__(self) -> None:
        self._live: OrderedDict[str, T] = OrderedDict()  # ordered by latest event, the newest last
        self._weights: dict[str, int] = {}
        self._weight = 0
        self._uncounted: set[str] = set()  # keys of sessions that have grown since they were last weighed
        self._growth = 0  # the largest number of bytes by which these sessions can have grown
        self._file: sqlite3.Connection | None = None
        self._in_file = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        if self._file is not None:
            self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._live or self._stored_row(key) is not None

    def open(self, key: str, begin: Callable[[], T]) -> T:
        """Return the session with this key, and make it the latest session.

        If there is no such session, `begin` makes a new session.
        """
        if key not in self._live:
            self._live[key] = self._read_from_file(key) or begin()
        self._live.move_to_end(key)
        return self._live[key]

    def spill(self, key: str, grown: int | None = None) -> None:
        """Weigh the session. When memory is full, move the sessions with the oldest events to the temporary
        file.

        `grown` is the largest possible growth of the session since the last call. If `grown` is set, the
        session may be weighed later, together with other sessions. If `grown` is None, the session is weighed
        now.
        """
        self._uncounted.add(key)
        self._growth += MEMORY if grown is None else grown + _SMALL
        if self._growth < MEMORY // _STEPS:
            return
        for uncounted in self._uncounted:
            if uncounted in self._live:
                self._count_weight(uncounted, self._live[uncounted].weight + _SMALL)
        self._growth = 0
        self._uncounted.clear()
        if self._weight > MEMORY:
            self._make_room()

    def _make_room(self) -> None:
        """Move sessions to the temporary file until the remaining sessions fit into memory.

        Sessions with the oldest events are moved first. The session of the latest event stays in memory.
        """
        *silent, heard = self._live
        for key in silent:
            if self._weight <= MEMORY:
                break
            if self._write_to_file(key, self._live[key]):
                del self._live[key]
            else:
                # this session cannot be written; it stays, and counts as 0 bytes so that other sessions still
                # fit
                self._live.move_to_end(key)
            self._count_weight(key, 0)
        self._live.move_to_end(heard)

    def pop(self, key: str) -> T | None:
        """Remove and return the session with this key. Return None when there is no such session."""
        session = self._live.pop(key, None) or self._read_from_file(key)
        self._count_weight(key, 0)
        return session

    def drain(self) -> Iterator[T]:
        """Remove and yield all sessions. Sessions with the oldest events come first."""
        while self._in_file and self._file is not None:
            (key,) = self._file.execute("SELECT key FROM silent ORDER BY number LIMIT 1").fetchone()
            session = self._read_from_file(_key_text(key))
            if session is not None:
                yield session
        while self._live:
            key, session = self._live.popitem(last=False)
            self._count_weight(key, 0)
            yield session

    def __getstate__(self) -> dict[str, object]:
        if self._in_file:
            raise TypeError("sessions wait in a temporary file, which cannot be kept")
        state = {name: value for name, value in self.__dict__.items() if name != "__orig_class__"}
        return state | {"_file": None}

    def _count_weight(self, key: str, weight: int) -> None:
        self._weight += weight - self._weights.pop(key, 0)
        if weight:
            self._weights[key] = weight

    def pack(self, session: T) -> bytes:
        """Return a session as bytes for the file.

        If `pack` raises RecursionError, the session stays in memory.
        """
        return pickle.dumps(session, pickle.HIGHEST_PROTOCOL)

    def unpack(self, state: bytes) -> T:
        """Return the session from the bytes that `pack` returned."""
        return cast("T", pickle.loads(state))  # noqa: S301  # our own file, which has no name

    # --- the temporary file ------------------------------------------------------------------

    def _write_to_file(self, key: str, session: T) -> bool:
        """Write a session to the temporary file. Return False when the session cannot be written.

        Reasons are that the session is too large or too deeply nested, or that the disk is full.
        """
        try:
            state = self.pack(session)
            if self._file is None:
                self._file = _temporary_file()
            self._file.execute("INSERT INTO silent (key, state) VALUES (?, ?)", (_key_bytes(key), state))
        except (RecursionError, OverflowError, sqlite3.Error):
            return False
        self._in_file += 1
        return True

    def _read_from_file(self, key: str) -> T | None:
        row = self._stored_row(key)
        if row is None or self._file is None:
            return None
        self._file.execute("DELETE FROM silent WHERE number = ?", (row[0],))
        self._in_file -= 1
        return self.unpack(row[1])

    def _stored_row(self, key: str) -> tuple[int, bytes] | None:
        if not self._in_file or self._file is None:
            return None
        cursor = self._file.execute("SELECT number, state FROM silent WHERE key = ?", (_key_bytes(key),))
        return cast("tuple[int, bytes] | None", cursor.fetchone())


def _temporary_file() -> sqlite3.Connection:
    """Return an unnamed database. SQLite removes the database when it is closed or the process is killed."""
    file = sqlite3.connect("", isolation_level=None)
    file.execute("PRAGMA journal_mode = OFF")
    file.execute(
        "CREATE TABLE silent (number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE, state BLOB)"
    )
    return file


def _key_bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _key_text(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")
