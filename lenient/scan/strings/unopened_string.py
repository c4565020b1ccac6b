"""Finds the ends of strings whose opening quote is missing or escaped.

`lenient.scan.strings.escapes` decodes these strings.
"""

from __future__ import annotations

import re

from lenient.regex import compile_regex
from lenient.scan.strings.string_end_scoring import EndFit, StringPlace, score_end
from lenient.scan.strings.string_search import Lookahead

_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_ESCAPED_OPENING = re.compile(r"\\++[\"']")
HOLDS_ESCAPES = compile_regex(r"[{\[]\s*+(?:\\n\s*+)*+\\++\"")
"""An object whose first quote is escaped."""
_PATTERN = re.compile(
    r"\[(?![\s\d\[\]{}\"'“-]|(?:true|false|null|True|False|None)\b)"
    r"[^\]\n\"]{1,64}\](?=[+*?{(\\^$|.\w\[])"
)
_BRACKETED_WORD = re.compile(r"[\[({][^\[\](){}\"'\n]{0,200}+[\])}]\s*+[^\s,;:\]})\"'`\[{]")
_LACKS_BRACKET = compile_regex(
    r"\"(?:[^\"\\\n]|\\.)*+\"(?:\s*+,\s*+\"(?:[^\"\\\n]|\\.)*+\"(?!\s*+[:：]))++\s*+(?:[,}\]]|\Z)"
)
_DOUBLED = re.compile(
    r"''(?=[^'\s,:}\]])[^'\n]*+''(?=\s*+[,:}\]])|``(?=[^`\s,:}\]])[^`\n]*+``(?=\s*+[,:}\]])"
)


def is_pattern_start(text: str, position: int) -> bool:
    """Return True when a character class of a regular expression, not an array, is at `position`."""
    return _PATTERN.match(text, position) is not None


def is_bracketed_word(text: str, position: int) -> bool:
    """Return True when text goes on after the bracket at `position` is closed, as in `(x) and y`."""
    return _BRACKETED_WORD.match(text, position) is not None


def lacks_bracket(text: str, position: int) -> bool:
    """Return True when several strings in a row are at `position`, before a key or the end of the object."""
    return _LACKS_BRACKET.match(text, position) is not None


def find_doubled_end(text: str, start: int) -> int | None:
    """Return the offset of the closing pair when two apostrophes or back-ticks stand for a quote, or None."""
    match = _DOUBLED.match(text, start)
    return None if match is None else match.end() - 2


def find_unopened_end(text: str, start: int, place: StringPlace, ahead: Lookahead) -> int | None:
    """Return the offset of the next quote when it ends the string that begins at `start`, else None.

    `ahead` keeps the offset of the next quote, so that each stretch without quotes is searched once.
    """
    if not start <= ahead.next_quote:
        ahead.next_quote = _find_next_quote(text, start)
    at = ahead.next_quote
    if at >= len(text) or at == start:
        return None
    return at if score_end(text, at + 1, place) >= EndFit.RANDOM else None


def _find_next_quote(text: str, start: int) -> int:
    for match in _QUOTE.finditer(text, start):
        if match.group() == '"':
            return match.start()
    return len(text)


def find_escaped_span(text: str, start: int) -> tuple[int, int, int] | None:
    """Return body start, body end and the offset after a string whose two quotes are escaped alike.

    Return None when there is no such string at `start`.
    """
    opening = _ESCAPED_OPENING.match(text, start)
    if opening is None:
        return None
    end = text.find(opening.group(), opening.end())
    return None if end < 0 else (opening.end(), end, end + len(opening.group()))
