"""The result of one reader on one text, in the same form for every reader, and the interface of a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of a reader: its own code, half-open span in characters (None = not reported) and path.

    `warns` is True for an error or a loss of meaning, after which a caller must not run the call without
    asking.
    """

    code: str
    start: int | None = None
    end: int | None = None
    path: str | None = None
    warns: bool = False
    error: bool = False
    of_text: bool = True  # about the text, not about a value that changed type


@dataclass(frozen=True, slots=True)
class Reading:
    """The value read, or the reason why there is none (`refusal`), and the reports about it."""

    value: Any = None
    refusal: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The object read; None for a refusal, a text or a list, because a tool needs an object."""
        return self.value if self.refusal is None and isinstance(self.value, dict) else None


@dataclass(frozen=True, slots=True)
class Tool:
    """The name of a tool and the JSON Schema of its arguments."""

    name: str
    schema: Mapping[str, Any]


Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader prepared for one tool: `read` is timed, `reading` converts its result to our form."""

    read: Read
    reading: Callable[[Any, Any], Reading]  # (raw, result of read)
