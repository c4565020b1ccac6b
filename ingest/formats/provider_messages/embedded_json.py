"""Opens JSON that was written into a string, and writes values back as text for people.

Trace exporters write JSON into the strings of JSON, each layer of the way once more. A text is opened only
where a body is due: the arguments of a call are text, too, and must stay as the model sent them.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from ingest.sessions.stored_text import json_text

LAYERS = 10  # strings in strings that are opened; each is shorter than the one around it


def open_json(value: Any, layers: int = LAYERS) -> Any:
    """Return the object or array in a text, through at most `layers` layers; any other value as it is."""
    inner = value
    for _ in range(layers):
        if not isinstance(inner, str) or inner.lstrip()[:1] not in ("{", "[", '"'):
            break
        decoded = decode_json(inner)
        if decoded is None:
            break
        inner = decoded
    return inner if isinstance(inner, dict | list) else value


def decode_json(text: str) -> Any:
    """Return what a JSON text says, None when it is none.

    The standard library takes NaN and lone surrogates.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def unquote(text: str) -> str:
    """Return the text in a text that is a JSON string; any other text as it is."""
    decoded = decode_json(text) if text.startswith('"') else text
    return decoded if isinstance(decoded, str) else text


def to_text(value: Any) -> str | None:
    """Return a body as text: text and None as they are, anything else as compact JSON."""
    return value if value is None or isinstance(value, str) else json_text(value)
