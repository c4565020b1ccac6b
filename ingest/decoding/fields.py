"""Reads a field of a decoded record as one type. A value of another type counts as missing.

Token counts are also read here. OpenAI and Gemini count cached tokens as a part of the input, but Anthropic
counts them separately. In the events, `input_tokens` is the whole input. `cached_tokens` and
`cache_write_tokens` are included in it and do not overlap.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"),
)  # fmt: skip
_PATH_PART = re.compile(r"[^/\\:]+")


def json_type(value: Any) -> str:
    """Return the JSON name of a decoded value's type: boolean, number, string, array, object or null."""
    return next((kind for python_type, kind in _KINDS if isinstance(value, python_type)), "null")


def read_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def read_count(value: Any) -> int | None:
    """Return the value when it is an integer of 0 or more, else None. A boolean is not an integer here."""
    return value if type(value) is int and value >= 0 else None


def read_number(value: Any) -> float | None:
    if type(value) is not float and type(value) is not int:  # a boolean does not count as a number
        return None
    return float(value) if 0 <= value < 1e15 else None


def read_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def read_objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of an array. Return an empty list if the value is not an array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_epoch_ms(value: Any) -> datetime | None:
    """Return milliseconds since 1970 as an aware UTC time. Return None for any other value."""
    milliseconds = read_number(value)
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def read_time(value: Any) -> datetime | None:
    """Return an ISO 8601 time as an aware UTC time. Return None for any other value.

    A time without an offset is taken as UTC.
    """
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
        if read.tzinfo is UTC:
            return read
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def count_whole_input(whole: Any, cached: Any = None, written: Any = None) -> dict[str, Any]:
    """Return the token fields of `StepMade` for a log that counts cached tokens as a part of the input.

    If the logged input is smaller than the number of cached tokens, the cached tokens are added to the input.
    An input of 0 tokens counts as unknown.
    """
    input_tokens, cached_tokens, write_tokens = read_count(whole), read_count(cached), read_count(written)
    if input_tokens is not None and input_tokens < (cached_tokens or 0) + (write_tokens or 0):
        return count_input_parts(whole, cached, written)
    return _token_counts(input_tokens, cached_tokens, write_tokens)


def count_input_parts(fresh: Any, cached: Any = None, written: Any = None) -> dict[str, Any]:
    """Return the token fields of `StepMade` for a log that counts cached tokens separately from the input.

    The input is unknown when all token counts are 0 or missing.
    """
    cached_tokens, write_tokens = read_count(cached), read_count(written)
    return _token_counts(
        (read_count(fresh) or 0) + (cached_tokens or 0) + (write_tokens or 0), cached_tokens, write_tokens
    )


def _token_counts(whole: int | None, cached: int | None, written: int | None) -> dict[str, Any]:
    if not whole:
        return {"input_tokens": None, "cached_tokens": None, "cache_write_tokens": None}
    return {"input_tokens": whole, "cached_tokens": cached, "cache_write_tokens": written}


def name_project(folder: Any, repository: Any = None) -> str | None:
    """Return the name of a project: owner/name of the repository, or the last name in the folder's path.

    `repository` is a URL or owner/name. Return None when the log has neither repository nor folder.
    """
    address, path = (read_text(repository) or "").removesuffix(".git"), read_text(folder) or ""
    parts = _PATH_PART.findall(address)[-2:] or _PATH_PART.findall(path)[-1:]
    return "/".join(parts) or None
