"""Writes tool declarations in the shapes that providers take.

Nothing is lost: a schema that a shape cannot express raises an error, or is written in another form that the
provider takes. Declared defaults are the exception: they act on our side
(`lenient.ToolCallRequest.with_defaults`), and the model is told of them only when the caller asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lenient.definitions import gemini
from lenient.definitions.declarations import ToolDefinitionError
from lenient.definitions.strict_mode import StrictWriter

_LISTED = 5
_MAX_DEPTH = 200
_NAMED_SCHEMAS = frozenset({
    "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions",
})  # fmt: skip
"""Keywords that hold schemas by name."""
_SCHEMAS = frozenset({
    "items", "additionalItems", "prefixItems", "contains", "unevaluatedItems", "additionalProperties",
    "unevaluatedProperties", "propertyNames", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
})  # fmt: skip
"""Keywords that hold a schema, or a list of schemas."""


def leave_out_defaults(schema: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return the schema without its `default` keywords; parameters and values of that name stay."""
    return {key: _leave_out_inside(key, value, depth) for key, value in schema.items() if key != "default"}


def _leave_out_inside(keyword: str, value: Any, depth: int) -> Any:
    if depth >= _MAX_DEPTH:
        return value
    if keyword in _NAMED_SCHEMAS and isinstance(value, Mapping):
        return {name: _leave_out_of(inner, depth) for name, inner in value.items()}
    if keyword in _SCHEMAS:
        several = isinstance(value, list)
        return [_leave_out_of(inner, depth) for inner in value] if several else _leave_out_of(value, depth)
    return value


def _leave_out_of(schema: Any, depth: int) -> Any:
    return leave_out_defaults(schema, depth + 1) if isinstance(schema, Mapping) else schema


def to_anthropic(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a declaration for the Anthropic Messages API."""
    return {"name": name, "description": description, "input_schema": dict(schema)}


def to_openai(name: str, description: str, schema: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    """Write a declaration for OpenAI chat completions. With `strict`, may raise ToolDefinitionError."""
    responses = to_openai_responses(name, description, schema, strict=strict)
    return {"type": "function", "function": {key: responses[key] for key in responses if key != "type"}}


def to_openai_responses(
    name: str, description: str, schema: Mapping[str, Any], *, strict: bool
) -> dict[str, Any]:
    """Write a declaration for OpenAI's Responses API. With `strict`, may raise ToolDefinitionError."""
    parameters = write_strict_schema(name, schema) if strict else dict(schema)
    declared = {"type": "function", "name": name, "description": description, "parameters": parameters}
    return {**declared, "strict": True} if strict else declared


def write_strict_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in the form of OpenAI's strict mode.

    Raises ToolDefinitionError, whose message lists the parts of the schema that strict mode cannot express.
    """
    writer = StrictWriter(schema)
    written = writer.write({"type": "object", **schema})
    if writer.lost:
        more = f" and {len(writer.lost) - _LISTED} more" if len(writer.lost) > _LISTED else ""
        listed = "; ".join(writer.lost[:_LISTED])
        raise ToolDefinitionError(f"OpenAI's strict mode cannot say all of {name!r}: {listed}{more}.")
    return written


def to_mcp(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a declaration for the Model Context Protocol."""
    return {"name": name, "description": description, "inputSchema": dict(schema)}


def to_gemini(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a Gemini function declaration.

    `parameters` is in Gemini's dialect; a schema that cannot be expressed there is written under
    `parametersJsonSchema`, which Gemini takes instead.
    """
    declared: dict[str, Any] = {"name": name, "description": description}
    if not schema.get("properties") and schema.keys() <= {"type", "properties", "required"}:
        return declared  # a tool without parameters leaves them unset
    dialect = gemini.to_gemini(schema)
    if dialect is None:
        return {**declared, "parametersJsonSchema": dict(schema)}
    return {**declared, "parameters": dialect}
