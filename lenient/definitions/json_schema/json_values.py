"""Writes JSON values as strings, compares values, and decides whether JSON can represent a value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time
from enum import Enum
from typing import Any


def to_json_value(value: Any) -> Any:
    """Return a Python value as a JSON value, for the defaults and allowed values of definitions.

    Enum members become their values, sets and tuples become lists, dates and times become ISO 8601 strings.
    """
    if isinstance(value, Enum):
        return to_json_value(value.value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json_value(item) for item in value]
    return value.isoformat() if isinstance(value, (date, time)) else value


def _write_other(value: Any) -> Any:
    converted = to_json_value(value)
    return str(value) if converted is value else converted


# json.dumps would create an encoder for each call
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_write_other)


def to_json_text(value: Any) -> str:
    """Return a value as JSON on one line.

    A value without a JSON type is written as the string that `str` returns.
    """
    return repr(value) if type(value) is int else _ENCODER.encode(value)


def same_json(left: Any, right: Any) -> bool:
    """Return True when two values are equal as JSON. True does not equal 1, but 1 equals 1.0."""
    waiting = [(left, right)]
    while waiting:
        first, second = waiting.pop()
        if isinstance(first, bool) != isinstance(second, bool) or first != second:
            return False
        if isinstance(first, list) and first is not second:
            waiting.extend(zip(first, second, strict=True))
        elif isinstance(first, Mapping) and first is not second:
            waiting.extend((value, second[key]) for key, value in first.items())
    return True


def is_finite(value: Any) -> bool:
    """Return True when the value contains no NaN or infinity at any depth."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return False
        if isinstance(item, (dict, list)):
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return True
