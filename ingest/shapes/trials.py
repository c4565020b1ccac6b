"""One benchmark attempt or training example, its chat messages in; turns, steps, calls and the verdict out.

The messages are those of `ingest.shapes.chat`. The user is often played by a model that ends the talk with a
message nobody answers: that one begins no turn. The benchmark judges the whole attempt; its verdict stands on
the last turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from ingest.events import (
    Event,
    FaultLayer,
    PromptSeen,
    ResultSeen,
    StepMade,
    Strategy,
    TurnEnded,
    TurnStarted,
    Where,
)
from ingest.fields import tables, text
from ingest.records import Record
from ingest.shapes.chat import Flag, call_made, calls_of, content_text, no_flag

_ANSWERING = ("assistant", "model")
_ANSWERED = (*_ANSWERING, "tool", "function")

Messages = Sequence[Mapping[str, Any]]


class Trial:
    """The messages of one attempt. `flag` reads a result where the log says more than the chat API does.

    `step` makes further fields of `StepMade` (model, tokens, latency) of an assistant's message, `when` the
    time of any. `where` is where the attempt begins, when that is within the record.
    """

    def __init__(
        self,
        session_id: str,
        record: Record,
        *,
        where: Where | None = None,
        flag: Callable[[Mapping[str, Any]], Flag] = no_flag,
        step: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _message: {},
        when: Callable[[Mapping[str, Any]], datetime | None] = lambda _message: None,
    ) -> None:
        self._session_id = session_id
        self._record = record
        self._flag, self._step, self._when = flag, step, when
        self._where = where or record.where
        self._ts: datetime | None = None
        self._prompt: str | None = None
        self._answer: str | None = ""  # None after a call whose result has not come

    def events(self, messages: Messages, **verdict: Any) -> Iterator[Event]:
        """Everything in order. `verdict` are fields of the last `TurnEnded`: status, recorded_ok.

        Without a verdict, messages that stop at a call leave the turn open: what came next is not told.
        """
        last = max((at for at, one in enumerate(messages) if one.get("role") in _ANSWERED), default=-1)
        open_turn = False
        for message in messages[: last + 1]:
            self._ts = self._when(message) or self._ts
            if message.get("role") == "user":
                if open_turn:
                    yield TurnEnded(**self._here(), answer=self._answer or "")
                open_turn, self._answer = True, ""
            yield from self._message(message)
        if verdict or (self._answer is not None and last >= 0):
            yield TurnEnded(**self._here(), answer=self._answer, **verdict)

    def _message(self, message: Mapping[str, Any]) -> Iterator[Event]:
        role, words = message.get("role"), content_text(message.get("content"))
        if role in ("system", "developer") and words and words != self._prompt:
            self._prompt = words
            yield PromptSeen(**self._here(), text=words)
        elif role == "user":
            yield TurnStarted(**self._here(), text=words)
        elif role in _ANSWERING:
            yield from self._assistant(message, words)
        elif role in ("tool", "function"):
            yield self._result(message, words)

    def _assistant(self, message: Mapping[str, Any], words: str | None) -> Iterator[Event]:
        calls = [(call, self._place(call.get("id"))) for call in calls_of(message)]
        self._where = calls[0][1] if calls else self._where
        strategy = Strategy.TOOL_USE if calls else None
        yield StepMade(**self._here(), text=words, strategy=strategy, **self._step(message))
        for call, self._where in calls:
            yield call_made(call, self._here(), strategy=strategy)
        self._answer = None if calls else words or ""

    def _result(self, message: Mapping[str, Any], words: str | None) -> ResultSeen:
        self._where = self._place(message.get("tool_call_id"))
        self._answer = ""
        flag = self._flag(message)
        return ResultSeen(
            **self._here(),
            tool_call_id=text(message.get("tool_call_id")),
            tool=text(message.get("name")),
            content=words,
            **flag.fields,
        )

    def _place(self, token: Any) -> Where:
        return self._record.place(f'"{token}"', past=True) if isinstance(token, str) else self._where

    def _here(self) -> dict[str, Any]:
        return {"session_id": self._session_id, "where": self._where, "ts": self._ts}


def argument_layer(message: str) -> FaultLayer | None:
    """The layer at which a Python function refused its arguments, told from the exception's text.

    A signature that does not match is what the definition says (schema); a value that a type of the tool's
    own refused (pydantic: "1 validation error for Payment") is the tool's word. None = neither.
    """
    if any(mark in message for mark in _SIGNATURE) or ("missing " in message and _MISSING in message):
        return FaultLayer.SCHEMA
    if " validation error for " in message or " validation errors for " in message:
        return FaultLayer.TOOL_REJECTED
    return None


_SIGNATURE = ("got an unexpected keyword argument", "got multiple values for argument")
_MISSING = " required "


def listed(stated: Any) -> list[dict[str, Any]]:
    """The objects of a list, or of the JSON text of one: data sets store lists both ways."""
    if isinstance(stated, str):
        try:
            stated = orjson.loads(stated)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            return []
    return tables(stated)
