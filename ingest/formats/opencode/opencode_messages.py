"""Puts the messages of OpenCode sessions together from messages and parts that come one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_text
from ingest.events import Event, LogLine
from ingest.formats.opencode.opencode_session import OpenCodeSession


class OpenCodeMessages:
    """The sessions of a log, one after another; one message with its parts is held."""

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
        """Yield the events of the message before, and begin one; its session is begun if it was not."""
        if self._session is None or self._session.session_id != session_id:
            yield from self.begin_session(session_id, {}, where)
        yield from self._end_message()
        self._info, self._where = info, where

    def add_part(self, message_id: Any, part: dict[str, Any], where: LogLine) -> bool:
        """Add a part to its message; return False when the message is not the one before."""
        if self._info is None or self._info.get("id") != message_id:
            return False
        self._parts.append(part)
        for ident in (part.get("id"), part.get("callID")):
            if isinstance(ident, str):
                self._places[ident] = where
        return True

    def finish(self) -> Iterator[Event]:
        """Yield the rest of the session that came last."""
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
