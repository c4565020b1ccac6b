"""Members of an object that can be read in one way only → their values, at the speed of one pattern each.

A member is taken when its string or number is plain and what follows shows beyond doubt that it ends there:
a comma and the next key, a closing brace and the end of the text. Everything else is left to the scanner,
which reads the same from it, only slower. Knows nothing of definitions.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

from lenient.repair.gaps import Report
from lenient.source import Mark

_W = r"[ \t\r\n]*+"
_TEXT = r"[^\"\\\x00-\x1f\ud800-\udfff]*+"
_SINGLE = r"[^'\\\x00-\x1f\ud800-\udfff]*+"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,17}+)?"
_NEXT_KEY = rf"{_W}(?:\"[^\"\\\n]{{0,100}}+\"|'[^'\\\n]{{0,100}}+'|[A-Za-z_$][\w$]{{0,62}}+){_W}:(?!//)"
_QUOTED_KEY = rf"{_W}(?:\"[^\"\\\n]{{0,100}}+\"|'[^'\\\n]{{0,100}}+'){_W}:"
_KEY = rf"{_W}(?:\"({_TEXT})\"|'({_SINGLE})'|([A-Za-z_$][\w$]{{0,62}}+)(?!['\"])){_W}:{_W}"
_VALUE = rf"(?:\"({_TEXT})\"|'({_SINGLE})'|({_NUMBER})|(true|false|null|True|False|None)\b)"
_GOES_ON = rf"{_W},(?={_NEXT_KEY}|{_W}(?:[}}\]]|/[*/]))|(?={_QUOTED_KEY})"
_ENDS = rf"(?={_W}\}}{_W}\Z)"
_OUTERMOST = re.compile(f"{_KEY}{_VALUE}(?:{_GOES_ON}|{_ENDS})")
_NESTED = re.compile(rf"{_KEY}{_VALUE}(?:{_GOES_ON}|{_ENDS}|(?={_W}\}}{_W},{_W}[\"{{]))")
_LITERALS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
_WRITTEN = {"True": "true", "False": "false", "None": "null"}
_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long


class Object(Protocol):
    """What the scanner keeps of an open object."""

    children: dict[str, Any]
    marks: Any
    key: str | None
    comma: int
    filled: bool


def plain_members(text: str, position: int, into: Object, report: Report, *, nested: bool) -> int:
    """Read plain members from `position` on into an object; the place where the first other thing stands."""
    match_member = (_NESTED if nested else _OUTERMOST).match
    children, marks = into.children, into.marks
    while (match := match_member(text, position)) is not None:
        double, single, bare, value, quoted, number, literal = match.groups()
        key = double if double is not None else single if single is not None else bare
        if key in children:
            return position  # sent twice: the scanner says so
        if double is None:
            _report_key(match, into, report)
        start, end = match.span(match.lastindex or 4)
        if value is not None:
            start, end = start - 1, end + 1
        elif number is not None:
            value = float(number) if "." in number else int(number)
        else:
            into.key = key
            start, end, value = _other_value(match, quoted, literal, report)
        children[key] = value
        marks[key] = _NEW(Mark, (start, end, None))
        position = match.end()
        into.filled = text[position - 1] != "," or position == end
        if into.filled:
            break
        into.comma = position - 1
    into.key = None
    return position


def _report_key(match: re.Match[str], into: Object, report: Report) -> None:
    into.key = None
    if match.group(3) is not None:
        report("unquoted_key", *match.span(3), found=match.group(3))
    else:
        start, end = match.span(2)
        report("single_quotes", start - 1, end + 1, found="'")


def _other_value(
    match: re.Match[str], quoted: str | None, literal: str, report: Report
) -> tuple[int, int, Any]:
    """The place and meaning of a value in single quotes, or of a literal."""
    start, end = match.span(match.lastindex or 5)
    if quoted is not None:
        report("single_quotes", start - 1, end + 1, found="'")
        return start - 1, end + 1, quoted
    if literal in _WRITTEN:
        report("nonstandard_literal", start, end, found=literal, became=_WRITTEN[literal])
    return start, end, _LITERALS[literal]
