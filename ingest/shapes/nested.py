"""A value that may be JSON written into a string in, the value inside out; and back into text for people.

Trace exporters write JSON into the strings of JSON, each layer of the way once more. A text is opened only
where a body is due: the arguments of a call are text, too, and must stay as the model sent them.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from ingest.texts import json_text

LAYERS = 10  # strings in strings that are opened; each is shorter than the one around it


def opened(value: Any, layers: int = LAYERS) -> Any:
    """The object or array in a text, through at most `layers` layers; any other value, or text, as it is."""
    inner = value
    for _ in range(layers):
        if not isinstance(inner, str) or inner.lstrip()[:1] not in ("{", "[", '"'):
            break
        decoded = _decoded(inner)
        if decoded is None:
            break
        inner = decoded
    return inner if isinstance(inner, dict | list) else value


def _decoded(text: str) -> Any:
    """What a JSON text says, None when it is none. The standard library takes NaN and lone surrogates."""
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def unquoted(text: str) -> str:
    """The text in a text that is a JSON string; any other text as it is."""
    decoded = _decoded(text) if text.startswith('"') else text
    return decoded if isinstance(decoded, str) else text


def shown(value: Any) -> str | None:
    """A body as text: text and None as they are, anything else as compact JSON."""
    return value if value is None or isinstance(value, str) else json_text(value)
