"""Reads unambiguous members and items with one regular expression each.

A member or item is read here if it has a simple string or number and what follows proves its end. The proof
is a comma and the next key, or the closing bracket and the end of the input. The scanner reads all other
members and items.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from lenient.regex import compile_regex
from lenient.scan.source_text import ValueSpan
from lenient.scan.strings.string_end_scoring import QUOTES
from lenient.scan.strings.trivia import RepairReport

W = r"[ \t\r\n]*+"
_CLEAN = r"\\\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff"
_ESCAPE = r"\\(?:[\\/bfnrt]|"
_TEXT = rf"(?!\s*+,[\s\u200b\ufeff]*+[{QUOTES}])"
"""A comma and a quote must not follow an escaped quote, because the backslash may then end a Windows path."""
_DOUBLE = rf"[^\"{_CLEAN}]*+(?:{_ESCAPE}\"{_TEXT})[^\"{_CLEAN}]*+)*+"
_SINGLE = rf"[^'{_CLEAN}]*+(?:{_ESCAPE}\"|'{_TEXT})[^'{_CLEAN}]*+)*+"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,17}+)?"
_QUOTED_KEY = rf"{W}(?:\"[^\"\\\n]{{0,100}}+\"|'[^'\\\n]{{0,100}}+'){W}:"
_NEXT_KEY = rf"(?:{_QUOTED_KEY}|{W}[A-Za-z_$][\w$]{{0,62}}+{W}:(?!//))"
NAME = (
    rf"(?:\"([^\"{_CLEAN}\t\r\n]*+)\"|'([^'{_CLEAN}\t\r\n]*+)'|([A-Za-z_$][\w$]{{0,62}}+)(?!['\"]))"
    rf"{W}:{W}"
)
"""A key and its colon: in double quotes, in single quotes, or without quotes."""
SCALAR = rf"(?:\"({_DOUBLE})\"|'({_SINGLE})'|({_NUMBER})|(true|false|null|True|False|None)\b)"
"""A string in double quotes, a string in single quotes, a number, or a literal."""
_MEMBER = (
    rf"{W}{NAME}{SCALAR}(?:{W},(?={_NEXT_KEY}|{W}(?:\}}|/[*/]))|(?={_QUOTED_KEY})|(?={W}\}}{W}(?:\Z|%s)))"
)
_ITEM = rf"{W}{SCALAR}(?:{W},(?={W}[\"'{{\[\-\dtfnTFN\]])|(?=[ \t\r\n]++[\"'])|(?={W}\]{W}(?:\}}{W}\Z|%s)))"
_IN_OBJECT, _IN_ARRAY = f",{_NEXT_KEY}", rf",{W}[\"{{]"
_AFTER = {"": r"\Z", "}": _IN_OBJECT, "]": _IN_ARRAY, ")": _IN_ARRAY}
_MEMBERS = {around: compile_regex(_MEMBER % after) for around, after in _AFTER.items()}
_ITEMS = {around: compile_regex(_ITEM % after) for around, after in _AFTER.items()}
"""`_MEMBERS` and `_ITEMS` map the closing bracket of a container ("" at the root) to a pattern."""
PLAIN_KEY = compile_regex(rf"\"([^\"{_CLEAN}\t\r\n]*+)\"{W}:{W}(?=[\"'\w\[{{\-])")
"""A key, its colon, and the start of a value."""
LITERALS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
STANDARD = {"True": "true", "False": "false", "None": "null"}
_NEW = tuple.__new__  # calling the named tuple takes twice as long


class SimpleContainer(Protocol):
    """The attributes of an open bracket that `SimpleReader` reads and writes."""

    children: dict[str, Any]
    items: list[Any]
    marks: Any
    key: str | None
    comma: int
    filled: bool


class SimpleReader:
    """Reads the unambiguous members and items of one input.

    `decode` decodes a string body with escapes or line breaks, and reports the repairs of this body.
    """

    __slots__ = ("decode", "report", "text")

    def __init__(self, text: str, report: RepairReport, decode: Callable[[int, int], str]) -> None:
        self.text = text
        self.report = report
        self.decode = decode

    def read_members(self, position: int, into: SimpleContainer, around: str) -> int:
        """Read simple members from `position` on and store the members in `into`.

        Return the offset where reading stopped. `around` is the closing bracket of the container around
        `into`, or "" at the root.
        """
        text, match_member = self.text, _MEMBERS[around].match
        children, marks = into.children, into.marks
        while (match := match_member(text, position)) is not None:
            key = match[1]
            if key is None:
                key = match[2] if match[2] is not None else match[3]
            if key in children:
                break  # stop, so that the scanner reports the repeated key
            if match[1] is None:
                self.report_key(match, into)
            into.key = key
            children[key], marks[key] = self.read_value(match, 4)
            position = match.end()
            if text[position - 1] != "," or position == match.end(match.lastindex or 4):
                into.filled = True
                break
            into.comma = position - 1
        into.key = None
        return position

    def read_items(self, position: int, into: SimpleContainer, around: str) -> int:
        """Read simple items from `position` on and store the items in `into`.

        Return the offset where reading stopped. `around` is the closing bracket of the container around
        `into`, or "" at the root.
        """
        text, match_item = self.text, _ITEMS[around].match
        while (match := match_item(text, position)) is not None:
            value, mark = self.read_value(match, 1)
            into.items.append(value)
            into.marks.append(mark)
            position = match.end()
            if text[position - 1] != "," or position == match.end(match.lastindex or 1):
                into.filled = True
                break
            into.comma = position - 1
        return position

    def report_key(self, match: re.Match[str], into: SimpleContainer) -> None:
        into.key = None
        if match[3] is not None:
            self.report("unquoted_key", *match.span(3), found=match[3])
        else:
            start, end = match.span(2)
            self.report("single_quotes", start - 1, end + 1, found="'")

    def read_value(self, match: re.Match[str], first: int) -> tuple[Any, ValueSpan]:
        """Return the value in `match`, and its span.

        The four groups from `first` on are a string in double quotes, a string in single quotes, a number and
        a literal.
        """
        group = match.lastindex or first
        start, end = match.span(group)
        written = match[group]
        if group > first + 1:
            value: Any = (
                self.read_literal(written, start, end) if group == first + 3 else parse_number(written)
            )
            return value, _NEW(ValueSpan, (start, end, None))
        if group > first:
            self.report("single_quotes", start - 1, end + 1, found="'")
        if "\\" in written or "\n" in written or "\t" in written or "\r" in written:
            written = self.decode(start, end)
        return written, _NEW(ValueSpan, (start - 1, end + 1, None))

    def read_literal(self, written: str, start: int, end: int) -> bool | None:
        if written in STANDARD:
            self.report("nonstandard_literal", start, end, found=written, became=STANDARD[written])
        value: bool | None = LITERALS[written]
        return value


def parse_number(written: str) -> int | float:
    return float(written) if "." in written else int(written)
