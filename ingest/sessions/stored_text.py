"""Converts a decoded value, a long text or a name to text for the store. No function raises an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from math import isfinite
from typing import Any, TypeVar

import orjson

TEXT_KEPT = 2_000  # characters of a stored text
MESSAGE_KEPT = 500  # characters of an agent's message
NAME_KEPT = 1_000  # characters of an id or a name; pages use such names for groups and links
_HASH = 16  # hexadecimal digits of a hash

Name = TypeVar("Name", str, str | None)
_THOUGHTS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))


def json_text(value: Any, *, sort_keys: bool = False) -> str:
    """Return a value as compact JSON.

    Times become ISO 8601. A value that JSON cannot express becomes its `str()` or `repr()`.
    """
    try:
        return orjson.dumps(
            value, default=_to_plain_value, option=orjson.OPT_SORT_KEYS if sort_keys else None
        ).decode()
    except TypeError:  # the value has an integer over 64 bits or a lone surrogate
        return _json_text_of_anything(value, sort_keys)


def _json_text_of_anything(value: Any, sort_keys: bool) -> str:
    try:
        text = json.dumps(
            value, default=_to_plain_value, sort_keys=sort_keys, ensure_ascii=False, separators=(",", ":")
        )
    except RecursionError:
        text = json.dumps("(nested too deep to be written as JSON)")
    except (TypeError, ValueError):
        text = json.dumps(repr(value))
    # A lone surrogate cannot be stored as UTF-8, so store its escape.
    return text.encode("utf-8", "backslashreplace").decode()


def _to_plain_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def decode_json(text: str) -> Any:
    """Decode a string that `json_text` returned. Integers of any size keep their value."""
    try:
        value = orjson.loads(text)
        return value if json_text(value) == text else json.loads(text)
    except (ValueError, RecursionError):
        return text


def canonical_json(text: str) -> str:
    """Return JSON without white space and with sorted keys.

    A string that is not JSON is returned unchanged.
    """
    try:
        return json_text(orjson.loads(text), sort_keys=True)
    except orjson.JSONDecodeError:
        return text


def spell_non_finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `values` in which NaN and the infinities are strings. JSON would make them null."""
    return {
        name: str(value) if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }


def shorten_name(name: Name) -> Name:
    """Return a name in the form in which all tables store it.

    A name of more than 1,000 characters is cut and ends with a hash of the whole name.
    """
    if name is None or len(name) <= NAME_KEPT:
        return name
    whole = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[: NAME_KEPT - _HASH - 1]}…{whole[:_HASH]}"


def cut_text(text: str | None) -> str | None:
    """Return the first `TEXT_KEPT` characters of a message or a result. Add "…" when the string is longer.

    Do not use this function for raw arguments, which are never cut.
    """
    return text if text is None or len(text) <= TEXT_KEPT else text[:TEXT_KEPT] + "…"


def cut_message(message: str | None) -> str | None:
    """Return the beginning of an agent's message, cut to the length that the store keeps."""
    return message if message is None else message[:MESSAGE_KEPT]


def strip_thought(words: str) -> str:
    """Return a model's reply without a `<think>` or `<thinking>` block at its beginning.

    Return '' when the block has no end.
    """
    text = words.lstrip()
    for opening, closing in _THOUGHTS:
        if text.startswith(opening):
            text = text.partition(closing)[2]
    return text
