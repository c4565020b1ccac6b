"""Chat messages as OpenAI's Chat Completions API has them in; turns, steps, calls and results out.

The shape (https://platform.openai.com/docs/api-reference/chat/create): `role` system | developer | user |
assistant | tool (older: function), `content` text or parts, `tool_calls[].{id, function.{name, arguments}}`
(older: `function_call`), `tool_call_id`. Benchmarks, gateways and fine-tuning data repeat it, often with the
arguments as an object instead of the model's text: `args_source` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FlagSource,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    StepMade,
    TurnEnded,
    TurnStarted,
    Where,
)
from ingest.fields import table, tables, text


class Flag(NamedTuple):
    """What a log tells of a result; see `ResultSeen`."""

    status: ResultStatus = ResultStatus.UNKNOWN
    source: FlagSource = FlagSource.ABSENT
    facts: Mapping[str, Any] = {}  # further fields of ResultSeen: fault_layer, message

    @property
    def fields(self) -> dict[str, Any]:
        """All of it as fields of `ResultSeen`."""
        return {"status": self.status, "flag_source": self.source, **self.facts}


def no_flag(_message: Mapping[str, Any]) -> Flag:
    """Chat messages carry no error flag."""
    return Flag()


class Conversation:
    """The messages of one session in order, its events out.

    `flag` reads a result message where the log says more than the API does.
    """

    def __init__(self, session_id: str, *, flag: Callable[[Mapping[str, Any]], Flag] = no_flag) -> None:
        self.session_id = session_id
        self._flag = flag
        self._prompt: str | None = None
        self._begun = False
        self._answer: str | None = None  # of the last message, when it was the model's and made no call

    def take(
        self, message: Mapping[str, Any], where: Where, ts: datetime | None = None, **step: Any
    ) -> Iterator[Event]:
        """The events of one message. `step` are further fields of `StepMade`: model, tokens, latency."""
        role = message.get("role")
        shared: dict[str, Any] = {"session_id": self.session_id, "where": where, "ts": ts}
        if role in ("system", "developer"):
            yield from self._system(message, shared)
        elif role == "user":
            yield from self.end(where, ts)
            self._begun = True
            yield TurnStarted(**shared, text=content_text(message.get("content")))
        elif role in ("assistant", "model"):
            yield from self._assistant(message, shared, step)
        elif role in ("tool", "function"):
            yield self._result(message, shared)

    def end(self, where: Where, ts: datetime | None = None) -> Iterator[Event]:
        """Close the turn when its last message was an answer; called at the end of the messages, too."""
        answer, self._answer = self._answer, None
        if answer is not None:
            yield TurnEnded(session_id=self.session_id, where=where, ts=ts, answer=answer)

    def _system(self, message: Mapping[str, Any], shared: dict[str, Any]) -> Iterator[Event]:
        words = content_text(message.get("content"))
        if words and words != self._prompt:
            self._prompt = words
            yield PromptSeen(**shared, text=words)

    def _assistant(
        self, message: Mapping[str, Any], shared: dict[str, Any], step: dict[str, Any]
    ) -> Iterator[Event]:
        words = content_text(message.get("content"))
        calls = list(calls_of(message))
        yield StepMade(**shared, text=words, **step)
        for call in calls:
            yield call_made(call, shared)
        self._answer = None if calls else words or ""

    def _result(self, message: Mapping[str, Any], shared: dict[str, Any]) -> ResultSeen:
        flag = self._flag(message)
        self._answer = None
        return ResultSeen(
            **shared,
            tool_call_id=text(message.get("tool_call_id")),
            tool=text(message.get("name")),
            content=content_text(message.get("content")),
            **flag.fields,
        )


def calls_of(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The calls of an assistant message, each with `id`, `name` and `arguments` at its top."""
    calls = tables(message.get("tool_calls"))
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]
    for call in calls:
        function = table(call.get("function")) or call
        yield {"id": call.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}


def call_made(call: Mapping[str, Any], shared: Mapping[str, Any], **facts: Any) -> CallMade:
    """A call of `calls_of` as an event. `shared` are the fields of `Event`, `facts` those of CallMade."""
    return CallMade(
        **shared,
        tool=text(call.get("name")),
        tool_call_id=text(call.get("id")),
        **arguments_of(call.get("arguments")),
        **facts,
    )


def arguments_of(sent: Any) -> dict[str, Any]:
    """The fields of `CallMade` for arguments as a log has them: the model's text, a value, or nothing."""
    if isinstance(sent, str):
        return {"raw_arguments": sent, "args_source": ArgsSource.RAW}
    if sent is None:
        return {"args_source": ArgsSource.MISSING}
    return {"arguments": sent, "args_source": ArgsSource.RESERIALISED}


def content_text(content: Any) -> str | None:
    """The text of a message: a string, or the text parts of a list; None when there is none."""
    if isinstance(content, list):
        parts = [text(part.get("text")) if isinstance(part, dict) else text(part) for part in content]
        return "\n".join(part for part in parts if part is not None) or None
    return text(content)
