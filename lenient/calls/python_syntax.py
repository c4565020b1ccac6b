"""One Python call in a text → a name and raw arguments as JSON.

A value that is plain Python is rewritten as JSON; any other goes in as it was written, for `lenient.parse`
to mend and report. Runs nothing; knows no dialect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lenient.calls.found import Found
from lenient.calls.reply import Reply
from lenient.calls.values import blank_end, read_value
from lenient.json_values import compact
from lenient.repair import UnreadableError
from lenient.repair.strings import Lookahead
from lenient.source import Piece

NAME = r"[A-Za-z_][\w.\-]{0,127}+"
CALL = re.compile(rf"\s*+(?:print\(\s*+)?(?:await\s++)?(?P<name>{NAME})\s*+\(")
_KEYWORD = re.compile(r"\s*+([A-Za-z_]\w{0,127}+)\s*+=(?!=)\s*+")
_STEP = re.compile(r"[\"'()\[\]{},]")
_STRING_END = re.compile(
    r"\s*+(?:,\s*+(?:[A-Za-z_]\w*+\s*+=|\*\*|[\"'\[{(\d\-]|[TFN]\w++\s*+[,)\]}]|[)\]}])|[)\]}:]|\Z)"
)
_KEYWORD_STRING_END = re.compile(
    r"\s*+(?:,\s*+(?:[A-Za-z_]\w*+\s*+=(?!=)|\*\*|\))|\)(?:[^\S\n]*+\n|\s*+(?:[,\])\n;`<]|\Z)))"
)
_PLAIN = re.compile(r"(?:[^\\]|\\(?:[\\\"'/bfnrt]|u[0-9a-fA-F]{4}))*+")
"""Text whose escapes mean the same in Python and in JSON, or are those of a quote."""
_HEX = re.compile(r"\\(?:x([0-9a-fA-F]{2})|.)", re.DOTALL)
_RAW = re.compile(r"\b[rR][bB]?[\"']")
_NATIVE = frozenset(
    {
        "single_quotes", "triple_quotes", "string_prefix", "nonstandard_literal", "nonstandard_number",
        "tuple_as_array", "trailing_comma", "quote_escape", "string_concatenation", "raw_control_character",
        "comment_removed",
    }
)  # fmt: skip
"""What is a mend in JSON and plain in Python."""


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument as written. `name` None = it has none."""

    name: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as written: its parts, and whether its closing bracket was found."""

    name: str
    start: int
    end: int
    arguments: tuple[_Argument, ...]
    complete: bool


def call_at(reply: Reply, position: int) -> Found | None:
    """The call that begins at a place; None when its arguments cannot be named."""
    call = _call(reply, position)
    return None if call is None else _found(reply, call)


def call_list(reply: Reply, position: int) -> tuple[list[Found], int]:
    """The calls of the list whose first call begins at a place, and where reading stopped."""
    found: list[Found] = []
    while True:
        call = _call(reply, position)
        one = None if call is None else _found(reply, call)
        if call is None or one is None:
            return found, blank_end(reply.text, position)
        found.append(one)
        position = blank_end(reply.text, call.end)
        if not call.complete or reply.text[position : position + 1] not in (",", ";"):
            return found, position
        position += 1


def _call(reply: Reply, position: int) -> _Call | None:
    head = CALL.match(reply.text, position)
    if head is None:
        return None
    arguments: list[_Argument] = []
    position = head.end()
    while True:
        keyword = _KEYWORD.match(reply.text, position)
        start = keyword.end() if keyword else position
        end = _argument_end(reply, start, keyword is not None)
        if keyword is not None or reply.text[start:end].strip():
            arguments.append(_Argument(keyword.group(1) if keyword else None, start, end))
        sign = reply.text[end : end + 1]
        if sign != ",":
            complete = sign == ")"
            return _Call(head["name"], head.start("name"), end + complete, tuple(arguments), complete)
        position = end + 1


def _argument_end(reply: Reply, position: int, keyword: bool) -> int:
    """Where an argument ends: at a comma or closing bracket outside of its strings and brackets."""
    text, depth = reply.text, 0
    while reply.spend(8) and (step := _STEP.search(text, position)) is not None:
        sign, at = step.group(), step.start()
        position = at + 1
        if sign in "\"'":
            position = _string_end(reply, at, sign, outer=keyword and depth == 0)
        elif sign in "([{":
            depth += 1
        elif sign == ",":
            if depth == 0:
                return at
        elif depth == 0:
            return at
        else:
            depth -= 1
    return len(text)


def _string_end(reply: Reply, start: int, quote: str, *, outer: bool) -> int:
    """The place after the string whose opening quote is at `start`.

    A quote ends it when an argument's end follows: inner quotes may not be escaped.
    """
    text = reply.text
    if text.startswith(quote * 3, start):
        end = text.find(quote * 3, start + 3)
        return end + 3 if end >= 0 else len(text)
    ends = _KEYWORD_STRING_END if outer else _STRING_END
    position, first = start + 1, -1
    while (at := text.find(quote, position)) >= 0:
        position = at + 1
        if _is_escaped(text, at, start):
            continue
        if ends.match(text, position):
            return position
        first = position if first < 0 else first
        if not reply.spend(position - start):
            break
    return first if first >= 0 else len(text)


def _is_escaped(text: str, at: int, start: int) -> bool:
    """Does an odd number of backslashes stand before a sign?"""
    first = at
    while first > start + 1 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def _found(reply: Reply, call: _Call) -> Found | None:
    """The call with its raw arguments; None when they cannot be named."""
    text, name = reply.text, reply.plain_name(call.name)
    tool = reply.tool(name)
    names = [parameter.name for parameter in tool.parameters] if tool is not None else []
    one = call.arguments[0] if len(call.arguments) == 1 and call.arguments[0].name is None else None
    if one is not None and text[one.start : one.end].strip().removeprefix("**").lstrip().startswith("{"):
        start = text.index("{", one.start)
        raw = text[start : one.end].rstrip()
        return Found(name, raw, call.start, call.end, call.complete, start)
    parts: list[str] = []
    for index, argument in enumerate(call.arguments):
        key = argument.name if argument.name is not None else names[index] if index < len(names) else None
        if key is None:
            return None
        value = text[argument.start : argument.end].strip()
        last = index + 1 == len(call.arguments)
        parts.append(f"{compact(key)}: {value if last and not call.complete else _json_text(value)}")
    raw = "{" + ", ".join(parts) + ("}" if call.complete else "")
    return Found(name, raw if parts else "{}", call.start, call.end, call.complete)


def _json_text(value: str) -> str:
    """The JSON of a value in plain Python; any other value as it was written."""
    if "\\x" in value and not _RAW.search(value):
        value = _HEX.sub(lambda found: f"\\u00{found[1]}" if found[1] else found[0], value)
    if not _PLAIN.fullmatch(value):
        return value
    read = read_value(Piece(value), 0, Lookahead(value), 0)
    if isinstance(read, UnreadableError) or read.end < len(value):
        return value
    return compact(read.value) if all(mend.code in _NATIVE for mend in read.mends) else value
