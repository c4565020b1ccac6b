"""The types that detectors share: the text to search, the matches found in it, and the detector."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPED_LETTER = r"\\+u[0-9a-fA-F]{4}"  # as JSON writes `é` when it must be ASCII
_SHAPES = bytes(
    49 if chr(byte).isdecimal() else 97 if chr(byte).isalpha() else byte for byte in range(128)
) + bytes(range(128, 256))
_ESCAPE = re.compile(r"\\+[bfnrt]")


class Match(NamedTuple):
    """A value of type `kind` at the characters `start` to `end` (half open) of a text."""

    start: int
    end: int
    kind: str


class SearchedText:
    """A text to search.

    `lower` is the same text in lower case with `?` for each character outside ASCII; fixed texts are found
    fast in it. `shape` has `a` for each letter of it and `1` for each digit.
    """

    __slots__ = ("_shape", "flat", "lower", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = text.encode("ascii", "replace").lower()  # `lower` as bytes
        self.lower = self.flat.decode("ascii")
        self._shape: bytes | None = None

    @property
    def shape(self) -> bytes:
        if self._shape is None:
            self._shape = self.flat.translate(_SHAPES)
        return self._shape

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
    `labelled`: what it finds has no form of its own, but something beside it that tells what it is.
    """

    find: Find
    needles: tuple[str, ...] = ("",)
    labelled: bool = False


class LabelDetector(NamedTuple):
    """Finds a secret by a fixed text beside it (the needle).

    `pattern` is matched at the needle, or `before` characters earlier; its group number `group` is the
    secret. `longest` is the number of characters that the pattern may look at after the needle: looking at
    more would let hostile text cost too much.
    """

    kind: str
    needle: str
    pattern: re.Pattern[str]
    group: int = 1
    longest: int = 1_200
    before: int = 0  # characters of the value before the needle

    def find(self, looked: SearchedText) -> Iterator[Match]:
        for place in looked.find_needle(self.needle):
            found = self.pattern.match(looked.text, max(0, place - self.before), place + self.longest)
            if found:
                yield Match(*found.span(self.group), self.kind)
