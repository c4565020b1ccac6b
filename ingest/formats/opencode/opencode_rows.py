"""Reads the rows of OpenCode's database: sessions, messages and their parts, in the order of each session.

Columns hold what the JSON in `data` leaves out: ids and, of sessions, all else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, LogLine, Rejected
from ingest.formats.conversations.database_rows import find_unread, read_json_column
from ingest.formats.opencode.opencode_session import OpenCodeSession
from ingest.record import Record


class OpenCodeRows:
    """The rows of a database, one after another; one message with its parts is held."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._session: OpenCodeSession | None = None
        self._info: dict[str, Any] | None = None
        self._parts: list[dict[str, Any]] = []
        self._places: dict[Any, LogLine] = {}
        self._where = LogLine(1, 0)

    def take(self, record: Record, kind: str) -> Iterator[Event | Rejected]:
        data = None if kind == "session" else read_json_column(record, "data")
        bad = find_unread(record) or (data if isinstance(data, Rejected) else None)
        if bad is not None:
            yield bad
        elif kind == "session":
            yield from self._begin_session(record)
        elif kind == "message":
            yield from self._begin_message(record, read_object(data))
        elif kind == "part":
            yield from self._add_part(record, read_object(data))

    def finish(self) -> Iterator[Event]:
        """Yield the rest of the session whose rows came last."""
        yield from self._end_message()
        session, self._session = self._session, None
        if session is not None:
            yield from session.finish()

    def _begin_session(self, record: Record) -> Iterator[Event]:
        yield from self.finish()
        row = record.value
        self._session = OpenCodeSession(read_text(row.get("id")) or self._identity)
        yield self._session.begin(
            {
                "version": row.get("version"),
                "parentID": row.get("parent_id"),
                "time": {"created": row.get("time_created")},
            },
            record.where,
        )

    def _begin_message(self, record: Record, data: dict[str, Any]) -> Iterator[Event]:
        session_id = read_text(record.value.get("session_id")) or self._identity
        if self._session is None or self._session.session_id != session_id:
            yield from self.finish()
            self._session = OpenCodeSession(session_id)
            yield self._session.begin({}, record.where)
        yield from self._end_message()
        self._info = {**data, "id": record.value.get("id")}
        self._where = record.where

    def _add_part(self, record: Record, data: dict[str, Any]) -> Iterator[Rejected]:
        row = record.value
        if self._info is None or self._info.get("id") != row.get("message_id"):
            reason = "a part of a message that is not in the database"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))
            return
        part = {**data, "id": row.get("id")}
        self._parts.append(part)
        for ident in (part.get("id"), part.get("callID")):
            if isinstance(ident, str):
                self._places[ident] = record.where

    def _end_message(self) -> Iterator[Event]:
        if self._session is not None and self._info is not None:
            message = {"info": self._info, "parts": self._parts}
            yield from self._session.take_message(message, self._find)
        self._info, self._parts, self._places = None, [], {}

    def _find(self, ident: Any) -> LogLine:
        return self._places.get(ident, self._where) if isinstance(ident, str) else self._where
