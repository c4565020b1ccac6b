"""A key whose quotes are not where they belong → its name and where reading goes on.

`{path": 1}`, `{"path: 1}` and `{"path:" 1}` lost a quote or drew the colon in. Knows nothing of values.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from lenient.repair.follows import BLANKS, NEXT_KEY, VALUE_START

_LAST_QUOTE = re.compile(r"[\"'”’`]\s*+[:：]")
_COLON_INSIDE = re.compile(r"(-{0,2}[^\W\d][\w$.\-]{0,63})([“”„‘’'`＂]?)\s*+[:：]")
_COLON = re.compile(r"\s*+[:：=]")
_NO_TEXT = re.compile(r"\s*+(?:[\[{\"']|-?\d[\d.eE+\-]*+\s*+[,}\n]|(?:true|false|null)\b\s*+[,}\n])")
_WRITTEN_COLON = re.compile(rf"[:：﹕]{BLANKS}[:：﹕]|:=|=>|->|=|[:：﹕]|-(?=\s)")
_EXTRA_FIRST = re.compile(r"([\"'])(?=\1[\w$][^\"'\n]{0,64}\1\s*+[:：])")
_EXTRA_LAST = re.compile(r"[\"'](?=\s*+[:：])")
_SYMBOL = re.compile(r":\w++\s*+=>")


class Misquoted(NamedTuple):
    """The key's name, the place to read on from, the mend and its span. `colon` = the colon was passed."""

    name: str
    after: int
    code: str
    start: int
    end: int
    colon: bool


def without_first_quote(text: str, end: int) -> bool:
    """Does a quote and a colon follow the bare name that ends here?"""
    return _LAST_QUOTE.match(text, end) is not None


def with_colon_inside(text: str, start: int, after: int, declared: Collection[str]) -> Misquoted | None:
    """What the key is when the quotes found, from `start` to `after`, took a colon in.

    None when they hold the whole key: a colon follows them, or the name before theirs is not declared.
    """
    inside = _COLON_INSIDE.match(text, start + 1)
    if inside is None or inside.end() > after or _COLON.match(text, after):
        return None
    name, colon = inside.group(1), inside.end() - 1
    if declared and name not in declared:
        return None
    if inside.group(2):
        end = inside.end(2)
        return Misquoted(name, end, "smart_quotes", start, end, colon=False)
    if inside.end() == after - 1 and VALUE_START.match(text, after) and text[after] not in "tfnTFN":
        return Misquoted(name, after, "wrong_separator", colon, after, colon=True)
    if _NO_TEXT.match(text, inside.end()):
        end = start + 1 + len(name)
        return Misquoted(name, end, "missing_closing_quote", end, end, colon=False)
    return None


def is_no_object(text: str, start: int, end: int) -> bool:
    """Is what a brace holds a lone word, or several, up to `end`? A set or a sentence has no keys."""
    sign = text[end : end + 1]
    if ":" in text[start:end]:
        return False
    return sign in ("}", "]") or (sign == "," and NEXT_KEY.match(text, end + 1) is None)


def written_colon(text: str, at: int) -> str | None:
    """The sign that stands for a colon here: one, two, or that of another language."""
    match = _WRITTEN_COLON.match(text, at)
    return match.group() if match else None


def extra_first_quote(text: str, at: int) -> bool:
    """Is the first of two quotes before a key one too many?"""
    return _EXTRA_FIRST.match(text, at) is not None


def extra_last_quote(text: str, at: int) -> bool:
    """Does one more quote stand between a key and its colon?"""
    return _EXTRA_LAST.match(text, at) is not None


def is_symbol(text: str, at: int) -> bool:
    """Does a Ruby symbol stand here as a key?"""
    return _SYMBOL.match(text, at) is not None
