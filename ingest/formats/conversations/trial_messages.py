"""Translates the chat messages and the verdict of one benchmark attempt or training example.

The messages have the format of `ingest.formats.provider_messages.chat_messages`. Often a model plays the
user, and its last message gets no answer; such a message begins no turn. The benchmark's verdict is about the
whole attempt, so it is stored with the last turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from ingest.decoding.fields import read_objects, read_text
from ingest.events import (
    Event,
    FaultLayer,
    LogLine,
    PromptSeen,
    ResultSeen,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStarted,
)
from ingest.formats.provider_messages.chat_messages import (
    ResultFlag,
    join_content,
    list_calls,
    make_call,
    read_no_flag,
)
from ingest.log_format import Record

_ANSWERING = ("assistant", "model")
_ANSWERED = (*_ANSWERING, "tool", "function")

Messages = Sequence[Mapping[str, Any]]


class TrialMessages:
    """Translates the messages of one attempt into events.

    `flag` returns the error flag of a result message. `step` returns further fields of `StepMade` (model,
    tokens, latency) for an assistant message. `when` returns the time of a message. `strategy` is stored with
    messages that contain tool calls. `where` is the line on which the attempt begins, if the record contains
    several attempts.
    """

    def __init__(
        self,
        session_id: str,
        record: Record,
        *,
        where: LogLine | None = None,
        flag: Callable[[Mapping[str, Any]], ResultFlag] = read_no_flag,
        step: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _message: {},
        when: Callable[[Mapping[str, Any]], datetime | None] = lambda _message: None,
        strategy: Strategy = Strategy.TOOL_USE,
    ) -> None:
        self._session_id = session_id
        self._record = record
        self._flag, self._step, self._when = flag, step, when
        self._where = where or record.where
        self._strategy = strategy
        self._ts: datetime | None = None
        self._prompt: str | None = None
        self._answer: str | None = ""  # the last text of the model; None while a call waits for its result

    def to_events(self, messages: Messages, **verdict: Any) -> Iterator[Event]:
        """Yield the events of all messages in order.

        `verdict` contains the fields `status` and `recorded_ok` of the last `TurnEnded`. If there is no
        verdict and the last message contains a tool call, the turn stays open.
        """
        last = max(
            (at for at, message in enumerate(messages) if message.get("role") in _ANSWERED), default=-1
        )
        open_turn = False
        for message in messages[: last + 1]:
            self._ts = self._when(message) or self._ts
            if message.get("role") == "user":
                if open_turn:
                    yield TurnEnded(**self.event_place(), answer=self._answer or "")
                open_turn, self._answer = True, ""
            yield from self.take_message(message)
        if verdict or (self._answer is not None and last >= 0):
            yield TurnEnded(**self.event_place(), answer=self._answer, **verdict)

    def take_message(self, message: Mapping[str, Any]) -> Iterator[Event]:
        role, words = message.get("role"), join_content(message.get("content"))
        if role in ("system", "developer") and words and words != self._prompt:
            self._prompt = words
            yield PromptSeen(**self.event_place(), text=words)
        elif role == "user":
            yield TurnStarted(**self.event_place(), text=words)
        elif role in _ANSWERING:
            yield from self.take_assistant(message, words)
        elif role in ("tool", "function"):
            yield self.take_result(message, words)

    def take_assistant(self, message: Mapping[str, Any], words: str | None) -> Iterator[Event]:
        calls = [(call, self.find_place(call.get("id"))) for call in list_calls(message)]
        self._where = calls[0][1] if calls else self._where
        strategy = self._strategy if calls else None
        yield StepMade(**self.event_place(), text=words, strategy=strategy, **self._step(message))
        for call, self._where in calls:
            yield make_call(call, self.event_place(), strategy=strategy)
        self._answer = None if calls else words or ""

    def take_result(self, message: Mapping[str, Any], words: str | None) -> ResultSeen:
        self._where = self.find_place(message.get("tool_call_id"))
        self._answer = ""
        flag = self._flag(message)
        return ResultSeen(
            **self.event_place(),
            tool_call_id=read_text(message.get("tool_call_id")),
            tool=read_text(message.get("name")),
            content=words,
            **flag.fields,
        )

    def find_place(self, token: Any) -> LogLine:
        return self._record.find_line(f'"{token}"', past=True) if isinstance(token, str) else self._where

    def event_place(self) -> dict[str, Any]:
        return {"session_id": self._session_id, "where": self._where, "ts": self._ts}


def python_fault_layer(message: str) -> FaultLayer | None:
    """Return the failure stage of a Python exception about invalid arguments.

    Return SCHEMA if the arguments do not match the function's signature. Return TOOL_REJECTED if a data type
    of the tool rejects a value (pydantic: "1 validation error for Payment"). Return None for any other
    exception.
    """
    if any(mark in message for mark in _SIGNATURE) or ("missing " in message and _MISSING in message):
        return FaultLayer.SCHEMA
    if " validation error for " in message or " validation errors for " in message:
        return FaultLayer.TOOL_REJECTED
    return None


_SIGNATURE = ("got an unexpected keyword argument", "got multiple values for argument")
_MISSING = " required "


def read_list(stated: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, which may be JSON text. Return an empty list for any other value."""
    if isinstance(stated, str):
        try:
            stated = orjson.loads(stated)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            return []
    return read_objects(stated)
