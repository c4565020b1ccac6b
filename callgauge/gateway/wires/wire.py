"""What a wire is: how a request is written in a provider's format, and how its answer is read.

All of it is pure. A reader takes the events of a stream, or one whole body, and returns a `Reply`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import orjson

from callgauge.gateway.wires.messages import ChatRequest, Reply

T = TypeVar("T")


class BrokenReplyError(Exception):
    """The answer is not what its wire describes, or its stream ended before the reply did: asked again."""


class ErrorInReplyError(Exception):
    """The endpoint reported an error within an answer that began as a success; the message is its text."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A path below the endpoint's address, and the body as JSON values."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's format.

    `read_events` takes the data of a stream's events, in order. Both readers raise BrokenReplyError and
    ErrorInReplyError. `knows_seed` says whether a request can carry a seed, `knows_strict` whether a
    definition can be marked as strict.
    """

    name: str
    write: Callable[[ChatRequest], WireRequest]
    headers: Callable[[str], dict[str, str]]
    read_events: Callable[[Iterable[str]], Reply]
    read_body: Callable[[bytes], Reply]
    knows_seed: bool = False
    knows_strict: bool = True


ANSWER_NAME = "answer"  # OpenAI's wires want a name for the schema of an answer


class CachedTokens(msgspec.Struct):
    """The part of OpenAI's token counts that says how many were read from a cache."""

    cached_tokens: int | None = None


def decode(data: str | bytes, kind: type[T]) -> T:
    """Decode one event or body. Raises BrokenReplyError where it is no JSON, or JSON of another shape."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError) as error:
        try:  # half an emoji, as models write it in escapes, is what only the standard library takes
            return msgspec.convert(json.loads(data), type=kind)
        except (ValueError, RecursionError, msgspec.ValidationError):
            raise BrokenReplyError(f"The answer cannot be read: {error}") from None


def bearer_headers(key: str) -> dict[str, str]:
    """Return the header of a key as OpenAI and those who speak its formats take it; none without a key."""
    return {"authorization": f"Bearer {key}"} if key else {}


def decode_object(raw: str) -> dict[str, Any]:
    """Decode the arguments of a call in the history, which are always a JSON object."""
    decoded = orjson.loads(raw)
    if not isinstance(decoded, dict):
        raise TypeError("Arguments in a history are an object.")
    return decoded


def write_object(value: Any) -> str:
    """Write the arguments that a wire sent as an object as JSON text."""
    plain = value if value is not None else {}
    try:
        return msgspec.json.encode(plain).decode()
    except (UnicodeEncodeError, OverflowError):  # half an emoji; a number beyond 64 bits
        return json.dumps(plain, separators=(",", ":"))


def merge_body(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body with the request's own fields over it; objects are merged, None removes a field."""
    merged = dict(body)
    for name, value in extra.items():
        here = merged.get(name)
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(here, dict):
            merged[name] = merge_body(here, value)
        else:
            merged[name] = value
    return merged
