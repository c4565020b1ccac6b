"""Translates the messages of an OpenCode session into events, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from ingest.decoding.fields import (
    count_input_parts,
    read_count,
    read_epoch_ms,
    read_object,
    read_objects,
    read_text,
)
from ingest.events import Event, LogLine, ResultSeen, SessionSeen, TurnStatus
from ingest.formats.conversations.agent_session import AgentSession
from ingest.formats.opencode.opencode_calls import call_fields, result_fields
from ingest.log_format import Record

_BY_PEOPLE = "MessageAbortedError"
_MASKED = "REDACTED"  # what stands for ids where a tool took them for secrets


Find = Callable[[Any], LogLine]
"""Function that returns the place of the message or part with this id, or of the call with this call id."""


def translate_session(record: Record, identity: str) -> Iterator[Event]:
    """Yield all events of an exported session. `identity` is the session id where the export names none."""
    info = read_object(record.value.get("info"))
    session = OpenCodeSession(read_text(info.get("id")) or identity)
    yield session.begin(info, record.where)
    for message in read_objects(record.value.get("messages")):
        yield from session.take_message(message, partial(_find_place, record))
    yield from session.finish()


class OpenCodeSession:
    """The events of one session, whose messages come one after another."""

    def __init__(self, session_id: str) -> None:
        self._dialogue = AgentSession(session_id)

    @property
    def session_id(self) -> str:
        return self._dialogue.session_id

    def begin(self, info: Mapping[str, Any], where: LogLine) -> SessionSeen:
        return SessionSeen(
            session_id=self.session_id,
            where=where,
            ts=read_epoch_ms(read_object(info.get("time")).get("created")),
            harness="opencode",
            harness_version=read_text(info.get("version")),
            parent_session_id=read_text(info.get("parentID")),
        )

    def take_message(self, message: Mapping[str, Any], find: Find) -> Iterator[Event]:
        """Yield the events of a message: `{info, parts}`."""
        role = read_object(message.get("info")).get("role")
        if role == "assistant":
            yield from _AnswerMessage(find, self._dialogue, message).events()
        elif role == "user":
            self._ask(message, find)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.close_turn()

    def _ask(self, message: Mapping[str, Any], find: Find) -> None:
        info = read_object(message.get("info"))
        words = [
            read_text(part.get("text")) or ""
            for part in read_objects(message.get("parts"))
            if part.get("type") == "text" and part.get("synthetic") is not True
        ]
        if words:
            ts, key = read_epoch_ms(read_object(info.get("time")).get("created")), _world_key(info.get("id"))
            self._dialogue.ask(find(info.get("id")), ts, "\n".join(words), key)


class _AnswerMessage:
    """One model message: a single step, or one step for each `step-finish` part."""

    def __init__(self, find: Find, dialogue: AgentSession, message: Mapping[str, Any]) -> None:
        self._find = find
        self._dialogue = dialogue
        self._info = read_object(message.get("info"))
        self._parts = read_objects(message.get("parts"))
        self._where = find(self._info.get("id"))
        self._ts = read_epoch_ms(read_object(self._info.get("time")).get("created"))

    def events(self) -> Iterator[Event]:
        if self._info.get("summary") is True:
            return  # the harness had the conversation summed up
        waiting: list[Mapping[str, Any]] = []
        steps = 0
        for part in self._parts:
            if part.get("type") in ("text", "tool"):
                waiting.append(part)
            elif part.get("type") == "step-finish":
                yield from self._take_step(waiting, part)
                waiting, steps = [], steps + 1
        if waiting or not steps:
            yield from self._take_step(waiting, self._info)
        self._note_end()

    def _take_step(self, parts: list[Mapping[str, Any]], told: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events of one step from the message parts of the step.

        `told` is the object with the token counts and the finish reason: a `step-finish` part or the message
        itself.
        """
        tokens = read_object(told.get("tokens"))
        cache = read_object(tokens.get("cache"))
        words = [read_text(part.get("text")) or "" for part in parts if part.get("type") == "text"]
        calls = [part for part in parts if part.get("type") == "tool"]
        yield from self._dialogue.add_step(
            self._where,
            self._ts,
            "\n".join(words),
            provider=read_text(self._info.get("providerID")),
            model=read_text(self._info.get("modelID")),
            **count_input_parts(tokens.get("input"), cache.get("read"), cache.get("write")),
            output_tokens=_sum_counts(tokens.get("output"), tokens.get("reasoning")),
            answers=told.get("reason", told.get("finish")) == "stop" and not calls,
        )
        for part in calls:
            yield from self._take_call(part)

    def _take_call(self, part: Mapping[str, Any]) -> Iterator[Event]:
        call_id, time = read_text(part.get("callID")), read_object(read_object(part.get("state")).get("time"))
        where = self._find(part.get("id") if call_id == _MASKED else call_id)
        begun, ended = read_epoch_ms(time.get("start")), read_epoch_ms(time.get("end"))
        yield self._dialogue.add_call(
            where, begun or self._ts, **call_fields(part), key=_world_key(part.get("id"))
        )
        result = result_fields(part)
        if result is not None:
            ran = (ended - begun).total_seconds() * 1000 if begun and ended else None
            yield ResultSeen(
                session_id=self._dialogue.session_id,
                where=where,
                ts=ended or self._ts,
                tool_call_id=call_id,
                latency_ms=ran if ran is not None and ran >= 0 else None,
                **result,
            )

    def _note_end(self) -> None:
        done: datetime | None = read_epoch_ms(read_object(self._info.get("time")).get("completed"))
        error = read_object(self._info.get("error"))
        if error.get("name") == _BY_PEOPLE:
            self._dialogue.note_stop(self._where, done, TurnStatus.CANCELLED.value)
        elif error:
            self._dialogue.note_stop(self._where, done, TurnStatus.ERROR.value, ok=False)
        elif self._info.get("finish") not in (None, "tool-calls"):
            self._dialogue.note_stop(self._where, done, read_text(self._info.get("finish")))


def _find_place(record: Record, token: Any) -> LogLine:
    return record.find_line(f'"{token}"') if isinstance(token, str) else record.where


def _world_key(ident: Any) -> str | None:
    """Return the id of a message or part; None unless it is an id that is unique everywhere (not masked)."""
    return ident if isinstance(ident, str) and ident.startswith(("msg_", "prt_")) else None


def _sum_counts(*counts: Any) -> int | None:
    """Return the sum of the token counts; None when it is zero, as zeros stand for unmeasured counts."""
    return sum(read_count(count) or 0 for count in counts) or None
