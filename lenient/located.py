"""A decoded value with its place: what a diagnostic about a value needs to show it. Knows nothing of
definitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lenient.diagnostics import MAX_FOUND
from lenient.json_values import compact
from lenient.source import Mark, Piece


@dataclass(frozen=True, slots=True)
class Located:
    """A decoded value, where it stands, and in which text. `strict` = that text is valid JSON; `settled` =
    the value fits its definition as it is, and nothing in it was located.
    """

    value: Any
    mark: Mark
    piece: Piece
    strict: bool
    settled: bool = False

    def child(self, step: str | int) -> Located:
        """The value of a field or the item of a list."""
        children: Any = self.mark.children
        return Located(self.value[step], children[step], self.piece, self.strict)

    def text(self) -> str:
        """The value's JSON text: as it was sent where that is JSON, else as JSON would write it."""
        if isinstance(self.value, (dict, list)):
            return self.piece.text[self.mark.start : self.mark.end] if self.strict else compact(self.value)
        if isinstance(self.value, bool) or self.value is None:
            return compact(self.value)
        return self.piece.text[self.mark.start : self.mark.end]

    def snippet(self) -> str:
        """The start of the value's text, for a person."""
        return self.piece.text[self.mark.start : min(self.mark.end, self.mark.start + MAX_FOUND + 1)]
