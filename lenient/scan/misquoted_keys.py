"""Reads keys whose quotes are not where they belong.

`{path": 1}`, `{"path: 1}` and `{"path:" 1}` lost a quote or drew the colon in.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from lenient.scan.strings.string_end_scoring import BLANKS, NEXT_KEY, VALUE_START

_LAST_QUOTE = re.compile(r"[\"'”’`]\s*+[:：]")
_COLON_INSIDE = re.compile(r"(-{0,2}[^\W\d][\w$.\-]{0,63})([“”„‘’'`＂]?)\s*+[:：]")
_COLON = re.compile(r"\s*+[:：=]")
_NO_TEXT = re.compile(r"\s*+(?:[\[{\"']|-?\d[\d.eE+\-]*+\s*+[,}\n]|(?:true|false|null)\b\s*+[,}\n])")
_WRITTEN_COLON = re.compile(rf"[:：﹕]{BLANKS}[:：﹕]|:=|=>|->|=|[:：﹕]|-(?=\s)")
_EXTRA_FIRST = re.compile(r"([\"'])(?=\1[\w$][^\"'\n]{0,64}\1\s*+[:：])")
_EXTRA_LAST = re.compile(r"[\"'](?=\s*+[:：])")
_SYMBOL = re.compile(r":\w++\s*+=>")


class MisquotedKey(NamedTuple):
    """The key's name, the place to read on from, the mend and its span. `colon`: the colon was passed."""

    name: str
    after: int
    code: str
    start: int
    end: int
    colon: bool


def read_key_without_first_quote(text: str, end: int) -> bool:
    """Read a bare name that ends here when a quote and a colon follow it."""
    return _LAST_QUOTE.match(text, end) is not None


def read_key_with_colon_inside(
    text: str, start: int, after: int, declared: Collection[str]
) -> MisquotedKey | None:
    """Read the key of quotes that took a colon in, from `start` to `after`.

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
        return MisquotedKey(name, end, "smart_quotes", start, end, colon=False)
    if inside.end() == after - 1 and VALUE_START.match(text, after) and text[after] not in "tfnTFN":
        return MisquotedKey(name, after, "wrong_separator", colon, after, colon=True)
    if _NO_TEXT.match(text, inside.end()):
        end = start + 1 + len(name)
        return MisquotedKey(name, end, "missing_closing_quote", end, end, colon=False)
    return None


def holds_no_key(text: str, start: int, end: int) -> bool:
    """Return True when a brace holds only words up to `end`: a set or a sentence has no keys."""
    sign = text[end : end + 1]
    if ":" in text[start:end]:
        return False
    return sign in ("}", "]") or (sign == "," and NEXT_KEY.match(text, end + 1) is None)


def find_colon(text: str, at: int) -> str | None:
    """Return the sign that stands for a colon here: one, two, or that of another language."""
    match = _WRITTEN_COLON.match(text, at)
    return match.group() if match else None


def has_extra_first_quote(text: str, at: int) -> bool:
    """Return True when the first of two quotes before a key is one too many."""
    return _EXTRA_FIRST.match(text, at) is not None


def has_extra_last_quote(text: str, at: int) -> bool:
    """Return True when one more quote stands between a key and its colon."""
    return _EXTRA_LAST.match(text, at) is not None


def is_ruby_symbol(text: str, at: int) -> bool:
    """Return True when a Ruby symbol stands here as a key."""
    return _SYMBOL.match(text, at) is not None
