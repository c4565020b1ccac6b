"""Write request bodies and read replies: the code that all API adapters share.

An adapter defines the fields of an API's request body, and what each event of a stream adds to the reply.
Nothing here uses the network.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import orjson

from callgauge.gateway.apis.messages import Call, ChatRequest, FinishReason, Reply, Tokens

T = TypeVar("T")
ENDED_EARLY = "The stream ended before the reply did."
_DONE = "[DONE]"  # the last event of OpenAI's streams; some proxies send it in other APIs, too


class BrokenReplyError(Exception):
    """Raised when a reply breaks the API's format or the stream ends early. Another attempt may succeed."""


class ErrorInReplyError(Exception):
    """Raised when a response has status 200 but contains an error. The message is the endpoint's message."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """The path of a request, relative to the endpoint's address, and the request's body as JSON values."""

    path: str
    body: dict[str, Any]


class ReplyParts(ABC):
    """Collects one reply from the events of a stream, or from one whole body.

    An adapter fills `texts`, `calls` and `carried` while events arrive, or in `complete`. `carried` holds the
    items that the next request sends back unchanged. `stop_word` is the API's own word for why the reply
    ended, or None until the API sends the word. `show_text` is called with each piece of streamed text.
    """

    def __init__(self) -> None:
        self.show_text: Callable[[str], None] = lambda _text: None
        self.texts: list[str] = []
        self.calls: list[Call] = []
        self.carried: list[Mapping[str, Any]] = []
        self.stop_word: str | None = None
        self.model = ""
        self.is_done = False  # True after [DONE] was read

    @property
    def may_end(self) -> bool:
        """Return whether the reply is complete if the stream ends now without an end event."""
        return False

    @abstractmethod
    def add_event(self, event: Any) -> bool:
        """Add an event of a stream. Return whether it completes the reply. Raises ErrorInReplyError."""

    @abstractmethod
    def add_body(self, body: Any) -> None:
        """Add a whole body. Raises BrokenReplyError if the body contains no reply."""

    def add_text(self, text: str) -> None:
        """Add a piece of the reply's text, and call `show_text` with the piece."""
        self.texts.append(text)
        self.show_text(text)

    @abstractmethod
    def read_stop(self) -> FinishReason:
        """Return why the reply ended."""

    @abstractmethod
    def count_tokens(self) -> Tokens:
        """Return the number of tokens that the endpoint counted for the reply."""

    def complete(self) -> Reply:
        """Return the reply."""
        return Reply(
            text="".join(self.texts),
            calls=tuple(self.calls),
            stop=self.read_stop(),
            stop_word=self.stop_word or "",
            tokens=self.count_tokens(),
            model=self.model,
            carried=tuple(self.carried),
        )


@dataclass(frozen=True, slots=True)
class Wire:
    """Describes one API.

    `event` and `body` are the types of a stream's events and of a whole response. Their field `error` is an
    error of the endpoint. `parts` makes the collector of the reply. `knows_seed` is True when a request can
    contain a seed. `knows_strict` is True when a tool definition can be marked as strict.
    """

    name: str
    path: Callable[[ChatRequest], str]
    write_body: Callable[[ChatRequest], dict[str, Any]]
    headers: Callable[[str], dict[str, str]]
    event: type[Any]
    body: type[Any]
    parts: Callable[[], ReplyParts]
    knows_seed: bool = False
    knows_strict: bool = True

    def write(self, request: ChatRequest) -> WireRequest:
        """Return the path and the body of a request."""
        return WireRequest(self.path(request), _merge_body(self.write_body(request), request.extra_body))

    def read_body(self, body: bytes) -> Reply:
        """Return the reply in a whole response body. Raises BrokenReplyError and ErrorInReplyError."""
        answer = _decode(body, self.body)
        check_error(answer.error)
        parts = self.parts()
        parts.add_body(answer)
        return parts.complete()


class ReplyStream:
    """A reply that arrives as events. `show_text` is called with each piece of the reply's text."""

    def __init__(self, wire: Wire, show_text: Callable[[str], None] | None = None) -> None:
        self._event = wire.event
        self._parts = wire.parts()
        self._parts.show_text = show_text or self._parts.show_text
        self._is_complete = False

    def add(self, data: str) -> None:
        """Add the data of one event, unless the reply is already complete.

        Raises BrokenReplyError and ErrorInReplyError.
        """
        if self._is_complete or self._parts.is_done:
            return
        if data.strip() == _DONE:
            self._parts.is_done = True
        else:
            self._is_complete = self._parts.add_event(_decode(data, self._event))

    def complete(self) -> Reply:
        """Return the reply. Raises BrokenReplyError if the stream ended before the reply was complete."""
        if not (self._is_complete or self._parts.may_end):
            raise BrokenReplyError(ENDED_EARLY)
        return self._parts.complete()


def check_error(error: Any) -> None:
    """Raise ErrorInReplyError if `error` is not None."""
    if error is not None:
        raise ErrorInReplyError(write_object(error))


def add_to_turn(messages: list[dict[str, Any]], role: str, field: str, parts: list[dict[str, Any]]) -> None:
    """Append content parts as a new message, or to the last message if the role is the same.

    Anthropic and Gemini require alternating roles, so tool results and a user's text must be in one message.
    """
    if messages and messages[-1]["role"] == role:
        messages[-1][field] += parts
    elif parts:
        messages.append({"role": role, field: parts})


def select_known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields whose value is not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _decode(data: str | bytes, kind: type[T]) -> T:
    """Decode one event or body. Raises BrokenReplyError if `data` is not JSON of the given type."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeError) as error:
        # Only the standard library accepts lone surrogates (half an emoji), which models write as escapes.
        try:
            return msgspec.convert(json.loads(data), type=kind)
        except (ValueError, RecursionError, msgspec.ValidationError):
            raise BrokenReplyError(f"The answer cannot be read: {error}") from None


def decode_object(raw: str) -> dict[str, Any]:
    """Decode the arguments of a call in the history. The arguments must be a JSON object."""
    decoded = orjson.loads(raw)
    if not isinstance(decoded, dict):
        raise TypeError("Arguments in a history are an object.")
    return decoded


def write_object(value: Any) -> str:
    """Return a decoded value as JSON text."""
    plain = value if value is not None else {}
    try:
        return msgspec.json.encode(plain).decode()
    # raised for a lone surrogate (half an emoji) and for an integer beyond 64 bits
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(plain, separators=(",", ":"))


def _merge_body(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body with `extra_body` merged in: nested objects are merged, and None removes a field."""
    merged = dict(body)
    for name, value in extra.items():
        present = merged.get(name)
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(present, dict):
            merged[name] = _merge_body(present, value)
        else:
            merged[name] = value
    return merged
