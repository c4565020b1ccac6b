"""Define messages, calls and replies of a conversation with a model, the same for every API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from lenient import ToolDefinition

Role = Literal["system", "user", "assistant", "tool"]


class CallSource(StrEnum):
    """Where the text of a call's arguments comes from."""

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

    `raw` is the text of its arguments, and `source` says where that text comes from. `id_sent` is the model's
    id if it had to be replaced by another. `signature` must be sent back with the call (Gemini's
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

    `calls` are calls of the assistant; their arguments are valid JSON objects. `call_id` and `name` identify
    the call that a message of the role `tool` answers. `carried` are items of the API that are sent back
    unchanged, before all other content: Anthropic's thinking blocks, reasoning items of OpenAI's Responses.
    `parts` is content of a user or tool that is not text (images, audio, files), in the API's own format. It
    is sent unchanged, after the text.
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
    """Return content that is not text as a tuple. Raises TypeError for a part that is not a JSON object."""
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
    """Return one line for each part, with its type and size, because a log does not store the parts."""
    return "\n".join(
        f"[{part.get('type') or next(iter(part), 'part')}: {len(json.dumps(part)):,} characters of JSON]"
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of a reply's text.

    A first piece can arrive although the previous reply had no last piece. Then the stream of that reply
    broke, the model was asked again, and the new text replaces the old.
    """

    text: str
    is_first: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """The numbers of tokens that the endpoint counted for one reply; None where it gives no number."""

    read: int | None = None
    written: int | None = None
    cached: int | None = None


def sum_tokens(counted: Iterable[Tokens]) -> Tokens:
    """Return the sums over several replies; None where the endpoint gives no number."""
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
    """One answer of a model. `stop_word` is the API's own word for why the answer ended.

    `refused` is the endpoint's error message if it could not read a call of the model. That call is then
    missing from `calls`. `refused_call` holds the call if the message quotes it.
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
    """What a model is asked: the conversation, the tools it may call, and settings for its answer.

    `is_serial` asks for at most one call in a reply. `is_strict` asks the server to enforce the tool
    definitions, if the API supports that. `answer_schema` is a JSON Schema for the answer's text: a closed
    object that requires all its fields. `sampling` may contain `temperature`, `top_p`, `max_tokens` and
    `seed`. `extra_body` holds fields for one provider; they are merged into the finished body.
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
