"""Reads the files of OpenCode's storage tree: a session's own file, its messages and their parts.

The folders link them: a part lies in the folder of its message, a message in that of its session. Ids within
the files may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingest.decoding.fields import read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.opencode.opencode_messages import OpenCodeMessages
from ingest.log_format import Record


class OpenCodeFiles:
    """The files of one session, in the order in which they are read."""

    def __init__(self) -> None:
        self._messages = OpenCodeMessages()

    def take(self, record: Record, file: str) -> Iterator[Event | Rejected]:
        folders = file.removesuffix(".json").split("/")
        kind = folders[0] if len(folders) == 3 else folders[1]  # to 2025-07 all lay in `session`
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
