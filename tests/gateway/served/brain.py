"""Defines the requests to a scripted model and the model's outputs, for all APIs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RequestMessage:
    """One message of a request: a role, a content string and tool calls."""

    role: str
    text: str = ""
    calls: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Asked:
    """One request: the model, the messages, the raw body, and whether tools were offered."""

    model: str
    messages: Sequence[RequestMessage]
    has_tools: bool
    body: Mapping[str, Any]
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def system(self) -> str:
        return "\n".join(message.text for message in self.messages if message.role == "system")

    @property
    def user(self) -> str:
        return next((message.text for message in self.messages if message.role == "user"), "")

    @property
    def last(self) -> RequestMessage:
        return self.messages[-1]


@dataclass(frozen=True)
class Emitted:
    """The output of the model: either content and tool calls as (name, raw arguments), or an HTTP error.

    The response starts after `slow` seconds, and ends after `cut` bytes. `ids` are the ids of the calls. The
    server calls `halfway` when half of the response is sent.
    """

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    stop: str | None = None  # "length" or "refusal"
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    slow: float = 0.0
    ids: Sequence[str] | None = None
    halfway: Callable[[], object] | None = None


Brain = Callable[[Asked], Emitted]


def pieces(text: str, size: int = 7) -> list[str]:
    """Split a string as a stream does. An empty string gives one piece."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]
