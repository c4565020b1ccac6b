"""What every detector gets and returns: a text to look at, and the matches in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPED_LETTER = r"\\+u[0-9a-fA-F]{4}"  # as JSON writes `é` when it must be ASCII
_ESCAPE = re.compile(r"\\+[bfnrt]")


class Match(NamedTuple):
    """Characters `start` to `end` (half open) are a value of type `kind`."""

    start: int
    end: int
    kind: str


class SearchedText(NamedTuple):
    """A text, and the same in lower case with `?` for what is not ASCII, in which needles are found fast."""

    text: str
    lower: str

    @classmethod
    def from_text(cls, text: str) -> SearchedText:
        return cls(text, text.encode("ascii", "replace").lower().decode("ascii"))

    def find_needle(self, needle: str) -> Iterator[int]:
        """Yield where a needle (in lower case) stands; the places do not overlap."""
        position = self.lower.find(needle)
        while position >= 0:
            yield position
            position = self.lower.find(needle, position + len(needle))

    def skip_escape(self, start: int) -> int:
        r"""Return where a value begins that seems to begin with an escape's letter: `\nalice@` is no
        `nalice@`.
        """
        before = self.text[start - 1 : start]
        return start + 1 if before == "\\" and _ESCAPE.match(self.text, start - 1) else start


Find = Callable[[SearchedText], Iterator[Match]]


class Detector(NamedTuple):
    """`find` is asked only about texts that hold one of `needles` (in lower case; by default all texts)."""

    find: Find
    needles: tuple[str, ...] = ("",)
