"""Decides whether a string ends at a quote, by the quotes and brackets passed on the way.

Quotes and brackets inside text come in pairs: while one is open, it takes more to believe in the end.
How well the text behind it fits is told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from lenient.scan.strings.string_end_scoring import EndFit


class StringClosing(Enum):
    """How a string ends."""

    QUOTE = "quote"
    ESCAPED_QUOTE = "escaped quote"  # the backslash before the closing quote belongs to the text
    NEXT_PART = "next part"  # the closing quote is missing, but what follows shows the end
    TEXT_END = "text end"


@dataclass(frozen=True, slots=True)
class StringEnd:
    """The body is `text[start:body]`; reading goes on at `after`.

    `inner` unescaped quotes are part of the body, the first of them at `first_inner`. `ambiguous`: the text
    may as well go on after the quote.
    """

    body: int
    after: int
    closing: StringClosing
    inner: int = 0
    first_inner: int = -1
    ambiguous: bool = False

    def find_doubled_quote(self, text: str, start: int) -> int | None:
        """Return the place of a quote that was typed twice, at either end.

        Feet and inches end in their own.
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
    """What was passed on the way to a quote: the quotes taken for text, and how many brackets are open."""

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
        """Return True when a pair of escaped quotes is open at this one."""
        self.escaped += self.text.count("\\" + opening, self.escaped_to, at)
        self.escaped_to = at
        return self.escaped % 2 == 1

    def count_brackets(self, at: int) -> int:
        """Count the brackets up to a quote. Returns how many characters were passed."""
        piece = self.text[self.counted : at]
        self.balance += piece.count("{") + piece.count("[") - piece.count("}") - piece.count("]")
        length, self.counted = at + 1 - self.counted, at
        return length

    def accepts_end(self, fit: EndFit, at: int) -> bool:
        """Return True when the string ends at this quote.

        Inside inner quotes or brackets it takes more to say so.
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
        """Return the end accepted, or one passed before where the brackets opened since were never closed."""
        if self.fallback is not None and self.fallback_fit is EndFit.SURE and self.balance > 0:
            return self.fallback
        unpaired = self.odd and self.inner > 1 and self.first == self.start  # or one was typed twice
        if unpaired or (fit < EndFit.SURE and self.odd and self.opens_pair()):
            return replace(found, ambiguous=True)
        return found

    def keep_as_text(self, at: int, fit: EndFit, found: StringEnd) -> None:
        """Take the quote for text."""
        if fit > max(self.fallback_fit, EndFit.IF_FIRST):
            self.fallback, self.fallback_fit = replace(found, ambiguous=True), fit
        if not self.inner:
            self.first = at
        self.inner += 1
        if not self.is_apostrophe(at):
            self.odd = not self.odd
            self.last = at

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
