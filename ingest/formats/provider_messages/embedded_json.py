"""Decodes JSON that is stored inside strings, and turns values back into text.

Trace exporters write JSON into JSON strings, sometimes in several layers. A text is decoded only where a
message body is expected, because the argument text of a call must stay as the model sent it.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from ingest.sessions.stored_text import json_text

LAYERS = 10  # maximum number of decoded layers of JSON text inside JSON strings


def open_json(value: Any, layers: int = LAYERS) -> Any:
    """Return the object or array in a JSON text. Return any other value unchanged.

    A string in JSON may again contain JSON. At most `layers` such layers are decoded.
    """
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
    """Return the decoded value of a JSON text. Return None when the text is not valid JSON.

    NaN and lone surrogates are accepted.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def unquote(text: str) -> str:
    """Return the decoded string if the text is a JSON string. Return any other text unchanged."""
    decoded = decode_json(text) if text.startswith('"') else text
    return decoded if isinstance(decoded, str) else text


def to_text(value: Any) -> str | None:
    """Return a string or None unchanged. Return any other value as compact JSON."""
    return value if value is None or isinstance(value, str) else json_text(value)
