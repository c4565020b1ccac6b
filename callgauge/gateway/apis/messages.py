"""A conversation with a model, the same for every API: messages, calls and replies."""

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

    RAW = "raw"  # as the model wrote it
    RESERIALISED = "reserialised"  # the API sent an object; the text was made from it
    LOST = "lost"  # a server refused the call and does not quote it


class FinishReason(StrEnum):
    """Why a reply ended, in one spelling for all APIs."""

    TOOL_USE = "tool_use"
    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply. `raw` is the text of its arguments, `source` where that text comes from.

    `id_sent` is the original id of a call that needed another. `signature` must go back with the
    call (Gemini's `thoughtSignature`).
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

    `calls` are an assistant's, with arguments that are valid JSON objects. `call_id` and `name` say which
    call a message of the role `tool` answers. `carried` are items of the API that go back unchanged, before
    all else: Anthropic's thinking blocks, reasoning items of OpenAI's Responses. `parts` are a user's or a
    tool's content that is not text (images, audio, files), in the API's own format; they are sent unchanged,
    after the text.
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
    """Return a line for each part, with its type and size: a log has no room for the parts themselves."""
    return "\n".join(
        f"[{part.get('type') or next(iter(part), 'part')}: {len(json.dumps(part)):,} characters of JSON]"
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of a reply's text.

    If a piece is the first of a reply and the previous reply had no last piece, the stream of the previous
    reply broke: the model was asked again, and the new text replaces the old text.
    """

    text: str
    is_first: bool = False
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one reply as the endpoint counts them; None where it says nothing."""

    read: int | None = None
    written: int | None = None
    cached: int | None = None


def sum_tokens(counted: Iterable[Tokens]) -> Tokens:
    """Return the sums over several replies; None where an endpoint counts nothing."""
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
    """One answer of a model. `stop_word` is the API's own word for why it ended.

    `refused` is the endpoint's complaint about a call of the model that it could not read: then the call is
    in no other field, but in `refused_call` where the complaint quotes it.
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
    """What a model is asked: the conversation, the tools it may call, and how it is to answer.

    `is_serial` asks for one call at most in a reply, `is_strict` for calls that the server holds to their
    definitions, where the API has that. `answer_schema` is a JSON Schema for the text of the answer, an
    object that is closed and requires all its fields. `sampling` has the names `temperature`, `top_p`,
    `max_tokens` and `seed`; `extra_body` is laid over the finished body, for what only one provider knows.
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
