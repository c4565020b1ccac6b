"""Reads the output of `opencode run --format json`: the parts of a session's messages, one per line.

A line is `{type: step_start | text | tool_use | step_finish | error, timestamp, sessionID, part}`. A tool
call is printed when the tool has finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.events import Event, LogLine
from ingest.formats.opencode.session_events import OpenCodeSession


def is_run_event(event: Mapping[str, Any]) -> bool:
    """Return True when only `opencode run` prints such an event."""
    kind = event.get("type")
    if kind == "error":
        return "sessionID" in event and "error" in event
    named = kind in ("step_start", "step_finish", "text", "tool_use", "reasoning")
    return named and "sessionID" in event and isinstance(event.get("part"), dict)


class HeadlessSession:
    """One session, whose message parts arrive in order."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._session = OpenCodeSession(session_id)
        self._parts: list[Mapping[str, Any]] = []
        self._places: dict[str, LogLine] = {}
        self._begun = False
        self._info: dict[str, Any] = {}

    def take(self, event: Mapping[str, Any], where: LogLine) -> Iterator[Event]:
        part, ts = read_object(event.get("part")), event.get("timestamp")
        if not self._begun:
            self._begun = True
            yield self._session.begin({"time": {"created": ts}}, where)
        if not self._info:
            self._info = {"id": part.get("messageID"), "time": {"created": ts}}
        self._places.setdefault(read_text(part.get("messageID")) or "", where)
        for ident in (part.get("id"), part.get("callID")):
            self._places[read_text(ident) or ""] = where
        kind = event.get("type")
        if kind == "error":
            self._info["error"] = event.get("error")
            yield from self._end_message()
        elif kind in ("text", "tool_use", "step_finish"):
            self._parts.append(part)
        if kind == "step_finish":
            self._info["finish"] = part.get("reason")
            self._info["time"]["completed"] = ts
            yield from self._end_message()

    def finish(self) -> Iterator[Event]:
        if self._parts:
            yield from self._end_message()
        yield from self._session.finish()

    def _end_message(self) -> Iterator[Event]:
        message = {"info": {"role": "assistant", **self._info}, "parts": self._parts}
        places, self._info, self._parts, self._places = self._places, {}, [], {}
        first = next(iter(places.values()), LogLine(1, 0))
        yield from self._session.take_message(message, lambda ident: places.get(str(ident), first))
