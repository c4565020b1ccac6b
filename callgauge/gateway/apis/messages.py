"""Define messages, tool calls and replies of a conversation with a model, the same for every API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from lenient import ToolDefinition

Role = Literal["system", "user", "assistant", "tool"]


class CallSource(StrEnum):
    """Where the JSON text of a tool call's arguments comes from."""

    RAW = "raw"  # the model wrote the text
    RESERIALISED = "reserialised"  # the API sent an object, from which the text was made
    LOST = "lost"  # a server could not parse the call and does not quote its text


class FinishReason(StrEnum):
    """Why a reply ended, with the same words for all APIs."""

    TOOL_USE = "tool_use"
    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply.

    `raw` is the JSON text of the arguments, and `source` says where this JSON text comes from. `id_sent` is
    the model's id if it had to be replaced by another. `signature` must be sent back with the call (Gemini's
    `thoughtSignature`).
    """

    id: str
    name: str
    raw: str
    source: CallSource = CallSource.RAW
    id_sent: str | None = None
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation.

    `calls` are tool calls of the assistant. Their arguments must be JSON objects. `call_id` and `name`
    identify the call that a message of the role `tool` answers. `carried` holds the API's items that are sent
    back unchanged, before all other content: Anthropic's thinking blocks, or reasoning items of OpenAI's
    Responses. `parts` holds images, audio or files of a user or tool, in the API's own format. They are sent
    unchanged, after the text.
    """

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""
    is_error: bool = False
    carried: tuple[Mapping[str, Any], ...] = ()
    parts: tuple[Mapping[str, Any], ...] = ()


def check_parts(parts: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return images, audio or files as a tuple. Raises TypeError for an element that is not a JSON object."""
    checked = tuple(parts)
    for part in checked:
        if not isinstance(part, Mapping):
            raise TypeError(f"a part of a message is a JSON object, not {type(part).__name__}")
        try:
            json.dumps(part)
        except (TypeError, ValueError) as problem:
            raise TypeError(f"a part of a message is not JSON: {problem}; write bytes as base64") from None
    return checked


def describe_parts(parts: Iterable[Mapping[str, Any]]) -> str:
    """Return one line for each image, audio or file, with its type and size, for the log."""
    return "\n".join(
        f"[{part.get('type') or next(iter(part), 'part')}: {len(json.dumps(part)):,} characters of JSON]"
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of a reply's text.

    If a stream breaks, the model is asked again, and a new first piece arrives. The new text replaces the old
    text.
    """

    text: str
    is_first: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token counts of the endpoint for one reply. A count that the endpoint does not send is None."""

    read: int | None = None
    written: int | None = None
    cached: int | None = None


def sum_tokens(counted: Iterable[Tokens]) -> Tokens:
    """Return the token counts, summed over several replies.

    A count that the endpoint does not send is None.
    """
    tokens = tuple(counted)
    return Tokens(
        _sum(reply.read for reply in tokens),
        _sum(reply.written for reply in tokens),
        _sum(reply.cached for reply in tokens),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known_counts = [count for count in counts if count is not None]
    return sum(known_counts) if known_counts else None


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a model. `stop_word` is the API's own word for why the reply ended.

    If the endpoint could not parse a tool call, `refused` is the endpoint's error message, and `calls` does
    not contain this call. `refused_call` holds the call if the message quotes it.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: FinishReason = FinishReason.END_TURN
    stop_word: str = ""
    tokens: Tokens = Tokens()
    model: str = ""
    carried: tuple[Mapping[str, Any], ...] = ()
    refused: str | None = None
    refused_call: Call | None = None
    seconds: float = 0.0
    resent: int = 0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model: the conversation, the tools that the model may call, and settings.

    `is_serial` asks for at most one call in a reply. `is_strict` asks the server to enforce the tool
    definitions, if the API supports that. `answer_schema` is a JSON Schema for the answer's text: a closed
    object that requires all its fields. `sampling` may contain `temperature`, `top_p`, `max_tokens` and
    `seed`. `extra_body` holds fields for one provider, which are merged into the finished body.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    is_serial: bool = False
    is_strict: bool = False
    answer_schema: Mapping[str, Any] | None = None
    streams: bool = True
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
