"""Finds values that a line end breaks.

Terminals, mail programs and people wrap long lines. So a key or a number may continue in the next line,
perhaps with an indent.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ingest.privacy.decoded_views import View
from ingest.privacy.placeholders import Spot, merge_spots

_GLUED = frozenset("+/=.@%~_-?")  # characters of a value that may be next to a line end
# before a line: a line number, or a sign that marks a quotation
_MARGIN = r"[ \t]{0,8}(?:\d{1,6}(?:→|\t|:[ ]?|[ ]?\|[ ]?)|(?:[>|#]{1,3}|//)[ ])"
_BREAK = re.compile(
    rf"\n(?<=[\w+/=.@%~?\r\\ -]\n)(?:(?P<margin>{_MARGIN})[ \t]{{0,40}}(?=\w)"
    r"|[ \t]{0,40}(?=[\w+/=.@%~?-]))"
)
_HAS_MARGIN = re.compile(_MARGIN)
_CHANGED = "+-"  # signs of changed lines in a diff
_TELLING = re.compile(r"[\d@]")  # nearly every value that a line end breaks contains one of these characters
_RUN_USUAL = 60  # characters searched first on each side of a line end
_RUN_LONGEST = 1_200  # largest number of characters searched on each side of a line end
_RUN_SHORTEST = 7
_RUN_LONG = 32  # characters; only a longer run may be a value without a digit
_LINES_MOST = 32  # largest number of lines of one value
_CONTEXT = 64  # characters before a value in which the value's name may be
# text that may follow a value at the end of a line
_ALONE = re.compile(r"""[\s"'`,;)\]}\\<&|]{0,8}(?:\n|\Z)""")
_PART_SHORTEST = 4
_INNER = re.compile(r"\w[.+_-]\w|\d")


def join_lines(text: str, parent: View | None, forced: Collection[int] = ()) -> View | None:
    """Return the text around line ends, with the line ends removed. Return None when no line end can break a
    value.

    The result has only words without blanks, and a little text before each word. Each word is long, contains
    a digit or an @, or surrounds a line end in `forced`. A word over several lines appears several times. In
    one copy all line ends are removed. In each other copy only one line end is removed.
    """
    windows = _find_windows(text, forced)
    if not windows:
        return None
    view = View("", text, parent)
    parts: list[str] = []
    length = last = 0
    for window in windows:
        view.add_piece(length, 1, last, window.begin)
        parts.append("\n")
        length += 1
        last = window.begin
        for start, behind in window.breaks:
            parts.append(text[last:start])
            length += start - last
            view.add_piece(length, 0, start, behind)
            last = behind
        parts.append(text[last : window.end])
        length += window.end - last
        last = window.end
    view.text = "".join([*parts, "\n"])
    return view


class _Window(NamedTuple):
    """A section of a text, and the positions of the line ends to remove from this section."""

    begin: int
    breaks: list[tuple[int, int]]
    end: int


def _find_windows(text: str, forced: Collection[int]) -> list[_Window]:
    windows: list[_Window] = []
    chain: _Window | None = None
    for at, behind in _find_breaks(text):
        before = text[max(0, at - _RUN_USUAL) : at].rsplit(maxsplit=1)[-1]
        after = text[behind : behind + _RUN_USUAL].split(maxsplit=1)[0]
        if at not in forced and not _may_be_value(before + after):
            continue
        left = at - len(before) if len(before) < _RUN_USUAL else _run_start(text, at)
        right = behind + len(after) if len(after) < _RUN_USUAL else _run_end(text, behind)
        window = _Window(max(left - _CONTEXT, 0), [(at, behind)], right)
        windows.append(window)
        if chain is not None and chain.end >= left and len(chain.breaks) < _LINES_MOST:
            chain = _Window(chain.begin, [*chain.breaks, (at, behind)], right)
            continue
        if chain is not None and len(chain.breaks) > 1:
            windows.append(chain)
        chain = window
    if chain is not None and len(chain.breaks) > 1:
        windows.append(chain)
    return windows


def _find_breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the breaks between two lines. A break includes the margin that both lines have."""
    for match in _BREAK.finditer(text):
        at, behind = match.span()
        if text[at - 1] in "\r\\ ":
            while at and text[at - 1] in "\r\\ ":
                at -= 1
            if not at or not (text[at - 1].isalnum() or text[at - 1] in _GLUED):
                continue
        line = text.rfind("\n", max(0, at - _RUN_LONGEST), at) + 1
        # the first line of a text has no line break before it, only a quote
        line = max(line, text.rfind('"', line, at) + 1)
        if text[behind] in _CHANGED and text[line] == text[behind]:
            behind += 1
            while text[behind : behind + 1] in (" ", "\t"):
                behind += 1
            if text[behind : behind + 1].isalnum():
                yield at, behind
        elif not match["margin"] or _HAS_MARGIN.match(text, line):
            yield at, behind


def _may_be_value(joined: str) -> bool:
    """Return False when the joined text around a line end is short and plain, like words."""
    length = len(joined)
    return length >= _RUN_LONG or (
        length >= _RUN_SHORTEST and not joined.isalpha() and _TELLING.search(joined) is not None
    )


def _run_start(text: str, end: int) -> int:
    return end - len(text[max(0, end - _RUN_LONGEST) : end].rsplit(maxsplit=1)[-1])


def _run_end(text: str, start: int) -> int:
    return start + len(text[start : start + _RUN_LONGEST].split(maxsplit=1)[0])


class WholeValues:
    """The matches that were found before lines were joined. `view` is the text with its original lines."""

    def __init__(self, spots: Sequence[Spot], text: str, view: View | None) -> None:
        ends = (spot.last if view else spot.end for spot in spots if spot.view is view)
        self.line_ends = frozenset(end for end in ends if text[end : end + 1] in ("\n", "\r", "\\"))
        self._ends = {spot.end for spot in spots}
        merged = list(merge_spots(spots))
        self._starts = [start for start, _ in merged]
        self._until = [spot.end for _, spot in merged]

    def trim(self, joined: View, start: int, end: int, *, labelled: bool) -> tuple[int, int] | None:
        """Return the part of a match in joined lines that is the value. Return None when no line end breaks
        the value.

        If the first line already contains a value, or only a label identifies the value, the next line must
        look like the rest of the value.
        """
        breaks: list[int] = []
        for at, width in joined.pieces_within(start, end):
            if width:  # the value ends where the next section of the text begins
                end = at
                break
            breaks.append(at)
        if not breaks:
            return None
        first, last = joined.locate(start, end)
        if last in self._ends and not _INNER.search(joined.text, start, breaks[0]):
            return None
        needed = 0 if self._covers(first) or labelled else 1
        while len(breaks) > needed and not _goes_on(joined, breaks[-1], end):
            end = breaks.pop()
        return (start, end) if breaks else None

    def _covers(self, place: int) -> bool:
        before = bisect_right(self._starts, place) - 1
        return before >= 0 and place < self._until[before]


def _goes_on(joined: View, start: int, end: int) -> bool:
    part = joined.text[start:end]
    if "=" in part.rstrip("=") or ":" in part:
        return False
    behind = joined.source_end(end)
    if joined.source[behind : behind + 1] == "&":
        return True
    if len(part) >= _PART_SHORTEST and any(map(str.isdigit, part)) and any(map(str.isalpha, part)):
        return True
    return _ALONE.match(joined.source, behind) is not None
