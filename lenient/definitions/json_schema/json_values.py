"""JSON values: writes them as text, compares them, and says whether JSON can carry them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)  # json.dumps makes a new one for each call


def to_json_text(value: Any) -> str:
    """Return a value as JSON text on one line; a value of no JSON type is written as the text of `str`."""
    return repr(value) if type(value) is int else _ENCODER.encode(value)


def same_json(left: Any, right: Any) -> bool:
    """Return True when two values are equal as JSON: true is not 1, but 1 is 1.0."""
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if isinstance(one, bool) != isinstance(other, bool) or one != other:
            return False
        if isinstance(one, list) and one is not other:
            waiting.extend(zip(one, other, strict=True))
        elif isinstance(one, Mapping) and one is not other:
            waiting.extend((value, other[key]) for key, value in one.items())
    return True


def is_finite(value: Any) -> bool:
    """Return True when there is no NaN or infinity anywhere in the value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return False
        if isinstance(item, (dict, list)):
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return True
