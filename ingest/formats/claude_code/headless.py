"""Reads the output of `claude -p --output-format stream-json`: the events of a run, one per line.

The messages are the same as in a transcript, but inside other records: `{type: system | user | assistant |
stream_event | result, session_id, uuid, parent_tool_use_id, message}`. Qwen Code and Amp (`--stream-json`)
print the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import read_number, read_object, read_objects, read_text
from ingest.events import Event, LogLine
from ingest.formats.claude_code.claude_conversation import ClaudeConversation
from ingest.formats.claude_code.transcript_entries import TranscriptEntry, read_entry


def is_stream_event(event: Mapping[str, Any]) -> bool:
    """Return True when only `claude -p` prints such an event."""
    kind = event.get("type")
    if kind in ("user", "assistant", "stream_event"):
        return {"session_id", "parent_tool_use_id"} <= event.keys()
    if kind == "result":
        return "num_turns" in event and "session_id" in event
    return kind == "system" and event.get("subtype") == "init" and "tools" in event


class HeadlessRun:
    """One program run of `claude -p`, which may start sub-agents."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        # id of the call that started a sub-agent → its conversation; None for the main agent
        self._open: dict[str | None, ClaudeConversation] = {}
        # key as in `_open` → id of the message whose pieces are arriving
        self._streamed: dict[str | None, str | None] = {}
        # key as in `_open` → id of the message that arrived complete
        self._whole: dict[str | None, str | None] = {}
        self._version: str | None = None

    def take(self, event: Mapping[str, Any], where: LogLine) -> list[Event]:
        out: list[Event] = []
        kind, lane = event.get("type"), read_text(event.get("parent_tool_use_id"))
        if kind == "system" and event.get("subtype") == "init":
            self._version = read_text(event.get("claude_code_version"))
        elif kind in ("user", "assistant"):
            self._take_message(event, lane, where, out)
        elif kind == "stream_event":
            self._take_piece(read_object(event.get("event")), lane, where, out)
        elif kind == "result":
            self._end(event, out)
        return out

    def finish(self) -> list[Event]:
        out: list[Event] = []
        for lane in list(self._open):
            self._open.pop(lane).finish(out)
        return out

    def _take_message(
        self, event: Mapping[str, Any], lane: str | None, where: LogLine, out: list[Event]
    ) -> None:
        frame = {
            **event,
            "sessionId": self.session_id,
            "toolUseResult": event.get("tool_use_result"),
            "version": self._version,
            "isMeta": event.get("isSynthetic") is True,
        }
        entry = read_entry(frame)
        if isinstance(entry, TranscriptEntry):
            if event.get("type") == "assistant":
                self._whole[lane] = entry.message.id if entry.message else None
            self._conversation(lane).take(entry, where, 0, out)
        for block in read_objects(read_object(event.get("message")).get("content")):
            ended = read_text(block.get("tool_use_id"))
            if ended in self._open and ended is not None:
                self._open.pop(ended).finish(out)

    def _take_piece(
        self, piece: Mapping[str, Any], lane: str | None, where: LogLine, out: list[Event]
    ) -> None:
        """Read the final token counts and the stop reason from the streamed pieces of a message.

        Other pieces are ignored, because the stream also contains the whole message.
        """
        if piece.get("type") == "message_start":
            self._streamed[lane] = read_text(read_object(piece.get("message")).get("id"))
        message_id = self._streamed.get(lane)
        if (
            piece.get("type") == "message_delta"
            and message_id is not None
            and message_id == self._whole.get(lane)
        ):
            reason = read_object(piece.get("delta")).get("stop_reason")
            message: dict[str, Any] = {
                "id": message_id,
                "content": [],
                "stop_reason": reason,
                "usage": piece.get("usage"),
            }
            entry = read_entry({"type": "assistant", "sessionId": self.session_id, "message": message})
            if isinstance(entry, TranscriptEntry):
                self._conversation(lane).take(entry, where, 0, out)

    def _conversation(self, lane: str | None) -> ClaudeConversation:
        if lane not in self._open:
            own = self.session_id if lane is None else f"{self.session_id}/agent-{lane}"
            self._open[lane] = ClaudeConversation(own, None if lane is None else self.session_id)
        return self._open[lane]

    def _end(self, event: Mapping[str, Any], out: list[Event]) -> None:
        for lane in [lane for lane in self._open if lane is not None]:
            self._open.pop(lane).finish(out)
        failed = event.get("is_error") is True
        self._conversation(None).finish(
            out,
            status=read_text(event.get("subtype")),
            answer=read_text(event.get("result")) or ("" if failed else None),
            recorded_ok=False if failed else None,
            latency_ms=read_number(event.get("duration_ms")),
            cost=read_number(event.get("total_cost_usd")),
        )
