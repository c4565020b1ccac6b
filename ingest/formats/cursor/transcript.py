"""Reads the transcript of one Cursor agent: messages without ids, results and times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.events import (
    Event,
    FlagSource,
    LogLine,
    Rejected,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    TurnStatus,
)
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.conversations.content_blocks import call_fields, join_text, list_blocks
from ingest.formats.cursor.user_text import read_query
from ingest.log_format import About, Record

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OTHERS = {"type", "uuid", "sessionId", "created", "content", "timestamp", "id"}


def is_transcript_line(record: Mapping[str, Any]) -> bool:
    """Return True for a message as only Cursor writes it: a role and the message, and nothing else."""
    return (
        record.get("role") in ("user", "assistant")
        and isinstance(read_object(record.get("message")).get("content"), list)
        and not _OTHERS & record.keys()
    )


class CursorTranscript:
    """The session in one file. The file is named by the id of the session, where it is one."""

    def __init__(self, about: About) -> None:
        name = about.name.removesuffix(".jsonl")
        self._dialogue = AgentSession(name if _ID.fullmatch(name) else about.identity)
        self._begun = False
        self._open: list[tuple[int, str | None]] = []  # calls of the last message: ordinal and tool

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        where, value = record.where, record.value
        if not self._begun:
            self._begun = True
            yield SessionSeen(session_id=self._dialogue.session_id, where=where, harness="cursor")
        yield from self._answer_calls(where)
        kind, role = value.get("type"), value.get("role")
        blocks = list_blocks(read_object(value.get("message")).get("content"))
        if kind == "turn_ended":
            self._end_turn(where, read_text(value.get("status")))
        elif kind == "error":
            self._dialogue.note_stop(where, None, TurnStatus.ERROR.value, ok=False)
        elif role == "user":
            words = join_text(blocks)
            if words is not None:
                self._dialogue.ask(where, None, read_query(words))
        elif role == "assistant":
            yield from self._dialogue.add_step(where, None, join_text(blocks))
            for ordinal, call in enumerate(call_fields(blocks)):
                self._open.append((ordinal, call["tool"]))
                yield self._dialogue.add_call(where, None, **call)

    def _answer_calls(self, where: LogLine) -> Iterator[Event]:
        """Yield a result of unknown status for each call of the last message: the agent went on."""
        for ordinal, tool in self._open:
            yield ResultSeen(
                session_id=self._dialogue.session_id,
                where=where,
                tool=tool,
                ordinal=ordinal,
                status=ResultStatus.UNKNOWN,
                flag_source=FlagSource.ABSENT,
            )
        self._open = []

    def _end_turn(self, where: LogLine, status: str | None) -> None:
        if status in ("aborted", "cancelled"):
            self._dialogue.note_stop(where, None, TurnStatus.CANCELLED.value)
        else:
            ok = {"success": True, "error": False}.get(status or "")
            self._dialogue.note_stop(where, None, status, ok=ok)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()
