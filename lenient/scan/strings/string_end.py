"""Decides whether a string ends at a quote, by the quotes and brackets before that quote.

Quotes and brackets inside text come in pairs. While a pair is open, more evidence is needed to accept the
end. The caller passes the score of the text after the quote (`EndFit`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from lenient.scan.strings.string_end_scoring import EndFit


class StringClosing(Enum):
    """The way in which a string ends."""

    QUOTE = "quote"
    ESCAPED_QUOTE = "escaped quote"  # the backslash before the closing quote belongs to the text
    NEXT_PART = "next part"  # the closing quote is missing, but what follows shows the end
    TEXT_END = "text end"


@dataclass(frozen=True, slots=True)
class StringEnd:
    """The end of a string: its body is `text[start:body]`, and reading continues at `after`.

    `inner` is the number of unescaped quotes in the body, `first_inner` the offset of the first of them.
    `ambiguous` is True when the text may as well go on after the quote.
    """

    body: int
    after: int
    closing: StringClosing
    inner: int = 0
    first_inner: int = -1
    ambiguous: bool = False

    def find_doubled_quote(self, text: str, start: int) -> int | None:
        """Return the offset of a quote that was typed twice at either end of the body, else None.

        A quote after a digit at the end of the body is no such quote: it stands for feet or inches.
        """
        if self.inner != 1 or self.closing is not StringClosing.QUOTE or self.body - start < 2:
            return None
        if text[start - 1] not in "\"'":
            return None
        if self.first_inner == start:
            return start
        is_last = self.first_inner == self.body - 1 and not text[self.body - 2].isdigit()
        return self.first_inner if is_last else None


class PassedQuotes:
    """The quotes taken for text and the open brackets between a string's start and the current quote."""

    __slots__ = (
        "balance", "counted", "escaped", "escaped_to", "fallback", "fallback_fit", "first",
        "inner", "last", "odd", "start", "text",
    )  # fmt: skip

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = self.counted = start
        self.balance = self.inner = 0
        self.first = self.last = -1
        self.odd = False
        self.escaped = 0  # escaped quotes before `escaped_to`
        self.escaped_to = start
        self.fallback: StringEnd | None = None
        self.fallback_fit = EndFit.NO

    def is_in_escaped_pair(self, at: int, opening: str) -> bool:
        """Return True when a pair of escaped quotes is open at the escaped quote at `at`."""
        self.escaped += self.text.count("\\" + opening, self.escaped_to, at)
        self.escaped_to = at
        return self.escaped % 2 == 1

    def count_brackets(self, at: int) -> int:
        """Count the brackets up to the quote at `at`. Return the number of characters passed."""
        piece = self.text[self.counted : at]
        self.balance += piece.count("{") + piece.count("[") - piece.count("}") - piece.count("]")
        length, self.counted = at + 1 - self.counted, at
        return length

    def accepts_end(self, fit: EndFit, at: int) -> bool:
        """Return True when the string ends at the quote at `at`; `fit` is the score of the text after it.

        Inside inner quotes or brackets, a higher score is needed.
        """
        if fit is EndFit.NO or self.is_apostrophe(at):
            return False
        if not self.inner:
            return True
        if fit is EndFit.IF_FIRST:
            return False
        inside = self.odd and self.balance > 0
        return not inside if fit is not EndFit.RANDOM else not self.odd or not self.opens_pair()

    def choose_end(self, found: StringEnd, fit: EndFit) -> StringEnd:
        """Return the accepted end `found`, or an earlier end when brackets opened after it were never closed.

        The end is marked as ambiguous when the quotes in the body do not form pairs.
        """
        if self.fallback is not None and self.fallback_fit is EndFit.SURE and self.balance > 0:
            return self.fallback
        unpaired = self.odd and self.inner > 1 and self.first == self.start  # or one was typed twice
        if unpaired or (fit < EndFit.SURE and self.odd and self.opens_pair()):
            return replace(found, ambiguous=True)
        return found

    def keep_as_text(self, at: int, fit: EndFit, found: StringEnd) -> None:
        """Count the quote at `at` as text; keep `found` as the fallback when `fit` is the best so far."""
        if fit > max(self.fallback_fit, EndFit.IF_FIRST):
            self.fallback, self.fallback_fit = replace(found, ambiguous=True), fit
        if not self.inner:
            self.first = at
        self.inner += 1
        if not self.is_apostrophe(at):
            self.odd = not self.odd
            self.last = at

    def keep_quotes(self, last: int, times: int) -> None:
        """Count `times` double quotes as text, of which the last is at `last`; no string can end at them."""
        self.count_brackets(last)
        self.inner += times
        self.odd ^= times % 2 == 1
        self.last = last

    def is_apostrophe(self, at: int) -> bool:
        text = self.text
        return (
            text[at] in "'’"
            and text[at - 1].isalnum()
            and text[at + 1 : at + 2].isalnum()
            and at > self.start
        )

    def opens_pair(self) -> bool:
        """Return True when the last quote that was taken for text opens a pair."""
        before, after = self.text[self.last - 1], self.text[self.last + 1 : self.last + 2]
        return not after.isspace() and (
            self.last == self.start or before in " \t\n([{=:,>" or not before.isalnum()
        )
