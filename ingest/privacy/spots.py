"""What every detector is given and gives: a text to look at, and the spots found in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPED_LETTER = r"\\+u[0-9a-fA-F]{4}"  # as JSON writes `é` when it must be ASCII
_ESCAPE = re.compile(r"\\+[bfnrt]")


class Spot(NamedTuple):
    """Characters `start` to `end` (half open) are a value of type `kind`."""

    start: int
    end: int
    kind: str


class Looked(NamedTuple):
    """A text, and the same in lower case with `?` for what is not ASCII, in which needles are found fast."""

    text: str
    lower: str

    @classmethod
    def at(cls, text: str) -> Looked:
        return cls(text, text.encode("ascii", "replace").lower().decode("ascii"))

    def places(self, needle: str) -> Iterator[int]:
        """Where a needle (in lower case) stands; places do not overlap."""
        position = self.lower.find(needle)
        while position >= 0:
            yield position
            position = self.lower.find(needle, position + len(needle))

    def after_escape(self, start: int) -> int:
        """Where a value begins that seems to begin with an escape's letter: `\\nalice@` is no `nalice@`."""
        before = self.text[start - 1 : start]
        return start + 1 if before == "\\" and _ESCAPE.match(self.text, start - 1) else start


Find = Callable[[Looked], Iterator[Spot]]


class Detector(NamedTuple):
    """`find` is asked only about texts that hold one of `needles` (in lower case; by default all do)."""

    find: Find
    needles: tuple[str, ...] = ("",)
