"""Finds where each value stands in text that is valid JSON, or has only plain defects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from orjson import loads

from lenient.diagnostics import MAX_DEPTH
from lenient.regex import compile_regex
from lenient.scan.source_text import ValueSpan

_TOKEN = compile_regex(
    r"[ \t\r\n,]*+"
    r'(?:("(?:[^"\\]++|\\.)*+")([ \t\r\n]*+:)?+'
    r"|(-?[0-9][0-9.eE+\-]{0,17}+(?![0-9.eE+\-])|true|false|null)|([{\[])|([}\]]))"
)
"""A string, a key, another scalar or a bracket; no number so long that orjson may have rounded it."""
_PLAIN_TOKEN = compile_regex(
    r"[ \t\r\n,]*+"
    r"(?:(\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|[A-Za-z_$][\w$]*+(?=[ \t\r\n]*+:))([ \t\r\n]*+:)?+"
    r"|(-?[0-9][0-9.]*+|true|false|null|True|False|None)|([{\[])|([}\]]))",
    re.DOTALL,
)
"""The same in a text that `lenient.unwrap.plain_text` reads."""
_KEY, _OPENER, _CLOSER = 2, 4, 5  # the group that matched last
_QUOTES = ('"', "'")
_CONTAINERS: Mapping[str, Callable[[], Any]] = {"{": dict, "[": list}
_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long


def locate_values(
    text: str, start: int = 0, end: int | None = None, *, plain: bool = False
) -> ValueSpan | None:
    """Return the span of the JSON value `text[start:end]`, with the spans of all values in it.

    The caller knows that the value is valid JSON, or with `plain` that its defects are plain ones.

    Return None when the tolerant scanner must read the value instead: a key is repeated, a number may have
    been rounded, nesting is too deep, or a string may hold a Windows path whose backslashes were not meant as
    escapes.
    """
    if text.find(":\\", start, end) >= 0:
        return None
    stack: list[tuple[int, Any, str | None]] = []  # start, spans and current key of the containers around
    begin, position, key = 0, start, None
    spans: Any = None
    match_token = (_PLAIN_TOKEN if plain else _TOKEN).match
    while (match := match_token(text, position)) is not None:
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
            if len(stack) == MAX_DEPTH:
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
