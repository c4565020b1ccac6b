"""Hermes Agent sessions: one JSON document, `~/.hermes/sessions/session_<id>.json`.

Sources: NousResearch/hermes-agent; a sample of jazzyalex/agent-sessions (2026-04).

**Shape.** `{session_id, model, platform, session_start, last_updated, system_prompt?, tools?, messages}`.
The messages are those of OpenAI's Chat Completions, `arguments` the model's own text, with `finish_reason`.

**Turns.** Each user message, up to an answer without calls.

**Traps.**
- Messages have no time: calls are dated by the start of the session, which lasts to `last_updated`.
- Results have no flag.
- Messages without a call or a result have the line of the one before.

**Bounds.** A document is held whole, so `--max-line` bounds it.

**Cannot tell.** What became of calls; token counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_objects, read_text, read_time
from ingest.events import Event, LogLine, PromptSeen, SessionSeen, ToolsOffered
from ingest.formats.provider_messages.chat_messages import ChatConversation, list_calls
from ingest.log_format import About, Source, Translator
from ingest.record import Record

SOURCE = Source(
    name="hermes",
    title="Hermes Agent sessions",
    raw_arguments="yes",
    argument_failures="yes: judged on the model's own text",
    error_flag="no",
    definitions="partly: where the session lists its tools",
    system_prompt="partly: where the session has it",
    model="yes: per session",
    turn_end="no: concluded from the last message",
    cannot_tell="Results carry no sign of success: they stay unknown.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        {"session_id", "platform", "session_start"} <= record.keys()
        and isinstance(record.get("messages"), list)
        for record in head[:1]
    )


def translator(about: About) -> Translator:
    return _HermesSessions(about.identity)


class _HermesSessions:
    """Translator of one file; each document in the file is one session."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        session, ts = (
            read_text(value.get("session_id")) or self._identity,
            read_time(value.get("session_start")),
        )
        here: dict[str, Any] = {"session_id": session, "where": record.where, "ts": ts}
        yield SessionSeen(**here, harness="hermes", model=read_text(value.get("model")))
        definitions, prompt = read_objects(value.get("tools")), read_text(value.get("system_prompt"))
        if definitions:
            yield ToolsOffered(**here, definitions=tuple(definitions))
        if prompt:
            yield PromptSeen(**here, text=prompt)
        conversation = ChatConversation(session)
        where: LogLine = record.where
        for message in read_objects(value.get("messages")):
            for ident in (*(call["id"] for call in list_calls(message)), message.get("tool_call_id")):
                where = record.find_line(f'"{ident}"') if isinstance(ident, str) else where
            yield from conversation.take(message, where, ts)
        yield from conversation.end(where, ts)
        if ended := read_time(value.get("last_updated")):
            yield SessionSeen(session_id=session, where=record.where, ts=ended)

    def finish(self) -> Iterable[Event]:
        return ()

    def close(self) -> None:
        """Do nothing: no file or other resource is open."""
