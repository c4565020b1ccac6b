"""Reads object keys with a missing or misplaced quote: `{path": 1}`, `{"path: 1}` and `{"path:" 1}`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from lenient.scan.strings.string_end_scoring import BLANKS, NEXT_KEY, VALUE_START

_LAST_QUOTE = re.compile(r"[\"'”’`]\s*+(?:[:：]|=(?!=))")
_COLON_INSIDE = re.compile(r"(-{0,2}[^\W\d][\w$.\-]{0,63})([“”„‘’‚'\"`＂]?)\s*+[:：]")
_COLON = re.compile(r"\s*+[?!.\\]?[:：=＝]")
_ENDS = re.compile(r"\s*+[,}]")
_NO_TEXT = re.compile(r"\s*+(?:[\[{\"']|-?\d[\d.eE+\-]*+\s*+[,}\n]|(?:true|false|null)\b\s*+[,}\n])")
_WRITTEN_COLON = re.compile(rf"[:：﹕]{BLANKS}[:：﹕]|[?!.\\][:：]|:=|=>|->|[=＝]|[:：﹕]|-(?=\s)")
_EXTRA_FIRST = re.compile(
    r"\"(?=\"[\w$][^\"'\n]{0,64}\"{1,2}\s*+[:：])|\"(?=\"[\w$][\w$.\-]{0,64}\s*+:\s*+[\"\[{\d])|'(?='[\w$][^\"'\n]{0,64}'\s*+[:：])"
)
_EXTRA_LAST = re.compile(r"[\"'](?=\s*+[:：])")
_SYMBOL = re.compile(r":\w++\s*+=>")


class MisquotedKey(NamedTuple):
    """The name of a key with a missing or misplaced quote, and the repair.

    `after` is the offset where reading continues. `code`, `start` and `end` are the code and the span of the
    repair. `colon` is True when the colon after the key has been read as well.
    """

    name: str
    after: int
    code: str
    start: int
    end: int
    colon: bool


def read_key_without_first_quote(text: str, end: int) -> bool:
    """Return True when a closing quote and a colon follow the bare name that ends at `end`."""
    return _LAST_QUOTE.match(text, end) is not None


def read_key_with_colon_inside(
    text: str, start: int, after: int, declared: Collection[str]
) -> MisquotedKey | None:
    """Return the key of a quoted string from `start` to `after` that wrongly includes the colon.

    Return None when the string itself is the key: a colon follows the string, the name before the inner colon
    is not in `declared` (unless `declared` is empty), or no value follows the inner colon.
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
    is_value = text.startswith((" ", "\t"), inside.end()) or declared
    if is_value and after > inside.end() and text[after - 1] == text[start] and _ENDS.match(text, after):
        end = start + 1 + len(name)
        return MisquotedKey(name, end, "missing_closing_quote", end, end, colon=False)
    return None


def holds_no_key(text: str, start: int, end: int) -> bool:
    """Return True when `text[start:end]`, the start of an object, is no key, as in a set or sentence."""
    sign = text[end : end + 1]
    if ":" in text[start:end]:
        return False
    return sign in ("}", "]") or (sign == "," and NEXT_KEY.match(text, end + 1) is None)


def find_colon(text: str, at: int) -> str | None:
    """Return the sign used as the colon at `at` (such as `:`, `::`, `=` or `=>`), None without one."""
    match = _WRITTEN_COLON.match(text, at)
    return match.group() if match else None


def has_extra_first_quote(text: str, at: int) -> bool:
    """Return True when the key at `at` begins with two quotes, of which the first is superfluous."""
    return _EXTRA_FIRST.match(text, at) is not None


def has_extra_last_quote(text: str, at: int) -> bool:
    """Return True when the sign at `at` is a superfluous quote between a key and its colon."""
    return _EXTRA_LAST.match(text, at) is not None


def is_ruby_symbol(text: str, at: int) -> bool:
    """Return True when the key at `at` is written as in Ruby: `:name =>`."""
    return _SYMBOL.match(text, at) is not None
