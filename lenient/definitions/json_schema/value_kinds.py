"""The kinds of value that a parameter allows, and the names of these kinds in JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import orjson

from lenient.regex import compile_regex


class ValueKind(StrEnum):
    """The kind of a parameter's value: a JSON type, or a string with a meaning, such as a timestamp."""

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

    __hash__ = str.__hash__  # the hash of an enum is computed in Python, which is slow


def type_names(schema: Mapping[str, Any]) -> list[str]:
    """Return the types under `type` as JSON Schema spells them, in lower case.

    Gemini writes `STRING`, and people write `int` for `integer`. `any` is left out, because a schema without
    `type` also allows any value.
    """
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    lowered = (name.lower() for name in names if isinstance(name, str))
    return [TYPE_NAMES.get(name, name) for name in lowered if name not in _ANY]


_PYTHON_TYPES: Mapping[str, Any] = {
    "boolean": bool, "integer": int, "number": (int, float), "object": dict, "array": list,
}  # fmt: skip


def convert_example(example: Any, schema: Mapping[str, Any]) -> Any:
    """Return the value that a string example contains as JSON, if this value has the declared type.

    Return any other example unchanged.
    """
    types = type_names(schema)
    if not isinstance(example, str) or "string" in types:
        return example
    try:
        value = orjson.loads(example)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return example
    wanted = [name for name in types if isinstance(value, _PYTHON_TYPES.get(name, ()))]
    return value if any(name == "boolean" or not isinstance(value, bool) for name in wanted) else example


_JSON_FORMATS = frozenset({"json", "json-string", "json_string", "application/json"})
_MAX_DESCRIPTION = 10_000  # in characters
_PLAIN_ENCODINGS = (None, "", "7bit", "8bit", "binary", "utf-8")
_SAYS_JSON = compile_regex(
    r"\bJSON[- ](?:encoded|formatted|serialized|string|text|literal|blob|payload)\b"
    r"|\b(?:stringified|serialized|encoded|valid|raw)[- ]JSON\b"
    r"|\b(?:as|in) (?:an? )?JSON\b(?! file)"
    r"|\A\W*(?:an? |the )?JSON (?:object|array|list|document|value)\b",
    re.IGNORECASE,
)


def says_json_text(schema: Mapping[Any, Any]) -> bool:
    """Return True when the schema of a string declares that the string contains JSON.

    The media type, `contentSchema`, the format, the description, the default or an example may show that.
    """
    if schema.get("contentEncoding") not in _PLAIN_ENCODINGS:
        return False
    media = str(schema.get("contentMediaType") or "").partition(";")[0].strip().lower()
    if media == "application/json" or media.endswith("+json") or (not media and "contentSchema" in schema):
        return True
    examples = schema.get("examples")
    shown = [schema.get("default"), schema.get("example"), *(examples if isinstance(examples, list) else ())]
    return (
        str(schema.get("format")).lower() in _JSON_FORMATS
        or _SAYS_JSON.search(str(schema.get("description") or "")[:_MAX_DESCRIPTION]) is not None
        or any(isinstance(text, str) and _is_container(text) for text in shown)
    )


def _is_container(text: str) -> bool:
    try:
        return text.lstrip()[:1] in ("{", "[") and isinstance(orjson.loads(text), (dict, list))
    except orjson.JSONDecodeError:
        return False


KINDS_BY_TYPE: Mapping[str, ValueKind] = {
    "string": ValueKind.STRING, "boolean": ValueKind.BOOLEAN, "integer": ValueKind.INTEGER,
    "number": ValueKind.NUMBER, "object": ValueKind.JSON_OBJECT, "array": ValueKind.JSON_ARRAY,
}  # fmt: skip
TYPE_NAMES: Mapping[str, str] = {
    "str": "string", "bool": "boolean", "int": "integer", "float": "number", "double": "number",
    "dict": "object", "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
"""Maps type names from programming languages to the type names of JSON Schema."""
_ANY = frozenset({"any", "type_unspecified"})
KINDS_BY_FORMAT: Mapping[str, ValueKind] = {
    "date-time": ValueKind.TIMESTAMP,
    "uri": ValueKind.URI,
    "url": ValueKind.URI,
    "attachment-reference": ValueKind.ATTACHMENT_REFERENCE,
}
