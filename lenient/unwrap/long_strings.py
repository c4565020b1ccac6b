"""Reads JSON objects; of a long text the longest string is taken out, so that the rest is checked quickly.

Repeated keys are found by counting quotes, which takes longer than decoding. A long string is decoded alone,
which proves that it is one string; then quotes are counted only in the text around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from orjson import JSONDecodeError, loads

LONG = 4_096
"""The length of a text, in characters, from which on this is worth while."""

_NEAR = 512  # a string that does not end within so many characters is taken to be the long one
_STRINGS = 16
_STAND_IN = "\ue0fe"

Accepts = Callable[[dict[str, Any], str], bool]
"""Returns True when arguments, given with the text that they were decoded from, fit."""
NO_JSON: Final = object()
"""Stands for the value of a text that is not JSON."""
ReadFitting = Callable[[str], Any]
"""Returns the object in a JSON text when it fits as it is, NO_JSON for a text that is no JSON, else None."""


def make_reader(accepts: Accepts) -> ReadFitting:
    """Return a reader of the JSON objects that `accepts` accepts."""

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
    """Return the object that `text` holds, and the text with a placeholder for its longest string.

    Return None when the text is no valid JSON object, or has no single long string as a top-level value.
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
