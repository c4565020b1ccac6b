"""Makes the turns of one agent session from its prompts, model messages and calls, in order.

All transcripts of coding agents follow the same rules. A prompt begins a turn only if the model answers it. A
turn ends with a message without calls, with an end that the log states, or with the next prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from ingest.decoding.fields import read_text
from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    LogLine,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.provider_messages.chat_messages import argument_fields
from ingest.formats.provider_messages.message_hashes import unique_id

_REMEMBERED = 1_000  # maximum number of calls that may wait for a result at the same time
_Value = TypeVar("_Value")


class WaitingPrompt(msgspec.Struct, frozen=True):
    where: LogLine
    ts: datetime | None
    text: str | None
    key: str | None


class TurnState(msgspec.Struct):
    """The state of the open turn. `answer` is None while the model's latest output is a tool call."""

    where: LogLine
    ts: datetime | None
    answer: str | None = None
    status: str | None = None
    ok: bool | None = None
    latency_ms: float | None = None


class AgentSession:
    """The turns of one session.

    A prompt begins a turn only when the model answers it.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._prompt: WaitingPrompt | None = None
        self._turn: TurnState | None = None

    @property
    def waits_for_words(self) -> bool:
        """Return True when the newest prompt is unanswered and its text is not known yet."""
        return self._prompt is not None and self._prompt.text is None

    @property
    def is_open(self) -> bool:
        """Return True when the model has begun to answer the newest prompt."""
        return self._turn is not None and self._prompt is None

    def ask(self, where: LogLine, ts: datetime | None, text: str | None, key: str | None = None) -> None:
        """Record a prompt. A prompt without an answer is dropped at the next prompt."""
        self._prompt = WaitingPrompt(where, ts, text, key)

    def add_step(
        self, where: LogLine, ts: datetime | None, text: str | None = None, **facts: Any
    ) -> Iterator[Event]:
        """Yield the events of a model message, beginning with the turn's start if the message begins a turn.

        `facts` are further fields of `StepMade`.
        """
        yield from self.enter_turn(where, ts)
        self._turn = TurnState(where, ts, text or "")
        yield StepMade(session_id=self.session_id, where=where, ts=ts, text=text or None, **facts)

    def add_call(self, where: LogLine, ts: datetime | None, **facts: Any) -> CallMade:
        """Return the event of a tool call in the latest model message. `facts` are further fields of
        `CallMade`.
        """
        if self._turn is not None:
            self._turn.answer = None
        return CallMade(session_id=self.session_id, where=where, ts=ts, **facts)

    def note_stop(
        self,
        where: LogLine,
        ts: datetime | None,
        status: str | None = None,
        *,
        ok: bool | None = None,
        answer: str | None = None,
        latency_ms: float | None = None,
    ) -> None:
        """Record how the open turn ended, according to the log.

        The turn stays open until `close_turn`. Nothing is recorded while a prompt is unanswered.
        """
        turn = self._turn
        if turn is None or self._prompt is not None:
            return
        turn.where, turn.ts = where, ts
        turn.status, turn.ok, turn.latency_ms = status, ok, latency_ms
        turn.answer = answer if answer is not None else turn.answer

    def close_turn(self) -> Iterator[Event]:
        """Close the open turn. Yield a `TurnEnded` if the log shows that the turn ended."""
        turn, self._turn = self._turn, None
        if turn is None or (turn.answer is None and turn.status is None):
            return
        yield TurnEnded(
            session_id=self.session_id,
            where=turn.where,
            ts=turn.ts,
            status=turn.status,
            recorded_ok=turn.ok,
            answer=turn.answer,
            latency_ms=turn.latency_ms,
        )

    def close_without_end(self) -> None:
        """Close the open turn without a `TurnEnded`, because the log states that the turn did not end."""
        self._turn = None

    def enter_turn(self, where: LogLine, ts: datetime | None) -> Iterator[Event]:
        prompt, self._prompt = self._prompt, None
        if prompt is None and self._turn is not None:
            return
        yield from self.close_turn()
        prompt = prompt or WaitingPrompt(where, ts, None, None)
        yield TurnStarted(
            session_id=self.session_id, where=prompt.where, ts=prompt.ts, text=prompt.text, key=prompt.key
        )


def decoded_argument_fields(value: Any) -> dict[str, Any]:
    """Return the `CallMade` fields for decoded arguments. The value None means missing arguments."""
    if value is None:
        return {"args_source": ArgsSource.MISSING}
    return {"arguments": value, "args_source": ArgsSource.RESERIALISED}


def sent_call_fields(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `CallMade` fields of a native call with `id`, `name` and `arguments`.

    Arguments that are a string are the model's own text.
    """
    return {
        **argument_fields(call.get("arguments")),
        "tool": read_text(call.get("name")),
        **native_call_fields(read_text(call.get("id"))),
    }


def native_call_fields(call_id: str | None) -> dict[str, Any]:
    """Return the `CallMade` fields that depend on the id of a native call."""
    return {"tool_call_id": call_id, "key": unique_id(call_id), "strategy": Strategy.TOOL_USE}


def remember_call(values: dict[str, _Value], call_id: str, value: _Value) -> None:
    """Store a value for a tool call that has no result yet. If too many calls wait, drop the oldest value."""
    values[call_id] = value
    if len(values) > _REMEMBERED:
        del values[next(iter(values))]
