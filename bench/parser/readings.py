"""A parser's result for one input, in the same form for every parser, and the interface of a parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One report of a parser: the parser's own code, a half-open span in characters and a position in the
    arguments.

    None means that the parser does not report this field. `warns` is True for an error or a loss of meaning,
    after which a caller must ask before calling the tool.
    """

    code: str
    start: int | None = None
    end: int | None = None
    path: str | None = None
    warns: bool = False
    error: bool = False
    of_text: bool = True  # True if the report is about the text, not about a converted value


@dataclass(frozen=True, slots=True)
class Reading:
    """The value that was read, and the reports of the parser.

    If no value was read, `refusal` is the reason.
    """

    value: Any = None
    refusal: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The object that was read.

        The value is None for a refusal, a string or a list, because a tool needs an object.
        """
        return self.value if self.refusal is None and isinstance(self.value, dict) else None


@dataclass(frozen=True, slots=True)
class Tool:
    """The name of a tool and the JSON Schema of its arguments."""

    name: str
    schema: Mapping[str, Any]


Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """A parser prepared for one tool.

    `read` is timed, and `reading` converts the result of `read` to our form.
    """

    read: Read
    reading: Callable[[Any, Any], Reading]  # its parameters are the raw text and the result of `read`
