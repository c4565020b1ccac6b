"""Reads one Python call in a text: its name, and its raw arguments as JSON.

A value that is plain Python is rewritten as JSON; any other value is copied as written, for
`lenient.arguments.parse` to repair and report. No code is run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_in_text import pass_blanks, read_json_value
from lenient.calls.reading.model_text import ModelText
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics.unreadable import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText
from lenient.scan.strings.string_search import Lookahead

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
_PLAIN = compile_regex(r"(?:[^\\]|\\(?:[\\\"'/bfnrt]|u[0-9a-fA-F]{4}))*+")
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
class _WrittenArgument:
    """One argument as written, at the span `start:end`; `name` is None for a positional argument."""

    name: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _WrittenCall:
    """A Python call as written; `complete` is False when its closing bracket is missing."""

    name: str
    start: int
    end: int
    arguments: tuple[_WrittenArgument, ...]
    complete: bool


def read_call_at(reply: ModelText, position: int) -> FoundCall | None:
    """Return the Python call that begins at the offset `position`, None when there is none.

    None is also returned when the parameter name of a positional argument is unknown.
    """
    call = _read_written_call(reply, position)
    return None if call is None else _make_call(reply, call)


def read_call_list(reply: ModelText, position: int) -> tuple[list[FoundCall], int]:
    """Return the calls of a list from `position` on, and the offset where reading stopped."""
    found: list[FoundCall] = []
    while True:
        call = _read_written_call(reply, position)
        one = None if call is None else _make_call(reply, call)
        if call is None or one is None:
            return found, pass_blanks(reply.text, position)
        found.append(one)
        position = pass_blanks(reply.text, call.end)
        if not call.complete or reply.text[position : position + 1] not in (",", ";"):
            return found, position
        position += 1


def _read_written_call(reply: ModelText, position: int) -> _WrittenCall | None:
    head = CALL.match(reply.text, position)
    if head is None:
        return None
    arguments: list[_WrittenArgument] = []
    position = head.end()
    while True:
        keyword = _KEYWORD.match(reply.text, position)
        start = keyword.end() if keyword else position
        end = _find_argument_end(reply, start, keyword is not None)
        if keyword is not None or reply.text[start:end].strip():
            arguments.append(_WrittenArgument(keyword.group(1) if keyword else None, start, end))
        sign = reply.text[end : end + 1]
        if sign != ",":
            complete = sign == ")"
            return _WrittenCall(head["name"], head.start("name"), end + complete, tuple(arguments), complete)
        position = end + 1


def _find_argument_end(reply: ModelText, position: int, keyword: bool) -> int:
    """Return where an argument ends: at a comma or closing bracket outside of its strings and brackets."""
    text, depth = reply.text, 0
    while reply.spend_budget(8) and (step := _STEP.search(text, position)) is not None:
        sign, at = step.group(), step.start()
        position = at + 1
        if sign in "\"'":
            position = _pass_string(reply, at, sign, outer=keyword and depth == 0)
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


def _pass_string(reply: ModelText, start: int, quote: str, *, outer: bool) -> int:
    """Return the offset after the string whose opening quote is at `start`.

    A quote ends the string only when the end of an argument follows, because a model may leave inner quotes
    unescaped. `outer` is True for the value of a keyword argument outside of brackets.
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
        if not reply.spend_budget(position - start):
            break
    return first if first >= 0 else len(text)


def _is_escaped(text: str, at: int, start: int) -> bool:
    """Return True when an odd number of backslashes stands before the character at the offset `at`."""
    first = at
    while first > start + 1 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def _make_call(reply: ModelText, call: _WrittenCall) -> FoundCall | None:
    """Return the call with its raw arguments as JSON; None when a positional argument has no known name."""
    text, name = reply.text, reply.plain_name(call.name)
    tool = reply.find_tool(name)
    names = [parameter.name for parameter in tool.parameters] if tool is not None else []
    one = call.arguments[0] if len(call.arguments) == 1 and call.arguments[0].name is None else None
    if one is not None and text[one.start : one.end].strip().removeprefix("**").lstrip().startswith("{"):
        start = text.index("{", one.start)
        raw = text[start : one.end].rstrip()
        return FoundCall(name, raw, call.start, call.end, call.complete, start)
    parts: list[str] = []
    for index, argument in enumerate(call.arguments):
        key = argument.name if argument.name is not None else names[index] if index < len(names) else None
        if key is None:
            return None
        value = text[argument.start : argument.end].strip()
        last = index + 1 == len(call.arguments)
        parts.append(f"{to_json_text(key)}: {value if last and not call.complete else _write_value(value)}")
    raw = "{" + ", ".join(parts) + ("}" if call.complete else "")
    return FoundCall(name, raw if parts else "{}", call.start, call.end, call.complete)


def _write_value(value: str) -> str:
    """Return a value in plain Python as JSON, and any other value as it was written."""
    if "\\x" in value and not _RAW.search(value):
        value = _HEX.sub(lambda found: f"\\u00{found[1]}" if found[1] else found[0], value)
    if not _PLAIN.fullmatch(value):
        return value
    read = read_json_value(SourceText(value), 0, Lookahead(value), 0)
    if isinstance(read, UnreadableError) or read.end < len(value):
        return value
    return to_json_text(read.value) if all(mend.code in _NATIVE for mend in read.mends) else value
