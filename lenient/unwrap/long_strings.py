"""Takes the longest string out of a long text, so that the rest can be checked quickly.

Repeated keys are found by counting quotes, which takes longer than decoding. A long string is decoded alone,
which proves that it is one string; then quotes are counted only in the text around it.
"""

from __future__ import annotations

from typing import Any

from orjson import JSONDecodeError, loads

LONG = 4_096
"""The length of a text, in characters, from which on this is worth while."""

_NEAR = 512  # a string that does not end within so many characters is taken to be the long one
_STRINGS = 16
_STAND_IN = "\ue0fe"


def decode_around_string(text: str) -> tuple[dict[str, Any], str] | None:
    """Return the object that `text` holds, and the text with a placeholder for its longest string.

    Return None when the text is no valid JSON object, or has no single long string as a top-level value.
    """
    start, end = _find_first_long(text), _find_last_long(text)
    if start < 0 or end <= start:
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
    """Return the offset of the first string that does not end within `_NEAR` characters, -1 for none."""
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
    """Return the offset after the last string that does not start within `_NEAR` characters, -1 for none."""
    end = text.rfind('"')
    for _ in range(_STRINGS):
        start = text.rfind('"', max(end - _NEAR, 0), max(end, 0))
        if start <= 0 or text[start - 1] == "\\":
            return end + 1
        end = text.rfind('"', 0, start)
        if end < 0:
            break
    return -1
