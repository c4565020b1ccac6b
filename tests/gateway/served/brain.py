"""What a scripted model is asked and what it emits, the same for all wires."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Spoken:
    """One message of a request as a wire carried it: role, text, the calls in it."""

    role: str
    text: str = ""
    calls: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Asked:
    """One request: the model, its messages, whether tools were offered, and the body as it came."""

    model: str
    messages: Sequence[Spoken]
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
    def last(self) -> Spoken:
        return self.messages[-1]


@dataclass(frozen=True)
class Emitted:
    """What the model emits: text and calls as (name, raw arguments); or the server's answer with a status.

    `cut` ends the answer after that many bytes; `slow` waits as many seconds first; `ids` are the calls' ids.
    The server calls `halfway` when half of the answer is sent.
    """

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    stop: str | None = None  # "length", "refusal"
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    slow: float = 0.0
    ids: Sequence[str] | None = None
    halfway: Callable[[], object] | None = None


Brain = Callable[[Asked], Emitted]


def pieces(text: str, size: int = 7) -> list[str]:
    """Split a text as a stream does; an empty text is one piece."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]
