"""Hashes the parts of a conversation by what stays of them in whatever way a client repeats it.

Marks are a user's words, the ids of calls (with names and arguments where ids are not unique), the model's
words. Results have none: clients cut and clear them.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from ingest.sessions.stored_text import strip_thought

_UNIQUE = re.compile(
    r"(?<![A-Za-z0-9])(?=[a-zA-Z]*[0-9])(?=[0-9]*[a-zA-Z])[A-Za-z0-9]{9,}"
    r"|^(?:call|chatcmpl|fc|gen|msg|resp|toolu|tooluse)[-_][A-Za-z0-9]{20,}"
)


def is_unique(id_: str | None) -> bool:
    """Return True for an id that nobody gives twice: nine or more letters and digits in a row, or a vendor's
    form.

    `call_1`, `functions.bash:0` and `get_weather_0` are not; another conversation has the same.
    """
    return id_ is not None and _UNIQUE.search(id_) is not None


def unique_id(id_: str | None) -> str | None:
    """Return the id as a key by which copies are found; None where another conversation may have the same."""
    return id_ if is_unique(id_) else None


def call_mark(tool: Any, id_: Any, arguments: Any) -> str:
    """Return the mark of a call: its id, with its name and arguments where the id may come again."""
    known = id_ if isinstance(id_, str) else None
    return f"call:{known}" if is_unique(known) else f"call:{known}:{tool}:{canonical_arguments(arguments)}"


def words_mark(words: str | None) -> tuple[str, ...]:
    """Return the mark of what the model said: clients take thoughts and white space out before they repeat
    it.
    """
    kept = " ".join(strip_thought(words or "").split())
    return ("said:" + kept,) if kept else ()


def canonical_arguments(arguments: Any) -> str:
    try:
        value = orjson.loads(arguments) if isinstance(arguments, str) else arguments
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONDecodeError, TypeError):
        return str(arguments)
