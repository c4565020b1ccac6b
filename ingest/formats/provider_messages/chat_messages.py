"""Translates chat messages of OpenAI's Chat Completions API into turns, steps, calls and results.

A message (https://platform.openai.com/docs/api-reference/chat/create) has `role` system | developer | user |
assistant | tool (older: function), `content` text or parts, `tool_calls[].{id, function.{name, arguments}}`
(older: `function_call`), `tool_call_id`. Benchmarks, gateways and fine-tuning data use the same format. Often
the arguments are an object instead of the model's text; the field `args_source` of a call distinguishes the
two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FlagSource,
    LogLine,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    StepMade,
    TurnEnded,
    TurnStarted,
)

_IMAGES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})


class ResultFlag(NamedTuple):
    """Whether a tool call succeeded according to the log. The values become fields of `ResultSeen`."""

    status: ResultStatus = ResultStatus.UNKNOWN
    source: FlagSource = FlagSource.ABSENT
    facts: Mapping[str, Any] = {}  # further fields of `ResultSeen`: fault_layer, message

    @property
    def fields(self) -> dict[str, Any]:
        """Return the flag as fields of `ResultSeen`."""
        return {"status": self.status, "flag_source": self.source, **self.facts}


def read_no_flag(_message: Mapping[str, Any]) -> ResultFlag:
    """Return a flag with unknown status, because messages of the chat API have no error flag."""
    return ResultFlag()


class ChatConversation:
    """Translates the messages of one session into events, in order.

    `flag` returns the error flag of a result message.
    """

    def __init__(
        self, session_id: str, *, flag: Callable[[Mapping[str, Any]], ResultFlag] = read_no_flag
    ) -> None:
        self.session_id = session_id
        self._flag = flag
        self._prompt: str | None = None
        self._begun = False
        # the model's text, if the last message is the model's and made no call
        self._answer: str | None = None

    def take(
        self, message: Mapping[str, Any], where: LogLine, ts: datetime | None = None, **step: Any
    ) -> Iterator[Event]:
        """Yield the events of one message.

        `step` contains further fields of `StepMade`: model, tokens, latency.
        """
        role = message.get("role")
        shared: dict[str, Any] = {"session_id": self.session_id, "where": where, "ts": ts}
        if role in ("system", "developer"):
            yield from self.take_system(message, shared)
        elif role == "user":
            yield from self.end(where, ts)
            self._begun = True
            yield TurnStarted(**shared, text=join_content(message.get("content")))
        elif role in ("assistant", "model"):
            yield from self.take_assistant(message, shared, step)
        elif role in ("tool", "function"):
            yield self.take_result(message, shared)

    def end(self, where: LogLine, ts: datetime | None = None) -> Iterator[Event]:
        """Yield the end of the turn if the last message was an answer without tool calls.

        Also call this method after the last message of the session.
        """
        answer, self._answer = self._answer, None
        if answer is not None:
            yield TurnEnded(session_id=self.session_id, where=where, ts=ts, answer=answer)

    def take_system(self, message: Mapping[str, Any], shared: dict[str, Any]) -> Iterator[Event]:
        words = join_content(message.get("content"))
        if words and words != self._prompt:
            self._prompt = words
            yield PromptSeen(**shared, text=words)

    def take_assistant(
        self, message: Mapping[str, Any], shared: dict[str, Any], step: dict[str, Any]
    ) -> Iterator[Event]:
        words = join_content(message.get("content"))
        calls = list(list_calls(message))
        yield StepMade(**shared, text=words, **step)
        for call in calls:
            yield make_call(call, shared)
        self._answer = None if calls else words or ""

    def take_result(self, message: Mapping[str, Any], shared: dict[str, Any]) -> ResultSeen:
        flag = self._flag(message)
        self._answer = None
        return ResultSeen(
            **shared,
            tool_call_id=read_text(message.get("tool_call_id")),
            tool=read_text(message.get("name")),
            content=join_result(message.get("content")),
            **flag.fields,
        )


def list_calls(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each tool call of an assistant message as a dict with `id`, `name` and `arguments`."""
    calls = read_objects(message.get("tool_calls"))
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]
    for call in calls:
        function = read_object(call.get("function")) or call
        yield {"id": call.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}


def make_call(call: Mapping[str, Any], shared: Mapping[str, Any], **facts: Any) -> CallMade:
    """Return the `CallMade` event of a tool call.

    `shared` contains the fields that every `Event` has. `facts` contains further fields of `CallMade`.
    """
    return CallMade(
        **shared,
        tool=read_text(call.get("name")),
        tool_call_id=read_text(call.get("id")),
        **argument_fields(call.get("arguments")),
        **facts,
    )


def argument_fields(sent: Any) -> dict[str, Any]:
    """Return the `CallMade` fields for arguments in a log: the model's own text, a decoded value or None."""
    if isinstance(sent, str):
        return {"raw_arguments": sent, "args_source": ArgsSource.RAW}
    if sent is None:
        return {"args_source": ArgsSource.MISSING}
    return {"arguments": sent, "args_source": ArgsSource.RESERIALISED}


def join_content(content: Any) -> str | None:
    """Return the text of a message's content. Return None when there is no text.

    The content is a string, or a list of parts whose texts are joined with newlines.
    """
    if isinstance(content, list):
        parts = [
            read_text(part.get("text")) if isinstance(part, dict) else read_text(part) for part in content
        ]
        return "\n".join(part for part in parts if part is not None) or None
    return read_text(content)


def join_result(content: Any) -> str | None:
    """Return the text of a tool result. Return `[image]` or `[2 images]` when the result has only images."""
    text = join_content(content)
    return text if text is not None else name_images(sum(map(_is_image, read_objects(content))))


def name_images(count: int) -> str | None:
    """Return the text for a result that has only images, or None when `count` is zero."""
    if count == 0:
        return None
    return "[image]" if count == 1 else f"[{count} images]"


def _is_image(part: Mapping[str, Any]) -> bool:
    return read_text(part.get("type")) in _IMAGES or isinstance(part.get("image"), dict)
