"""The types that detectors share: the text to search, the matches found in it, and the detector."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPED_LETTER = r"\\+u[0-9a-fA-F]{4}"  # as JSON writes `é` when it must be ASCII
_ESCAPE = re.compile(r"\\+[bfnrt]")


class Match(NamedTuple):
    """A value of type `kind` at the characters `start` to `end` (half open) of a text."""

    start: int
    end: int
    kind: str


class SearchedText(NamedTuple):
    """A text to search.

    `lower` is the same text in lower case with `?` for each character outside ASCII; fixed texts are found
    fast in it.
    """

    text: str
    lower: str

    @classmethod
    def from_text(cls, text: str) -> SearchedText:
        return cls(text, text.encode("ascii", "replace").lower().decode("ascii"))

    def find_needle(self, needle: str) -> Iterator[int]:
        """Yield the offsets of a fixed text (in lower case); matches do not overlap."""
        position = self.lower.find(needle)
        while position >= 0:
            yield position
            position = self.lower.find(needle, position + len(needle))

    def skip_escape(self, start: int) -> int:
        r"""Return `start`, or `start + 1` when the character at `start` is the letter of an escape.

        In `\nalice@` the value begins with `alice`, not with `nalice`.
        """
        before = self.text[start - 1 : start]
        return start + 1 if before == "\\" and _ESCAPE.match(self.text, start - 1) else start


Find = Callable[[SearchedText], Iterator[Match]]


class Detector(NamedTuple):
    """A function that finds matches in a text.

    `find` is called only for texts that contain one of `needles` (in lower case); by default for all texts.
    """

    find: Find
    needles: tuple[str, ...] = ("",)
