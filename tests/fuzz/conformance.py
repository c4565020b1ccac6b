"""Finds the first reason why arguments do not fit the JSON Schema of a tool definition, with `jsonschema`.

`jsonschema` shares no code with the parser. The parser is more tolerant, so the schema is relaxed first:
undeclared fields are allowed, and `oneOf` counts as `anyOf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types

_SCHEMAS_BY_NAME = ("properties", "$defs", "definitions", "patternProperties")
_LITERAL = ("enum", "const", "default", "examples", "required")


def misfit(schema: Mapping[str, Any], arguments: dict[str, Any]) -> str | None:
    """Return why the arguments do not fit the schema. Return None if they fit. The schema must be valid."""
    validator = Draft202012Validator(relaxed(schema))
    error = next(validator.iter_errors(arguments), None)
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


def relaxed(schema: Any) -> Any:
    """Return the schema changed to the parser's more tolerant rules."""
    if isinstance(schema, list):
        return [relaxed(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _SCHEMAS_BY_NAME and isinstance(value, Mapping):
            result[keyword] = {name: relaxed(inner) for name, inner in value.items()}
        elif keyword in _LITERAL:
            result[keyword] = value
        elif keyword == "type":  # Gemini writes the names of types in capitals
            result[keyword] = [name.lower() for name in value] if isinstance(value, list) else value.lower()
        elif not (keyword in ("additionalProperties", "unevaluatedProperties") and value is False):
            result["anyOf" if keyword == "oneOf" else keyword] = relaxed(value)
    if result.pop("nullable", False) is True:
        return {"anyOf": [{"type": "null"}, result]}
    return result
