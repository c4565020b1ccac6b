"""What one reader made of one text, in one shape for every reader, and the shape of a reader.

Knows neither the readers nor the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a reader says it did: its own code, half-open span in characters (None = not said) and path.

    `warns` is True for what tells a caller not to run the call unasked: an error, or a loss of meaning.
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
    """The value read, or why there is none (`refusal`), and what was said about it."""

    value: Any = None
    refusal: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The object read; None for a refusal. Whoever runs tools takes no text or list for arguments."""
        return self.value if self.refusal is None and isinstance(self.value, dict) else None


@dataclass(frozen=True, slots=True)
class Tool:
    """The name of a tool and the JSON Schema of its arguments."""

    name: str
    schema: Mapping[str, Any]


Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader made ready for one tool: `read` is what is timed, `reading` puts its result into our shape."""

    read: Read
    reading: Callable[[Any, Any], Reading]  # (raw, result of read)
