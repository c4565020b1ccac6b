"""Text in quotes of which the first is missing or escaped → its body and its end.

Knows nothing of values; what it finds is decoded by `lenient.repair.bodies`.
"""

from __future__ import annotations

import re

from lenient.repair.follows import Fit, Place, fit_of
from lenient.repair.strings import Lookahead

_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_ESCAPED_OPENING = re.compile(r"\\++[\"']")
HOLDS_ESCAPES = re.compile(r"[{\[]\s*+(?:\\n\s*+)*+\\++\"")
"""An object whose first quote is escaped."""
_PATTERN = re.compile(
    r"\[(?![\s\d\[\]{}\"'“-]|(?:true|false|null|True|False|None)\b)"
    r"[^\]\n\"]{1,64}\](?=[+*?{(\\^$|.\w\[])"
)
_LACKS_BRACKET = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"(?:\s*+,\s*+\"(?:[^\"\\\n]|\\.)*+\"(?!\s*+[:：]))++\s*+(?:[,}\]]|\Z)"
)
_DOUBLED = re.compile(
    r"''(?=[^'\s,:}\]])[^'\n]*+''(?=\s*+[,:}\]])|``(?=[^`\s,:}\]])[^`\n]*+``(?=\s*+[,:}\]])"
)


def opens_pattern(text: str, position: int) -> bool:
    """Does a character class of a regular expression stand here rather than an array?"""
    return _PATTERN.match(text, position) is not None


def lacks_bracket(text: str, position: int) -> bool:
    """Do several strings in a row stand here, a key or the end of the object after them?"""
    return _LACKS_BRACKET.match(text, position) is not None


def doubled_end(text: str, start: int) -> int | None:
    """Where the closing pair stands when two apostrophes, or two back-ticks, stand for a quote."""
    match = _DOUBLED.match(text, start)
    return None if match is None else match.end() - 2


def unopened_end(text: str, start: int, place: Place, ahead: Lookahead) -> int | None:
    """The place of the quote that ends the text from `start` on, None when the next quote does not.

    Each stretch without quotes is searched once.
    """
    if not start <= ahead.next_quote:
        ahead.next_quote = _next_quote(text, start)
    at = ahead.next_quote
    if at >= len(text) or at == start:
        return None
    return at if fit_of(text, at + 1, place) >= Fit.RANDOM else None


def _next_quote(text: str, start: int) -> int:
    for match in _QUOTE.finditer(text, start):
        if match.group() == '"':
            return match.start()
    return len(text)


def escaped_span(text: str, start: int) -> tuple[int, int, int] | None:
    """Body start, body end and the place after a string whose two quotes are escaped alike."""
    opening = _ESCAPED_OPENING.match(text, start)
    if opening is None:
        return None
    end = text.find(opening.group(), opening.end())
    return None if end < 0 else (opening.end(), end, end + len(opening.group()))
