"""Name, description and JSON Schema → a declaration in the shape that a provider takes.

Nothing is lost on the way: what a shape cannot say is an error, or is said in another way that it takes.
Knows nothing of how a declaration is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lenient import gemini
from lenient.schemas import ToolDefinitionError
from lenient.strict import StrictWriter

_LISTED = 5


def to_anthropic(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration in the shape of the Anthropic Messages API."""
    return {"name": name, "description": description, "input_schema": dict(schema)}


def to_openai(name: str, description: str, schema: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    """The declaration in the shape of OpenAI chat completions. Raises ToolDefinitionError if strict."""
    responses = to_openai_responses(name, description, schema, strict=strict)
    return {"type": "function", "function": {key: responses[key] for key in responses if key != "type"}}


def to_openai_responses(
    name: str, description: str, schema: Mapping[str, Any], *, strict: bool
) -> dict[str, Any]:
    """The declaration in the shape of OpenAI's Responses API. Raises ToolDefinitionError if strict."""
    parameters = strict_schema(name, schema) if strict else dict(schema)
    declared = {"type": "function", "name": name, "description": description, "parameters": parameters}
    return {**declared, "strict": True} if strict else declared


def strict_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict mode takes it. Raises ToolDefinitionError that names what it cannot say."""
    writer = StrictWriter(schema)
    written = writer.written({"type": "object", **schema})
    if writer.lost:
        more = f" and {len(writer.lost) - _LISTED} more" if len(writer.lost) > _LISTED else ""
        listed = "; ".join(writer.lost[:_LISTED])
        raise ToolDefinitionError(f"OpenAI's strict mode cannot say all of {name!r}: {listed}{more}.")
    return written


def to_mcp(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration in the shape of the Model Context Protocol."""
    return {"name": name, "description": description, "inputSchema": dict(schema)}


def to_gemini(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration in the shape of a Gemini function declaration.

    `parameters` is in Gemini's dialect; a schema that cannot be said there stands under
    `parametersJsonSchema`, which Gemini takes instead.
    """
    declared: dict[str, Any] = {"name": name, "description": description}
    if not schema.get("properties") and schema.keys() <= {"type", "properties", "required"}:
        return declared  # a tool without parameters leaves them unset
    dialect = gemini.to_gemini(schema)
    if dialect is None:
        return {**declared, "parametersJsonSchema": dict(schema)}
    return {**declared, "parameters": dialect}
