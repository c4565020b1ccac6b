"""Reads sessions, messages and parts from OpenCode's storage folders and from its database.

Ids in the files may be missing, so folder names link the files: a part is in its message's folder, and a
message in its session's folder. In the database, columns contain the ids and the session's fields; the JSON
in `data` does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, LogLine, Rejected
from ingest.formats.conversations.database_rows import find_unread, read_json_column
from ingest.formats.opencode.session_events import OpenCodeSession
from ingest.log_format import Record


class OpenCodeFiles:
    """Translates the files of one session, one after another."""

    def __init__(self) -> None:
        self._messages = OpenCodeMessages()

    def take(self, record: Record, file: str) -> Iterator[Event | Rejected]:
        folders = file.removesuffix(".json").split("/")
        # Until 2025-07 the files were below a folder `session`.
        kind = folders[0] if len(folders) == 3 else folders[1]
        above, name = folders[-2:]
        if kind == "session":
            yield from self._messages.begin_session(name, record.value, record.where)
        elif kind == "message":
            yield from self._begin_message(above, name, record)
        else:
            yield from self._add_part(above, name, record)

    def finish(self) -> Iterator[Event]:
        return self._messages.finish()

    def _begin_message(self, session_id: str, name: str, record: Record) -> Iterator[Event | Rejected]:
        if read_text(record.value.get("role")) is None:
            yield _reject(record, "a message without a role")
            return
        info = {**record.value, "id": name}
        yield from self._messages.begin_message(session_id, info, record.where)

    def _add_part(self, message_id: str, name: str, record: Record) -> Iterator[Rejected]:
        if read_text(record.value.get("type")) is None:
            yield _reject(record, "a part of a message without a type")
        elif not self._messages.add_part(message_id, {"id": name, **record.value}, record.where):
            yield _reject(record, f"a part of the message {message_id}, whose file is missing or broken")


def _reject(record: Record, reason: str) -> Rejected:
    return Rejected(record.where, "missing_field", reason, make_snippet(record.data))


class OpenCodeRows:
    """Translates the rows of a database, one after another."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._messages = OpenCodeMessages()

    def take(self, record: Record, kind: str) -> Iterator[Event | Rejected]:
        row = record.value
        data = None if kind == "session" else read_json_column(record, "data")
        bad = find_unread(record) or (data if isinstance(data, Rejected) else None)
        if bad is not None:
            yield bad
        elif kind == "session":
            info = {
                "version": row.get("version"),
                "parentID": row.get("parent_id"),
                "time": {"created": row.get("time_created")},
            }
            session_id = read_text(row.get("id")) or self._identity
            yield from self._messages.begin_session(session_id, info, record.where)
        elif kind == "message":
            session_id = read_text(row.get("session_id")) or self._identity
            info = {**read_object(data), "id": row.get("id")}
            yield from self._messages.begin_message(session_id, info, record.where)
        elif kind == "part":
            part = {**read_object(data), "id": row.get("id")}
            if not self._messages.add_part(row.get("message_id"), part, record.where):
                reason = "a part of a message that is not in the database"
                yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))

    def finish(self) -> Iterator[Event]:
        return self._messages.finish()


class OpenCodeMessages:
    """Translates the sessions of a log, one after another."""

    def __init__(self) -> None:
        self._session: OpenCodeSession | None = None
        self._info: dict[str, Any] | None = None
        self._parts: list[dict[str, Any]] = []
        self._places: dict[str, LogLine] = {}
        self._where = LogLine(1, 0)

    def begin_session(self, session_id: str, info: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        yield from self.finish()
        self._session = OpenCodeSession(session_id)
        yield self._session.begin(info, where)

    def begin_message(self, session_id: str, info: dict[str, Any], where: LogLine) -> Iterator[Event]:
        """Yield the events of the previous message, then begin a new message.

        If necessary, begin a new session, too.
        """
        if self._session is None or self._session.session_id != session_id:
            yield from self.begin_session(session_id, {}, where)
        yield from self._end_message()
        self._info, self._where = info, where

    def add_part(self, message_id: Any, part: dict[str, Any], where: LogLine) -> bool:
        """Add a part to its message. Return False when the part belongs to another message."""
        if self._info is None or self._info.get("id") != message_id:
            return False
        self._parts.append(part)
        for ident in (part.get("id"), part.get("callID")):
            if isinstance(ident, str):
                self._places[ident] = where
        return True

    def finish(self) -> Iterator[Event]:
        """Yield the remaining events of the last session."""
        yield from self._end_message()
        session, self._session = self._session, None
        if session is not None:
            yield from session.finish()

    def _end_message(self) -> Iterator[Event]:
        if self._session is not None and self._info is not None:
            message = {"info": self._info, "parts": self._parts}
            yield from self._session.take_message(message, self._find)
        self._info, self._parts, self._places = None, [], {}

    def _find(self, ident: Any) -> LogLine:
        return self._places.get(read_text(ident) or "", self._where)
