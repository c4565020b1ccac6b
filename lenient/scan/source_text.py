"""A string with its position in the raw arguments, and decoded values with their spans in the string.

After a repair, `SourceText` maps each offset to the raw arguments, so that a diagnostic points to what the
model sent.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import Any, NamedTuple

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import MAX_FOUND
from lenient.regex import compile_regex

_ESCAPE = compile_regex(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_NEW = tuple.__new__  # calling the named tuple takes twice as long


class ValueSpan(NamedTuple):
    """The half-open span of a value, and the spans of its members or items (`children`)."""

    start: int
    end: int
    children: dict[str, ValueSpan] | list[ValueSpan] | None = None


class SourceText:
    r"""A string whose offsets can be mapped to the raw arguments.

    The string is usually the decoded body of a string value, `parent.text[start:end]`. The raw arguments have
    no parent. An escape that was not decoded (`\d`) shifts the mapped offset by one character, but spans stay
    inside the string. For any other content, `runs` are the offsets that `find_runs` returns.
    """

    __slots__ = ("_runs", "end", "parent", "start", "text")

    def __init__(
        self,
        text: str,
        parent: SourceText | None = None,
        start: int = 0,
        end: int = 0,
        *,
        runs: tuple[array[int], array[int]] | None = None,
    ) -> None:
        self.text = text
        self.parent = parent
        self.start = start
        self.end = end
        self._runs = runs

    def to_raw(self, position: int) -> int:
        """Return the offset in the raw arguments that corresponds to an offset in this string."""
        piece: SourceText | None = self
        while piece is not None and piece.parent is not None:
            starts, sources = piece.find_runs()
            run = bisect_right(starts, position) - 1
            source = sources[run] + position - starts[run]
            position = min(source, len(piece.parent.text))
            piece = piece.parent
        return position

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the raw arguments that covers the span from `start` to `end` in this string."""
        if self.parent is None:
            return start, end
        first = self.to_raw(start)
        return first, max(first, self.to_raw(end))

    def find_runs(self) -> tuple[array[int], array[int]]:
        """Return the offsets at which runs of unescaped characters begin, in this string and the parent."""
        if self._runs is None and self.parent is not None:
            starts, sources = array("q", [0]), array("q", [self.start])
            position, last = 0, self.start
            for match in _ESCAPE.finditer(self.parent.text, self.start, self.end):
                start, after = match.span()
                written = match.group()
                is_kept = written[1] not in '"\\/bfnrtu' or written == "\\u"
                position += start - last + (after - start if is_kept else 1)
                last = after
                starts.append(position)
                sources.append(after)
            self._runs = starts, sources
        return self._runs or (array("q", [0]), array("q", [0]))


# --- decoded values ------------------------------------------------------------------------------------


class LocatedValue(NamedTuple):  # creating a frozen dataclass takes five times as long
    """A decoded value, the value's span (`mark`) and the string that contains the value (`piece`).

    `strict` is True when the string is valid JSON. `settled` is True when the value fits the definition
    unchanged. The spans of inner values may then be missing.
    """

    value: Any
    mark: ValueSpan
    piece: SourceText
    strict: bool
    settled: bool = False

    def child(self, step: str | int) -> LocatedValue:
        """Return the member with the key `step`, or the item with the index `step`, with its span."""
        children: Any = self.mark.children
        return _NEW(LocatedValue, (self.value[step], children[step], self.piece, self.strict, False))

    def text(self) -> str:
        """Return the value as a string.

        Strings and numbers are returned as they were sent, and so are objects and arrays in valid JSON. In
        broken JSON, objects and arrays are serialised again. `true`, `false` and `null` are always serialised
        again.
        """
        if isinstance(self.value, (dict, list)):
            return (
                self.piece.text[self.mark.start : self.mark.end] if self.strict else to_json_text(self.value)
            )
        if isinstance(self.value, bool) or self.value is None:
            return to_json_text(self.value)
        return self.piece.text[self.mark.start : self.mark.end]

    def snippet(self) -> str:
        """Return the first MAX_FOUND + 1 characters of the value, for a diagnostic."""
        start, end, _ = self.mark
        return self.piece.text[start : min(end, start + MAX_FOUND + 1)]
