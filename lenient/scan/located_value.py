"""A decoded value with its place: what a diagnostic needs to show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import MAX_FOUND
from lenient.scan.source_text import SourceText, ValueSpan


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """A decoded value, where it stands, and in which text.

    `strict`: the text is valid JSON. `settled`: the value fits its definition as it is, and nothing in it was
    located.
    """

    value: Any
    mark: ValueSpan
    piece: SourceText
    strict: bool
    settled: bool = False

    def child(self, step: str | int) -> LocatedValue:
        """Return the value of a field or the item of a list."""
        children: Any = self.mark.children
        return LocatedValue(self.value[step], children[step], self.piece, self.strict)

    def text(self) -> str:
        """Return the value's JSON text: as it was sent where that is JSON, else as JSON would write it."""
        if isinstance(self.value, (dict, list)):
            return (
                self.piece.text[self.mark.start : self.mark.end] if self.strict else to_json_text(self.value)
            )
        if isinstance(self.value, bool) or self.value is None:
            return to_json_text(self.value)
        return self.piece.text[self.mark.start : self.mark.end]

    def snippet(self) -> str:
        """Return the start of the value's text, for a person."""
        return self.piece.text[self.mark.start : min(self.mark.end, self.mark.start + MAX_FOUND + 1)]
