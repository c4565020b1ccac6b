"""Tool declarations in any known shape → name, description and JSON Schema; and back out again.

Reads Anthropic `input_schema`, OpenAI chat and Responses `function`, MCP `inputSchema`, Gemini
`functionDeclarations`, Bedrock `toolSpec`, plain JSON Schema, and lists or catalogues of these. Knows
nothing of what a schema means: that is `lenient.nodes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
_SCHEMA_KEYS = (
    "input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema", "schema",
)  # fmt: skip
_WRAPPERS = ("function", "toolSpec", "custom", "result", "toolConfig")
_JSON_SCHEMA_SIGNS = ("properties", "$schema", "$defs", "anyOf", "oneOf", "allOf", "$ref")


class ToolDefinitionError(ValueError):
    """A tool definition that cannot be used; the message is one sentence for the person who gave it."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration as read. `schema` is the JSON Schema of the arguments; None = the declaration has
    none.
    """

    name: str
    description: str
    schema: Mapping[str, Any] | None


def decode(text: str | bytes) -> Any:
    """The JSON value of a declaration's text. Raises ToolDefinitionError."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ToolDefinitionError(
            f"The tool definition is not JSON (line {error.lineno}, column {error.colno}: {error.msg})."
        ) from None


def declarations(value: Any, default_name: str | None = None) -> Iterator[Declared]:
    """Every declaration in `value`, in order. Raises ToolDefinitionError when an entry is none.

    `default_name` names a plain JSON Schema that has no `title`.
    """
    if isinstance(value, list):
        for entry in value:
            yield from declarations(entry, default_name)
    elif not isinstance(value, Mapping):
        raise ToolDefinitionError(f"A tool definition is an object; this is {_named(value)}.")
    elif inner := _catalogue(value):
        for entry in inner:
            yield from declarations(entry, default_name)
    elif _is_named_map(value):
        for name, schema in value.items():
            yield Declared(name, _text(schema.get("description")), schema)
    else:
        yield declaration(value, default_name)


def declaration(value: Any, default_name: str | None = None) -> Declared:
    """The one declaration that `value` is. Raises ToolDefinitionError."""
    if not isinstance(value, Mapping):
        raise ToolDefinitionError(f"A tool definition is an object; this is {_named(value)}.")
    for key in _WRAPPERS:
        if isinstance(value.get(key), Mapping):
            return declaration(value[key], default_name)
    schema = _schema_of(value)
    if schema is None and any(sign in value for sign in _JSON_SCHEMA_SIGNS):
        return _from_plain_schema(value, default_name)
    name = value.get("name")
    if not isinstance(name, str) or not name:
        if schema is None and value.get("type") == "object":
            return _from_plain_schema(value, default_name)
        raise ToolDefinitionError("A tool definition needs a name.")
    return Declared(name, _text(value.get("description")), schema)


def _from_plain_schema(value: Mapping[str, Any], default_name: str | None) -> Declared:
    named = value.get("title") or value.get("name") or default_name
    if not isinstance(named, str):
        raise ToolDefinitionError("A plain JSON Schema needs a `title` to name its tool.")
    return Declared(named, _text(value.get("description")), value)


def _schema_of(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for key in _SCHEMA_KEYS:
        found = value.get(key)
        if isinstance(found, str):
            found = decode(found)
        if isinstance(found, Mapping):
            inner = found.get("json")  # Bedrock keeps the schema one level down
            return inner if isinstance(inner, Mapping) and len(found) == 1 else found
        if found is not None:
            raise ToolDefinitionError(f"`{key}` of a tool definition is an object; this is {_named(found)}.")
    return None


def _catalogue(value: Mapping[str, Any]) -> list[Any] | None:
    for holder in (value, value.get("result"), value.get("toolConfig")):
        if isinstance(holder, Mapping):
            for key in _LISTS:
                if isinstance(holder.get(key), list):
                    found: list[Any] = holder[key]
                    return found
    return None


def _is_named_map(value: Mapping[str, Any]) -> bool:
    """True for `{"tool": {…schema…}, …}`: only schemas, and none of the keys that a declaration has."""
    own_keys = {"type", *_JSON_SCHEMA_SIGNS, *_SCHEMA_KEYS, *_WRAPPERS}
    return (
        bool(value)
        and own_keys.isdisjoint(value)
        and all(
            isinstance(entry, Mapping) and (entry.get("type") == "object" or "properties" in entry)
            for entry in value.values()
        )
    )


def _named(value: object) -> str:
    return {list: "a list", str: "text", bool: "a boolean", type(None): "null"}.get(type(value), "a number")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def to_anthropic(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration in the shape of the Anthropic Messages API."""
    return {"name": name, "description": description, "input_schema": dict(schema)}


def to_openai(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration in the shape of OpenAI chat completions."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": dict(schema)},
    }


def to_mcp(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration in the shape of the Model Context Protocol."""
    return {"name": name, "description": description, "inputSchema": dict(schema)}
