"""Reads valid JSON as fast as the decoder: objects, the spans of values, and repeated keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from json import JSONDecoder
from typing import Any, Final

import orjson
from orjson import JSONDecodeError, loads

from lenient.diagnostics import MAX_DEPTH
from lenient.regex import compile_regex
from lenient.scan.source_text import ValueSpan

_GOES_ON = compile_regex(
    r"\s*+(?!\)++\s*+,)[}\])]++\s*+(?:\Z|,(?!\s*+[{｛])|[\"'“])|\s*+,\s*+[\"'“]?[\w.\-]{1,64}[\"'”]?\s*+[:：]|\s*+[\"'“][\w.\-]{1,64}[\"'”]\s*+[:：]|\"\s*+(?:,\s*+[\"'\w]|[}\]])"
)
"""Shows that a closed value continues: a comma and a key follow, or the rest of a string."""


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = JSONDecoder(parse_constant=_refuse_constant, parse_int=str, parse_float=str)
_decode: Callable[[str, int], tuple[Any, int]] = _DECODER.scan_once  # type: ignore[attr-defined]  # as raw_decode


def find_valid_end(text: str, position: int) -> int | None:
    """Return the offset where the JSON object or array at `position` ends.

    Return None when the value is not valid JSON, or when what follows shows that the value continues.
    """
    if text[position : position + 1] not in ("{", "["):
        return None
    try:
        _, end = _DECODER.raw_decode(text, position)
        orjson.loads(text[position:end])  # `json` accepts invalid surrogate pairs, but `orjson` does not
    except (ValueError, RecursionError):
        return None
    return None if _GOES_ON.match(text, end) else end


# --- the spans of values -------------------------------------------------------------------------------

_SCALAR = compile_regex(
    r'[ \t\r\n:]*+("(?:[^"\\]++|\\.)*+"|-?[0-9][0-9.eE+\-]{0,17}+(?![0-9.eE+\-])|true|false|null)'
)
"""A scalar value after its key."""
_TOKEN = compile_regex(
    r"[ \t\r\n,]*+"
    r'(?:("(?:[^"\\]++|\\.)*+")([ \t\r\n]*+:)?+'
    r"|(-?[0-9][0-9.eE+\-]{0,17}+(?![0-9.eE+\-])|true|false|null)|([{\[])|([}\]]))"
)
"""A string, a key, another scalar or a bracket. A number must be so short that orjson does not round it."""
_PLAIN_TOKEN = compile_regex(
    r"[ \t\r\n,]*+"
    r"(?:(\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|[A-Za-z_$][\w$]*+(?=[ \t\r\n]*+:))([ \t\r\n]*+:)?+"
    r"|(-?[0-9][0-9.]*+|true|false|null|True|False|None)|([{\[])|([}\]]))",
    re.DOTALL,
)
"""The same as `_TOKEN`, for the JSON with simple defects that `lenient.unwrap.fast_path` reads."""
_BETWEEN = compile_regex(r"[ \t\r\n,:]*+")
_KEY, _OPENER, _CLOSER = 2, 4, 5  # values of `match.lastindex` for three groups of `_TOKEN`
_QUOTES = ('"', "'")
_BEGINNINGS = frozenset('{["`(')
_CONTAINERS: Mapping[str, Callable[[], Any]] = {"{": dict, "[": list}
_NEW = tuple.__new__  # calling the named tuple takes twice as long


def locate_values(text: str, start: int = 0, *, plain: bool = False) -> ValueSpan | None:
    """Return the span of the JSON value that begins at `start`, with the spans of all inner values.

    The value must be valid JSON, or may have simple defects if `plain` is True.

    Return None when only the tolerant scanner can read the value: a key is repeated, a number may have been
    rounded, or the nesting is too deep.
    """
    return _locate(_PLAIN_TOKEN if plain else _TOKEN, text, start)


def _locate(token: re.Pattern[str], text: str, start: int, depth: int = 0) -> ValueSpan | None:
    """Return the span of the value at `start`, which is inside `depth` containers, or None as in
    `locate_values`.
    """
    # start, spans and current key of the surrounding containers
    stack: list[tuple[int, Any, str | None]] = []
    begin, position, key = 0, start, None
    spans: Any = None
    while (match := token.match(text, position)) is not None:
        position = match.end()
        group = match.lastindex
        if group == _KEY:
            first, last = match.span(1)
            key = text[first + 1 : last - 1] if text[first] in _QUOTES else text[first:last]
            if "\\" in key:
                key = loads(text[first:last])
            if key in spans:
                return None
            continue
        if group == _OPENER:
            if len(stack) + depth == MAX_DEPTH:
                return None
            stack.append((begin, spans, key))
            begin, spans, key = position - 1, _CONTAINERS[text[position - 1]](), None
            continue
        if group == _CLOSER:
            mark = _NEW(ValueSpan, (begin, position, spans))
            begin, spans, key = stack.pop()
        else:
            mark = _NEW(ValueSpan, (match.start(group or 0), position, None))
        if not stack:
            return mark
        if key is None:
            spans.append(mark)
        else:
            spans[key] = mark
    return None


def locate_member(text: str, name: str) -> ValueSpan | None:
    """Return the span of the value of the member `name` in a JSON object that repeats no key.

    `text` is the JSON of the object. Return None when only the tolerant scanner can read the object: a number
    may have been rounded, or the nesting is too deep.
    """
    key = f'"{name}"'
    at = text.find(key) if name.isidentifier() and "\\u" not in text else -1
    # use this match only if the text contains the key exactly once
    if at >= 0 and text.find(key, at + 1) < 0:
        start: int | None = at + len(key)
    else:
        start = _find_member(text, name)
    if start is None:
        return None
    if (scalar := _SCALAR.match(text, start)) is not None:
        return _NEW(ValueSpan, (*scalar.span(1), None))
    return _locate(_TOKEN, text, text.index(":", start) + 1, 1)


def _find_member(text: str, name: str) -> int | None:
    """Return the offset after the key of the member `name`. The decoder skips all earlier members."""
    position = text.index("{") + 1
    try:
        while True:
            key, end = _decode(text, _pass_blanks(text, position))
            if key == name:
                return end
            _, position = _decode(text, _pass_blanks(text, end))
    except RecursionError:
        return None


def _pass_blanks(text: str, position: int) -> int:
    return _BETWEEN.match(text, position).end()  # type: ignore[union-attr]  # it always matches


def may_hold_value(text: str) -> bool:
    """Return True when a string may contain a list or object, possibly in quotes, a fence or brackets."""
    return text.lstrip("\ufeff \t\r\n")[:1] in _BEGINNINGS


# --- objects with a long string ------------------------------------------------------------------------

LONG = 4_096
"""The minimum length of JSON, in characters, for which `make_reader` saves time."""

_NEAR = 512  # maximum length of a short string, in characters
_STRINGS = 16
_UNKNOWN = -(1 << 40)
_STAND_IN = "\ue0fe"

Accepts = Callable[[dict[str, Any], str], bool]
"""Returns True when the arguments fit. The second parameter is the JSON from which they were decoded."""
NO_JSON: Final = object()
"""Stands for the value of a string that is not JSON."""
ReadFitting = Callable[[str], Any]
"""Returns the object in a JSON string if the object fits unchanged.

Returns NO_JSON if the string is not JSON, and None for any other JSON.
"""


def make_reader(accepts: Accepts) -> ReadFitting:
    """Return a function that reads a JSON object if `accepts` returns True for this object."""

    def read(text: str) -> Any:
        if len(text) >= LONG and (apart := decode_around_string(text)) is not None:
            return apart[0] if accepts(*apart) else None
        try:
            value = loads(text)
        except JSONDecodeError:
            return NO_JSON
        return value if type(value) is dict and accepts(value, text) else None

    return read


def decode_around_string(text: str) -> tuple[dict[str, Any], str] | None:
    """Return the object in `text`, and `text` with a placeholder for the longest string.

    Return None when `text` is not a valid JSON object, or when its top level does not have exactly one long
    string.
    """
    start = _find_first_long(text)
    if start < 0 or (end := _find_last_long(text)) <= start:
        return None
    around = f'{text[:start]}"{_STAND_IN}"{text[end:]}'
    if len(around) > LONG or "\\" in around or around.count(_STAND_IN) != 1:
        return None
    try:
        value, inner = loads(around), loads(text[start:end])
    except JSONDecodeError:
        return None
    if type(value) is dict and type(inner) is str:
        for name, item in value.items():
            if item == _STAND_IN:
                value[name] = inner
                return value, around
    return None


def _find_first_long(text: str) -> int:
    """Return the offset of the first string that is longer than `_NEAR` or has an escaped quote.

    Return -1 when there is no such string.
    """
    start = text.find('"')
    for _ in range(_STRINGS):
        end = text.find('"', start + 1, start + _NEAR)
        if end < 0 or text[end - 1] == "\\":
            return start
        start = text.find('"', end + 1)
        if start < 0:
            break
    return -1


def _find_last_long(text: str) -> int:
    """Return the offset after the last string that is longer than `_NEAR` or has an escaped quote.

    Return -1 when there is no such string.
    """
    end = text.rfind('"')
    for _ in range(_STRINGS):
        start = text.rfind('"', max(end - _NEAR, 0), max(end, 0))
        if start <= 0 or text[start - 1] == "\\":
            return end + 1
        end = text.rfind('"', 0, start)
        if end < 0:
            break
    return -1


# --- repeated keys -------------------------------------------------------------------------------------


def holds_each_key_once(text: str, value: Any) -> bool:
    """Return True when certainly no object in the JSON repeats a key and no key was left out.

    The number of double quotes in `text` is compared with the number in the encoded `value`. A repeated key
    is decoded only once, so `text` then has more quotes. A quote sent as `\\u0022` would be counted in only
    one of them, so the result is then False.
    """
    return text.count('"') == count_quotes(value) and ("\\" not in text or "\\u0022" not in text)


def count_quotes(value: Any) -> int:
    """Return the number of quotes in a value written as JSON.

    Return a large negative number when the number of quotes is unknown.
    """
    try:
        return orjson.dumps(value).count(b'"')
    except orjson.JSONEncodeError:  # the value is nested too deeply for orjson
        return _UNKNOWN
