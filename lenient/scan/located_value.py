"""A decoded value with its span in the text, so that a diagnostic can quote the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import MAX_FOUND
from lenient.scan.source_text import SourceText, ValueSpan


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """A decoded value, its span (`mark`) and the text that contains the value (`piece`).

    `strict` is True when the text is valid JSON. `settled` is True when the value fits its definition
    unchanged; the spans of inner values may then be absent.
    """

    value: Any
    mark: ValueSpan
    piece: SourceText
    strict: bool
    settled: bool = False

    def child(self, step: str | int) -> LocatedValue:
        """Return the member with the key `step`, or the item with the index `step`, with its span."""
        children: Any = self.mark.children
        return LocatedValue(self.value[step], children[step], self.piece, self.strict)

    def text(self) -> str:
        """Return the text of the value.

        Strings and numbers are returned as written. Objects and arrays are returned as written when the text
        is valid JSON, else serialised again. `true`, `false` and `null` are always serialised again.
        """
        if isinstance(self.value, (dict, list)):
            return (
                self.piece.text[self.mark.start : self.mark.end] if self.strict else to_json_text(self.value)
            )
        if isinstance(self.value, bool) or self.value is None:
            return to_json_text(self.value)
        return self.piece.text[self.mark.start : self.mark.end]

    def snippet(self) -> str:
        """Return the first MAX_FOUND + 1 characters of the value's text, for display in a diagnostic."""
        return self.piece.text[self.mark.start : min(self.mark.end, self.mark.start + MAX_FOUND + 1)]
