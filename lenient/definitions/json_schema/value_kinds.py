"""The kinds of value that a parameter takes, and the names under which JSON Schema declares them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ValueKind(StrEnum):
    """The kind of a parameter's value: a type of JSON, or a text with a meaning, such as a timestamp."""

    STRING = "string"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    JSON_OBJECT = "json_object"
    JSON_ARRAY = "json_array"
    TIMESTAMP = "timestamp"
    URI = "uri"
    ENUM_TOKEN = "enum_token"  # noqa: S105  a kind of value, not a password
    ATTACHMENT_REFERENCE = "attachment_reference"


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """Return the names under `type` in the words of JSON Schema, in lower case.

    Gemini writes `STRING`, and people write `int` for `integer`. `any` is left out: it allows the same values
    as a schema without a type.
    """
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    lowered = (name.lower() for name in names if isinstance(name, str))
    return [TYPE_NAMES.get(name, name) for name in lowered if name not in _ANY]


KINDS_BY_TYPE: Mapping[str, ValueKind] = {
    "string": ValueKind.STRING, "boolean": ValueKind.BOOLEAN, "integer": ValueKind.INTEGER,
    "number": ValueKind.NUMBER, "object": ValueKind.JSON_OBJECT, "array": ValueKind.JSON_ARRAY,
}  # fmt: skip
TYPE_NAMES: Mapping[str, str] = {
    "str": "string", "bool": "boolean", "int": "integer", "float": "number", "double": "number",
    "dict": "object", "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
"""Names from programming languages that people write for those of JSON Schema."""
_ANY = frozenset({"any", "type_unspecified"})
KINDS_BY_FORMAT: Mapping[str, ValueKind] = {
    "date-time": ValueKind.TIMESTAMP,
    "uri": ValueKind.URI,
    "url": ValueKind.URI,
    "attachment-reference": ValueKind.ATTACHMENT_REFERENCE,
}
