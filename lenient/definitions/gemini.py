"""Converts schemas between Gemini's dialect and JSON Schema.

Gemini writes types in capitals, null as `nullable`, one `example`, and 64-bit counts as text; it supports
only some keywords. Source: the Schema object of the Gemini API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KNOWN = frozenset({
    "type", "format", "title", "description", "enum", "properties", "required", "items", "anyOf", "default",
    "minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum",
    "maximum", "examples",
})  # fmt: skip
_COUNTS = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength")
_OWN = ("nullable", "example", "propertyOrdering")
_MAX_DEPTH = 32


def is_gemini(schema: Mapping[str, Any]) -> bool:
    """Return True for a schema in Gemini's dialect, whose types are in capitals."""
    declared = schema.get("type")
    return isinstance(declared, str) and declared.isupper()


def from_gemini(schema: Any, depth: int = 0) -> Any:
    """Convert a schema from Gemini's dialect to JSON Schema.

    A value that is no schema, or is nested too deep, is returned unchanged.
    """
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return schema
    result = {key: value for key, value in schema.items() if key not in _OWN}
    if isinstance(result.get("type"), str):
        result["type"] = result["type"].lower()
    if result.get("format") == "enum":
        del result["format"]
    for key in _COUNTS:
        if isinstance(result.get(key), str) and result[key].isdecimal():
            result[key] = int(result[key][:18])
    if schema.get("nullable") is True:
        _allow_null(result)
    if "example" in schema:
        result["examples"] = [schema["example"]]
    return _change_inner(result, lambda inner: from_gemini(inner, depth + 1))


def _allow_null(result: dict[str, Any]) -> None:
    if "type" in result:
        result["type"] = [result["type"], "null"]
    if isinstance(result.get("enum"), list):
        result["enum"] = [*result["enum"], None]
    if "anyOf" in result and "type" not in result:
        result["anyOf"] = [*result["anyOf"], {"type": "null"}]


def _change_inner(schema: dict[str, Any], change: Any) -> dict[str, Any]:
    """Apply `change` to each schema directly inside `schema`, in place, and return `schema`."""
    if isinstance(schema.get("properties"), Mapping):
        schema["properties"] = {name: change(inner) for name, inner in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = change(schema["items"])
    if isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [change(inner) for inner in schema["anyOf"]]
    return schema


def to_gemini(schema: Any) -> dict[str, Any] | None:
    """Convert a schema to Gemini's dialect; None when it cannot be expressed there without loss."""
    try:
        return _write_schema(schema, 0)
    except ValueError:
        return None


def _write_schema(schema: Any, depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or not _KNOWN.issuperset(schema) or depth > _MAX_DEPTH:
        raise ValueError
    result = {**schema}
    declared = result.get("type")
    types = declared if isinstance(declared, list) else [declared]
    named = [name for name in types if name != "null"]
    if len(named) != 1 or not isinstance(named[0], str) or not named[0].islower() or types not in (
        named, [*named, "null"],
    ):  # fmt: skip
        raise ValueError
    result["type"] = named[0].upper()
    if types != named:
        result["nullable"] = True
    _write_values(result, nullable=types != named)
    return _change_inner(result, lambda inner: _write_schema(inner, depth + 1))


def _write_values(result: dict[str, Any], *, nullable: bool) -> None:
    """Convert `enum` and `examples` of `result` to Gemini's dialect, in place.

    Gemini takes only texts in `enum`, and one example. Raises ValueError for other values.
    """
    if "enum" in result:
        listed = result["enum"]
        if nullable and isinstance(listed, list) and listed[-1:] == [None]:
            listed = listed[:-1]
        elif nullable:
            raise ValueError
        if not isinstance(listed, list) or not all(isinstance(value, str) for value in listed):
            raise ValueError
        result["enum"] = listed
    if result.get("format") == "enum":
        raise ValueError
    if "examples" in result:
        examples = result.pop("examples")
        if not isinstance(examples, list) or len(examples) != 1:
            raise ValueError
        result["example"] = examples[0]
