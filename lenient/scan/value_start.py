"""Reads the start of a value: reads a scalar to its end, or opens an object or array.

The declared kind of the value helps to distinguish strings from brackets. Function calls and sets of Python
are also read.
"""

from __future__ import annotations

import re
from dataclasses import replace

from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import MAX_DEPTH, UnreadableError
from lenient.regex import compile_regex
from lenient.scan.scan_state import OPENERS, OpenContainer, ScanState, role_within, scalar_text
from lenient.scan.source_text import ValueSpan
from lenient.scan.string_choices import begins_unopened
from lenient.scan.strings.quoted_string import (
    PREFIX_LETTERS,
    is_pattern_start,
)
from lenient.scan.strings.string_end import CLOSING_QUOTES
from lenient.scan.strings.string_end_scoring import QUOTED_KEY, StringPlace, StringRole
from lenient.scan.strings.trivia import find_fence_end, pass_trivia
from lenient.scan.strings.unquoted import UnquotedValue, read_unquoted

_NEXT_NAME = compile_regex(r"(?<=[^\s;,])[\s;,]\s*+([A-Za-z_][\w\-]*+)\s*+[:=](?![/=])")
_REMARK = compile_regex(
    r"\([^()\[\]{}\"'`\n]*+\)\s*+[,}\n]|\(\d{1,5}\)[\s\-]*+\d[\d\s\-]*+[,}\n]"
    r"|\([\d\s.+\-*/]++\)\s*+[+\-*/^%]\s*+[\d(]|\{{1,2}\w++\}{1,2}[^\S\n]++\w[^{}\[\]\"'\n,:]*+[,}\n]"
)
"""Words in brackets, a telephone number, or an arithmetic sum."""
_TO_FILL_IN = compile_regex(r"\[[A-Z][A-Z_ \-]++\]\s*+[,}]")
"""A placeholder such as `[YOUR NAME]`."""
_DOUBLED = compile_regex(r"\{\{\s*+(?:[\"'\w}]|\*{1,2}\"|//|/\*)")


def _wants_text(node: Node | None) -> bool:
    return node is not None and node.kind is ValueKind.STRING


def read_value_start(reading: ScanState, node: Node | None) -> None:
    """Read the scalar at the current position, or open the object or array that begins there.

    `node` is the definition of the value, or None when the value has no definition.
    """
    if reading.position >= len(reading.text):
        raise UnreadableError("truncated", reading.position)
    sign = reading.text[reading.position]
    if sign == "`" and not _wants_text(node):
        sign = _pass_fence(reading)
    if sign == "(" and (inside := reading.strings.find_parenthesised(reading.position)) is not None:
        reading.put_value(_read_parenthesised(reading, inside), ValueSpan(inside, reading.position))
        return
    if _read_python(reading, node):
        return
    if sign in OPENERS and not _is_text(reading, node):
        _open_container(reading, sign, node)
        return
    start = reading.position
    if sign in PREFIX_LETTERS:
        reading.position = reading.strings.pass_prefix(start, reading.value_place())
    if reading.text[reading.position] in CLOSING_QUOTES:
        reading.put_value(_read_quoted(reading), ValueSpan(start, reading.position))
        return
    bare = _read_unopened(reading, start, node)
    reading.position = bare.end
    if bare.absent:
        _put_absent(reading, start)
        return
    if bare.code is not None:
        word, became = reading.text[start : bare.end], scalar_text(bare.value)
        reading.report(bare.code, start, bare.end, found=word, became=became)
    if bare.doubt:
        reading.report("ambiguous", start, bare.end, hint=bare.doubt)
    reading.put_value(bare.value, ValueSpan(start, bare.end))


def _read_python(reading: ScanState, node: Node | None) -> bool:
    """Read or open a Python function call or set at the current position. Return False for anything else."""
    wrapped = _pass_python_type(reading)
    if not _read_python_value(reading, node):
        if not wrapped:
            return False
        _open_container(reading, reading.text[reading.position], node)
    reading.stack[-1].wrapped |= wrapped
    return True


def _pass_fence(reading: ScanState) -> str:
    end = find_fence_end(reading.text, reading.position, "{[")
    if end is not None and end < len(reading.text):
        reading.report("code_fence_removed", reading.position, end, found="```")
        reading.position = end
    return reading.text[reading.position]


def _open_container(reading: ScanState, sign: str, node: Node | None) -> None:
    at = reading.position
    if len(reading.stack) >= MAX_DEPTH:
        raise UnreadableError("nested_too_deep", at)
    if sign == "[" and _wants_text(node) and _TO_FILL_IN.match(reading.text, at):
        raise UnreadableError("placeholder", at)
    stands_for_brace = _opens_object(reading, sign, node)
    frame = OpenContainer("}" if stands_for_brace else OPENERS[sign], at, node)
    if stands_for_brace:
        reading.report("wrong_opener", at, at + 1, found=sign, became="{")
        frame.also = OPENERS[sign]
    elif sign == "(":
        reading.report("tuple_as_array", at, at + 1, found="(", became="[")
    elif sign not in "{[":
        reading.report("fullwidth_punctuation", at, at + 1, found=sign)
    elif sign == "{" and _is_doubled_brace(reading.text, at):
        reading.report("doubled_braces", at, at + 2, found="{{", became="{")
        frame.doubled = True
    reading.stack.append(frame)
    reading.position = at + 1 + frame.doubled


def _is_text(reading: ScanState, node: Node | None) -> bool:
    """Return True when the bracket at the current position belongs to a string without an opening quote.

    Such a string is a regular expression, or begins with words in brackets. Raises UnreadableError for JSON
    with escaped quotes, and for other words in brackets.
    """
    if not reading.stack or reading.strings.strict:
        return False
    text, at = reading.text, reading.position
    if _wants_text(node) and (is_pattern_start(text, at) or _REMARK.match(text, at)):
        return True
    if begins_unopened(text, at):
        raise UnreadableError("unexpected_character", at)  # `second_pass` searches for the end of the text
    return False


def _opens_object(reading: ScanState, sign: str, node: Node | None) -> bool:
    if sign not in "[(" or reading.strings.strict:
        return False
    due = not reading.stack or (node is not None and node.kind is ValueKind.JSON_OBJECT)
    return due and _is_object_start(reading.text, reading.position)


def _is_doubled_brace(text: str, at: int) -> bool:
    return _DOUBLED.match(text, at) is not None


def _is_object_start(text: str, at: int) -> bool:
    return text[at] in "[(" and QUOTED_KEY.match(text, at + 1) is not None


def _read_quoted(reading: ScanState) -> str:
    role = role_within(reading.stack)
    if spans := reading.strings.find_sum(reading.position):
        reading.position = spans[-1][1]
        return reading.strings.read_sum(spans, role)
    reading.strings.joins &= role is StringRole.MEMBER
    parts = [reading.read_string(role)[0]]
    while (joint := reading.strings.pass_joint(reading.position)) is not None:
        reading.position = joint
        parts.append(reading.read_string(role)[0])
    return "".join(parts)


def _read_parenthesised(reading: ScanState, inside: int) -> str:
    """Return the joined content of the strings in round brackets. The first string is at `inside`."""
    reading.position = inside
    parts: list[str] = []
    while reading.text[reading.position] != ")":
        text, end = reading.strings.read_to_first_quote(reading.position)
        parts.append(text)
        reading.position = pass_trivia(reading.text, end, reading.report)
    reading.position += 1
    return "".join(parts)


def _read_unopened(reading: ScanState, start: int, node: Node | None) -> UnquotedValue:
    """Read the value at `start`, which begins without a quote or with an escaped quote."""
    close = reading.stack[-1].close if reading.stack else ""
    place = reading.value_place()
    if reading.text[start] == "\\" and (escaped := reading.strings.read_escaped(start)) is not None:
        return UnquotedValue(*escaped)
    bare = read_unquoted(reading.text, start, wants_text=_wants_text(node), close=close)
    if bare.code == "unquoted_string" and (cut := _find_next_name(reading.text, start, bare.end, place)):
        shorter = read_unquoted(reading.text[start:cut] + ",", 0, wants_text=_wants_text(node), close=close)
        return replace(shorter, end=start + shorter.end)
    return bare


def _find_next_name(text: str, start: int, end: int, place: StringPlace) -> int | None:
    """Return the end of the words in `text[start:end]` before a member with a declared name.

    Return None when no such member begins there.
    """
    return next((at.start() for at in _NEXT_NAME.finditer(text, start, end) if place.awaits(at[1])), None)


def _put_absent(reading: ScanState, start: int) -> None:
    """Leave out a member or item when the input ends before its value begins.

    Raises UnreadableError when the value is the root value.
    """
    if not reading.stack:
        raise UnreadableError("truncated", start)
    if reading.stack[-1].close == "}":
        reading.drop_member(reading.stack[-1], start)
    elif start < len(reading.text):
        reading.dropped = True
        reading.report("truncated_text", start, len(reading.text), found=reading.text[start:])
    reading.position = len(reading.text)


# --- values of Python ----------------------------------------------------------------------------------

_NUMBER = compile_regex(
    r"(?:(?:decimal\.)?Decimal|int|float)\(\s*+([\"']?)([+-]?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?)\1\s*+\)"
)
_LIST = compile_regex(r"(?:list|tuple|set|frozenset)\(\s*+(?=\(\s*+[\"'\d\-]|\[\s*+[\"'\d\-\]]|(\{))")
_MAPPING = compile_regex(r"(?:dict|(?:collections\.)?OrderedDict)\(\s*+(?=\{\s*+[\"'}])")
"""The name of a mapping type and its bracket, before an object in braces."""
_DICT = compile_regex(r"dict\((?=\s*+[A-Za-z_]\w*+\s*+=(?!=))")
_LITERAL = r"(?:\"[^\"\\\n]*+\"|'[^'\\\n]*+'|-?\d[\d.]*+)"
_SET = compile_regex(rf"\{{\s*+{_LITERAL}\s*+(?:,\s*+{_LITERAL}\s*+)*+,?\s*+\}}(?!\s*+:)")
_STARTS = frozenset("Dcdiflsto{")


def _read_python_value(reading: ScanState, node: Node | None) -> bool:
    """Read the number or open the container that Python writes as a function call at the current position.

    A set in braces is also opened. Return False for anything else.
    """
    text, at = reading.text, reading.position
    if text[at] not in _STARTS or not reading.stack or reading.strings.strict:
        return False
    if text[at] == "{":
        return _open_set(reading, node)
    if (number := _NUMBER.match(text, at)) is not None:
        _put_number(reading, number, node)
        return True
    if (opening := _DICT.match(text, at)) is not None:
        reading.report("wrong_opener", at, opening.end(), found=opening.group(), became="{")
        frame = OpenContainer("}", at, node)
        frame.also = ")"
        reading.stack.append(frame)
        reading.position = opening.end()
        return True
    return False


def _pass_python_type(reading: ScanState) -> bool:
    """Skip and report the name and bracket of a Python container type at the current position.

    Return False when there is no such name. Later, the bracket that closes the container also closes the
    skipped bracket.
    """
    if reading.text[reading.position] not in _STARTS or not reading.stack or reading.strings.strict:
        return False
    text, at = reading.text, reading.position
    wrapped = _LIST.match(text, at) or _MAPPING.match(text, at)
    if wrapped is None or (wrapped.lastindex and _SET.match(text, wrapped.end()) is None):
        return False
    reading.report("string_prefix", at, wrapped.end(), found=wrapped.group())
    reading.position = wrapped.end()
    return True


def _open_set(reading: ScanState, node: Node | None) -> bool:
    at = reading.position
    opening = _SET.match(reading.text, at)
    if opening is None or (node is not None and node.kind not in (None, ValueKind.JSON_ARRAY)):
        return False
    reading.report("tuple_as_array", at, at + 1, found="{", became="[")
    frame = OpenContainer("]", at, node)
    frame.also = "}"
    reading.stack.append(frame)
    reading.position = at + 1
    return True


def _put_number(reading: ScanState, number: re.Match[str], node: Node | None) -> None:
    """Store the number in a Python function call, as a string if the definition declares a string."""
    start, digits = reading.position, number[2]
    wants_text = node is not None and node.kind is ValueKind.STRING
    value = digits if wants_text else float(digits) if "." in digits else int(digits)
    reading.report("nonstandard_number", start, number.end(), found=number.group(), became=digits)
    reading.position = number.end()
    reading.put_value(value, ValueSpan(start, number.end()))
