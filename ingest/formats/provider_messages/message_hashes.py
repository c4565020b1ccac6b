"""Makes marks: strings that identify a message or tool call when a client repeats it.

A mark contains only what clients do not change: a user's text, the model's text, or the id of a tool call. If
the id is not unique, the mark also contains the name and the arguments. Results have no marks, because
clients shorten and delete them.
"""

from __future__ import annotations

from typing import Any

import orjson

from ingest.sessions.stored_text import strip_thought
from lenient.regex import compile_regex

_UNIQUE = compile_regex(
    r"(?<![A-Za-z0-9])(?=[a-zA-Z]*[0-9])(?=[0-9]*[a-zA-Z])[A-Za-z0-9]{9,}"
    r"|^(?:call|chatcmpl|fc|gen|msg|resp|toolu|tooluse)[-_][A-Za-z0-9]{20,}"
)


def is_unique(id_: str | None) -> bool:
    """Return True when an id is so random that no other call or conversation has the same id.

    Such an id contains nine or more letters and digits in a row, among them a letter and a digit. An id in a
    vendor's form (`toolu_` and 20 or more letters and digits) is also unique. `call_1`, `functions.bash:0`
    and `get_weather_0` are not unique.
    """
    return id_ is not None and _UNIQUE.search(id_) is not None


def unique_id(id_: str | None) -> str | None:
    """Return the id as a key for finding copies.

    Return None when another conversation may have the same id.
    """
    return id_ if is_unique(id_) else None


def call_mark(tool: Any, id_: Any, arguments: Any) -> str:
    """Return a string that identifies repeated copies of a tool call.

    The string contains the id. If the id is not unique, the string also contains the name and the arguments.
    """
    call_id = id_ if isinstance(id_, str) else None
    return (
        f"call:{call_id}" if is_unique(call_id) else f"call:{call_id}:{tool}:{canonical_arguments(arguments)}"
    )


def words_mark(words: str | None) -> tuple[str, ...]:
    """Return a tuple with a string that identifies repeated copies of the model's text.

    The tuple is empty when there is no text. Thoughts and white space do not matter, because clients change
    both when they repeat the text.
    """
    text = " ".join(strip_thought(words or "").split())
    return ("said:" + text,) if text else ()


def canonical_arguments(arguments: Any) -> str:
    try:
        value = orjson.loads(arguments) if isinstance(arguments, str) else arguments
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONDecodeError, TypeError):
        return str(arguments)
