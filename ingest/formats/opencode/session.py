"""One exported OpenCode session in, its turns, steps, calls and results out, in the order of the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.events import Event, ResultSeen, SessionSeen, Where
from ingest.fields import epoch_ms, table, tables, text, whole
from ingest.formats.opencode.calls import call_of, result_of
from ingest.records import Record
from ingest.shapes.dialogue import CANCELLED, ERROR, Dialogue

_BY_PEOPLE = "MessageAbortedError"
_MASKED = "REDACTED"  # what stands for ids where a tool took them for secrets


def session_events(record: Record, identity: str) -> Iterator[Event]:
    """All of a session; `identity` is its id where the export names none."""
    info = table(record.value.get("info"))
    dialogue = Dialogue(text(info.get("id")) or identity)
    yield SessionSeen(
        session_id=dialogue.session_id,
        where=record.where,
        ts=epoch_ms(table(info.get("time")).get("created")),
        harness="opencode",
        harness_version=text(info.get("version")),
        parent_session_id=text(info.get("parentID")),
    )
    for message in tables(record.value.get("messages")):
        role = table(message.get("info")).get("role")
        if role == "assistant":
            yield from _Answer(record, dialogue, message).events()
        elif role == "user":
            _ask(record, dialogue, message)
    yield from dialogue.end()


def _ask(record: Record, dialogue: Dialogue, message: Mapping[str, Any]) -> None:
    info = table(message.get("info"))
    words = [
        text(part.get("text")) or ""
        for part in tables(message.get("parts"))
        if part.get("type") == "text" and part.get("synthetic") is not True
    ]
    if words:
        ts, key = epoch_ms(table(info.get("time")).get("created")), _key(info.get("id"))
        dialogue.ask(_place(record, info.get("id")), ts, "\n".join(words), key)


class _Answer:
    """One message of the model: a step, or one for each `step-finish`."""

    def __init__(self, record: Record, dialogue: Dialogue, message: Mapping[str, Any]) -> None:
        self._record = record
        self._dialogue = dialogue
        self._info = table(message.get("info"))
        self._parts = tables(message.get("parts"))
        self._where = _place(record, self._info.get("id"))
        self._ts = epoch_ms(table(self._info.get("time")).get("created"))

    def events(self) -> Iterator[Event]:
        if self._info.get("summary") is True:
            return  # the harness had the conversation summed up
        waiting: list[Mapping[str, Any]] = []
        steps = 0
        for part in self._parts:
            if part.get("type") in ("text", "tool"):
                waiting.append(part)
            elif part.get("type") == "step-finish":
                yield from self._step(waiting, part)
                waiting, steps = [], steps + 1
        if waiting or not steps:
            yield from self._step(waiting, self._info)
        self._how_it_ended()

    def _step(self, parts: list[Mapping[str, Any]], told: Mapping[str, Any]) -> Iterator[Event]:
        """`told`: what has the step's tokens and why it ended."""
        tokens = table(told.get("tokens"))
        words = [text(part.get("text")) or "" for part in parts if part.get("type") == "text"]
        calls = [part for part in parts if part.get("type") == "tool"]
        yield from self._dialogue.step(
            self._where,
            self._ts,
            "\n".join(words),
            provider=text(self._info.get("providerID")),
            model=text(self._info.get("modelID")),
            input_tokens=_sum(tokens.get("input"), *table(tokens.get("cache")).values()),
            output_tokens=_sum(tokens.get("output"), tokens.get("reasoning")),
            answers=told.get("reason", told.get("finish")) == "stop" and not calls,
        )
        for part in calls:
            yield from self._called(part)

    def _called(self, part: Mapping[str, Any]) -> Iterator[Event]:
        call_id, time = text(part.get("callID")), table(table(part.get("state")).get("time"))
        where = _place(self._record, part.get("id") if call_id == _MASKED else call_id)
        begun, ended = epoch_ms(time.get("start")), epoch_ms(time.get("end"))
        yield self._dialogue.call(where, begun or self._ts, **call_of(part), key=_key(part.get("id")))
        result = result_of(part)
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

    def _how_it_ended(self) -> None:
        done: datetime | None = epoch_ms(table(self._info.get("time")).get("completed"))
        error = table(self._info.get("error"))
        if error.get("name") == _BY_PEOPLE:
            self._dialogue.stopped(self._where, done, CANCELLED)
        elif error:
            self._dialogue.stopped(self._where, done, ERROR, ok=False)
        elif self._info.get("finish") not in (None, "tool-calls"):
            self._dialogue.stopped(self._where, done, text(self._info.get("finish")))


def _place(record: Record, token: Any) -> Where:
    return record.place(f'"{token}"') if isinstance(token, str) else record.where


def _key(ident: Any) -> str | None:
    """A message's or part's id, unique in the world unless it was masked."""
    return ident if isinstance(ident, str) and ident.startswith(("msg_", "prt_")) else None


def _sum(*counts: Any) -> int | None:
    """The sum of token counts; zeros are no measurement."""
    return sum(whole(count) or 0 for count in counts) or None
