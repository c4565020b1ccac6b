"""The types that detectors share: the searched text, a match in this text, and the detector."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPED_LETTER = r"\\+u[0-9a-fA-F]{4}"  # the letter `é` as an escape of ASCII JSON
_SHAPES = bytes(
    49 if chr(byte).isdecimal() else 97 if chr(byte).isalpha() else byte for byte in range(128)
) + bytes(range(128, 256))
_RUNS = bytes(97 if bytes([byte]).isalnum() or byte in b"_-" else 32 for byte in range(256))
_ESCAPE = re.compile(r"\\+[bfnrt]")


class Match(NamedTuple):
    """A value of type `kind` in a text, from the character at `start` to the character before `end`."""

    start: int
    end: int
    kind: str


class SearchedText:
    """A text that detectors search.

    `lower` is the text in lower case with `?` for each character outside ASCII. `shape` has `a` for each
    letter and `1` for each digit. `runs` has `a` for each character that an access token may contain, and
    blanks for other characters. `first` has the first position of each needle (a string that a detector
    searches for).
    """

    __slots__ = ("first", "lower", "runs", "shape", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        flat = text.encode("ascii", "replace")
        self.lower = flat.lower().decode("ascii")
        self.shape = flat.translate(_SHAPES)
        self.runs = flat.translate(_RUNS)
        self.first: dict[str, int] = {}

    def find_needle(self, needle: str) -> Iterator[int]:
        """Yield the offsets at which a needle of a `Detector` occurs. The occurrences do not overlap."""
        position = self.first.get(needle, -1)
        while position >= 0:
            yield position
            position = self.lower.find(needle, position + len(needle))

    def skip_escape(self, start: int) -> int:
        r"""Return `start + 1` when the character at `start` is the letter of an escape. Otherwise return
        `start`.

        In `\nalice@` the value begins with `alice`, not with `nalice`.
        """
        before = self.text[start - 1 : start]
        return start + 1 if before == "\\" and _ESCAPE.match(self.text, start - 1) else start


Find = Callable[[SearchedText], Iterator[Match]]


def has_digits(looked: SearchedText) -> bool:
    """Return True for a text that has four consecutive digits."""
    return b"1111" in looked.shape


class Detector(NamedTuple):
    """A function that finds matches in a text.

    `find` is called only for texts that contain one of `needles` (in lower case) or for which `guard` returns
    True. Without needles and guard, `find` is called for all texts. `labelled` means that a value is
    recognised by a label next to the value, not by its form.
    """

    find: Find
    needles: tuple[str, ...] = ()
    labelled: bool = False
    guard: Callable[[SearchedText], bool] | None = None


class LabelDetector(NamedTuple):
    """Finds a secret by a fixed text next to the secret (the needle).

    `pattern` is matched at the needle, or `before` characters earlier. The group with the number `group` is
    the secret. The pattern may search `longest` characters after the needle, so that hostile text cannot take
    long.
    """

    kind: str
    needle: str
    pattern: re.Pattern[str]
    group: int = 1
    longest: int = 1_200
    before: int = 0  # characters of the match that are before the needle

    def find(self, looked: SearchedText) -> Iterator[Match]:
        for place in looked.find_needle(self.needle):
            match = self.pattern.match(looked.text, max(0, place - self.before), place + self.longest)
            if match:
                yield Match(*match.span(self.group), self.kind)
