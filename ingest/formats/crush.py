"""Crush and early OpenCode (the version written in Go): the SQLite database in a project's folder.

**Files.** `.crush/crush.db`, `.opencode/opencode.db`. Sources: charmbracelet/crush, opencode-ai/opencode; a
database of jonathan-kellerai/cross_agent_session_resumer, modelled on a real one, without calls. Calls and
results are read according to the source code.

**Fields.** `sessions(id, parent_session_id, created_at)`, `messages(id, session_id, role, parts, model,
created_at)`. `parts` is JSON: `[{type, data}]` with the types text, reasoning, tool_call `{id, name, input,
finished}` (`input` is the model's own text), tool_result `{tool_call_id, name, content, is_error}`, finish
`{reason}`.

**Turns.** A user's message begins a turn when the model answers it. `finish.reason` ends the turn: `end_turn`
is a normal end, `canceled` is an end by the user, `error` and `permission_denied` are failures.

**Rules.**
- Times are milliseconds in some versions, seconds in others.
- A summary written for Crush (`is_summary_message`) is not part of the conversation.

**Limits.** `--max-line` limits the size of a message.

**Not in the log.** Tool definitions, the system prompt and the tokens of a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import Event, LogLine, Rejected, ResultSeen, SessionSeen, TurnStatus
from ingest.formats.conversations.agent_session import AgentSession, native_call_fields
from ingest.formats.conversations.database_rows import (
    find_unread,
    is_database,
    read_json_column,
    read_unix_time,
    row_kind,
)
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag, argument_fields
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="crush",
    title="Crush sessions",
    raw_arguments="yes",
    argument_failures="yes: parsed from the model's own text",
    error_flag="yes: is_error",
    definitions="no: supply them with --tools",
    system_prompt="no",
    model="yes: per step",
    turn_end="yes: the reason of the last finish part, without a verdict",
    cannot_tell="What the tools offered were.",
)

_BAD_ENDS = ("error", "permission_denied")


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return is_database(head, "crush")


def translator(about: About) -> Translator:
    return _CrushSessions(about.identity)


class _CrushSessions:
    """Translator of one database."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._dialogue: AgentSession | None = None

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        kind, row = row_kind(record), record.value
        if kind is None:
            return
        parts = read_json_column(record, "parts")
        bad = find_unread(record) or (parts if isinstance(parts, Rejected) else None)
        if bad is not None:
            yield bad
            return
        ts = read_unix_time(row.get("created_at"))
        session_id = read_text(row.get("id" if kind == "session" else "session_id")) or self._identity
        if self._dialogue is None or self._dialogue.session_id != session_id:
            yield from self.finish()
            self._dialogue = AgentSession(session_id)
            yield SessionSeen(
                session_id=session_id,
                where=record.where,
                ts=ts,
                harness="crush",
                parent_session_id=read_text(row.get("parent_session_id")),
            )
        if kind == "message" and not row.get("is_summary_message"):
            yield from _take_message(self._dialogue, record.where, ts, row, _group_parts(parts))

    def finish(self) -> Iterator[Event]:
        dialogue, self._dialogue = self._dialogue, None
        if dialogue is not None:
            yield from dialogue.close_turn()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _group_parts(parts: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the data of a message's parts, grouped by the type of the part."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for part in read_objects(parts):
        grouped.setdefault(read_text(part.get("type")) or "", []).append(read_object(part.get("data")))
    return grouped


def _take_message(
    dialogue: AgentSession,
    where: LogLine,
    ts: datetime | None,
    row: Mapping[str, Any],
    parts: Mapping[str, list[dict[str, Any]]],
) -> Iterator[Event]:
    words = "\n".join(read_text(part.get("text")) or "" for part in parts.get("text", ()))
    if row.get("role") == "user":
        dialogue.ask(where, ts, words)
    elif row.get("role") == "assistant":
        provider, model = read_text(row.get("provider")), read_text(row.get("model"))
        yield from dialogue.add_step(where, ts, words, provider=provider, model=model)
        for call in parts.get("tool_call", ()):
            yield dialogue.add_call(
                where,
                ts,
                tool=read_text(call.get("name")),
                **argument_fields(call.get("input")),
                **native_call_fields(read_text(call.get("id"))),
            )
        _note_end(dialogue, where, ts, parts.get("finish", []))
    for result in parts.get("tool_result", ()):
        content, failed = read_text(result.get("content")), result.get("is_error")
        flag = failed_flag(content or "") if failed is True else PASSED if failed is False else ResultFlag()
        yield ResultSeen(
            session_id=dialogue.session_id,
            where=where,
            ts=ts,
            tool_call_id=read_text(result.get("tool_call_id")),
            tool=read_text(result.get("name")),
            content=content,
            **flag.fields,
        )


def _note_end(
    dialogue: AgentSession, where: LogLine, ts: datetime | None, finished: list[dict[str, Any]]
) -> None:
    reason = read_text(finished[-1].get("reason")) if finished else None
    if reason == "canceled":
        dialogue.note_stop(where, ts, TurnStatus.CANCELLED.value)
    elif reason in _BAD_ENDS:
        dialogue.note_stop(where, ts, reason, ok=False)
    elif reason not in (None, "tool_use"):
        dialogue.note_stop(where, ts, reason)
