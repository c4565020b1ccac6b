"""A text and where each of its characters stands in the raw text: slices keep an offset, decoded strings a
map.

Goes in: a text and how it came from its parent. Comes out: spans in the raw text. Knows nothing of JSON
values.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import NamedTuple

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)


class Mark(NamedTuple):
    """Where a value stands in its piece: a half-open span, and the marks of what it holds."""

    start: int
    end: int
    children: dict[str, Mark] | list[Mark] | None = None


class Piece:
    """A text with a way back to the raw text: it is the decoded body `parent.text[start:end]` of a string.

    The raw text itself has no parent. Escapes that were kept as they are (`\\d`) shift the way back by a
    character; spans stay inside the string.
    """

    __slots__ = ("_runs", "end", "parent", "start", "text")

    def __init__(self, text: str, parent: Piece | None = None, start: int = 0, end: int = 0) -> None:
        self.text = text
        self.parent = parent
        self.start = start
        self.end = end
        self._runs: tuple[array[int], array[int]] | None = None

    def origin(self, position: int) -> int:
        """The place in the raw text of a place in this one."""
        piece: Piece | None = self
        while piece is not None and piece.parent is not None:
            known, sources = piece.runs()
            run = bisect_right(known, position) - 1
            source = sources[run] + position - known[run]
            if run + 1 < len(sources):
                source = min(source, sources[run + 1])
            position = min(source, len(piece.parent.text))
            piece = piece.parent
        return position

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the raw text that covers a span of this one."""
        return self.origin(start), max(self.origin(start), self.origin(end))

    def runs(self) -> tuple[array[int], array[int]]:
        """Where runs of unescaped characters begin, here and in the parent; most texts never need them."""
        if self._runs is None and self.parent is not None:
            known, sources = array("q", [0]), array("q", [self.start])
            position, last = 0, self.start
            for match in _ESCAPE.finditer(self.parent.text, self.start, self.end):
                start, after = match.span()
                written = match.group()
                kept = written[1] not in '"\\/bfnrtu' or written == "\\u"
                position += start - last + (after - start if kept else 1)
                last = after
                known.append(position)
                sources.append(after)
            self._runs = known, sources
        return self._runs or (array("q", [0]), array("q", [0]))
