"""A text and where each of its characters stands in the raw text: slices keep an offset, decoded strings a
map.

Goes in: a text and how it came from its parent. Comes out: spans in the raw text. Knows nothing of JSON
values.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)


class Mark(NamedTuple):
    """Where a value stands in its piece: a half-open span, and the marks of what it holds."""

    start: int
    end: int
    children: dict[str, Mark] | list[Mark] | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with a way back to the raw text.

    `known` are positions of this text at which a run of unescaped characters begins, `sources` the same
    places in `parent`. The raw text itself has no parent.
    """

    text: str
    parent: Piece | None = None
    known: tuple[int, ...] = (0,)
    sources: tuple[int, ...] = (0,)

    def origin(self, position: int) -> int:
        """The place in the raw text of a place in this one."""
        piece: Piece | None = self
        while piece is not None and piece.parent is not None:
            run = bisect_right(piece.known, position) - 1
            source = piece.sources[run] + position - piece.known[run]
            if run + 1 < len(piece.sources):
                source = min(source, piece.sources[run + 1])
            position = min(source, len(piece.parent.text))
            piece = piece.parent
        return position

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span in the raw text that covers a span of this one."""
        return self.origin(start), max(self.origin(start), self.origin(end))


def decoded_piece(parent: Piece, start: int, end: int, text: str) -> Piece:
    """The piece for `text`, which is the string body `parent.text[start:end]` with its escapes decoded.

    Escapes that were kept as they are (`\\d`) shift the map by a character; spans stay inside the string.
    """
    known, sources, position = [0], [start], 0
    last = start
    for match in _ESCAPE.finditer(parent.text, start, end):
        position += match.start() - last
        kept = match.group()[1] not in '"\\/bfnrtu' or match.group() == "\\u"
        position += len(match.group()) if kept else 1
        last = match.end()
        known.append(position)
        sources.append(last)
    return Piece(text, parent, tuple(known), tuple(sources))
