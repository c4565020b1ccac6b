"""Reads the rows of OpenCode's database: sessions, messages and their parts, in the order of each session.

Columns hold what the JSON in `data` leaves out: ids and, of sessions, all else.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingest.decoding.fields import read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.conversations.database_rows import find_unread, read_json_column
from ingest.formats.opencode.opencode_messages import OpenCodeMessages
from ingest.log_format import Record


class OpenCodeRows:
    """The rows of a database, one after another."""

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
