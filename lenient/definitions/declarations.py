"""Reads tool declarations of any provider: their name, description and JSON Schema.

The shapes are Anthropic `input_schema`, OpenAI chat and Responses `function`, MCP `inputSchema`, Gemini
`functionDeclarations`, Bedrock `toolSpec`, LangChain `args_schema`, plain JSON Schema, and lists or
catalogues of these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lenient.definitions.gemini import from_gemini, is_gemini

_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
_SCHEMA_KEYS = (
    "input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema", "schema",
    "args_schema",
)  # fmt: skip
_FIELD_KEYS = ("args", "inputs")  # LangChain, smolagents: the properties alone
_MAX_NESTED = 16
_WRAPPERS = ("function", "toolSpec", "custom", "result", "toolConfig")
_JSON_SCHEMA_SIGNS = ("properties", "$schema", "$defs", "anyOf", "oneOf", "allOf", "$ref")


class ToolDefinitionError(ValueError):
    """The error for an unusable tool definition; its message is one sentence for the person who gave it."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A tool declaration as read; `schema` is the JSON Schema of the arguments, None when none is given."""

    name: str
    description: str
    schema: Mapping[str, Any] | None


def decode_declarations(text: str | bytes) -> Any:
    """Decode the JSON text of declarations. Raises ToolDefinitionError when the text is not JSON."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ToolDefinitionError(
            f"The tool definition is not JSON (line {error.lineno}, column {error.colno}: {error.msg})."
        ) from None
    try:
        return json.loads(text)  # orjson rounds integers beyond 64 bits
    except (ValueError, RecursionError):
        return value


def read_declarations(value: Any, default_name: str | None = None, depth: int = 0) -> Iterator[Declaration]:
    """Yield every declaration in `value`, in order.

    `value` is one declaration, or a list or catalogue of declarations. `default_name` names a plain JSON
    Schema that has no `title`. `depth` is the level of nested lists. Raises ToolDefinitionError when an entry
    is no declaration.
    """
    if depth > _MAX_NESTED:
        raise ToolDefinitionError("Tool definitions are lists of objects; these are nested too deep.")
    if isinstance(value, list):
        for entry in value:
            yield from read_declarations(entry, default_name, depth + 1)
    elif not isinstance(value, Mapping):
        raise ToolDefinitionError(f"A tool definition is an object; this is {_describe_type(value)}.")
    elif (inner := _find_list(value)) is not None:
        for entry in inner:
            yield from read_declarations(entry, default_name, depth + 1)
    elif _is_named_map(value):
        for name, entry in value.items():
            schema = _find_schema(entry)
            yield Declaration(
                str(name), _read_text(entry.get("description")), entry if schema is None else schema
            )
    else:
        yield read_declaration(value, default_name)


def read_declaration(value: Any, default_name: str | None = None) -> Declaration:
    """Return the one declaration that `value` is. Raises ToolDefinitionError when it is none."""
    value = _unwrap(value)
    schema = _find_schema(value)
    if schema is None and any(sign in value for sign in _JSON_SCHEMA_SIGNS):
        return _read_plain_schema(value, default_name)
    name = value.get("name")
    if not isinstance(name, str) or not name:
        if schema is None and value.get("type") == "object":
            return _read_plain_schema(value, default_name)
        raise ToolDefinitionError("A tool definition needs a name.")
    return Declaration(name, _read_text(value.get("description")), schema)


def _unwrap(value: Any) -> Mapping[str, Any]:
    """Return the declaration inside `function` and similar wrappers."""
    for _ in range(_MAX_NESTED):
        if not isinstance(value, Mapping):
            raise ToolDefinitionError(f"A tool definition is an object; this is {_describe_type(value)}.")
        inner = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), Mapping)), None)
        if inner is None:
            return value
        value = inner
    raise ToolDefinitionError("A tool definition is an object with a name; this one is nested too deep.")


def _read_plain_schema(value: Mapping[str, Any], default_name: str | None) -> Declaration:
    named = value.get("title") or value.get("name") or default_name
    if not isinstance(named, str):
        raise ToolDefinitionError("A plain JSON Schema needs a `title` to name its tool.")
    return Declaration(named, _read_text(value.get("description")), value)


def _find_schema(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for key in _SCHEMA_KEYS:
        found = value.get(key)
        if isinstance(found, str):
            found = decode_declarations(found)
        if isinstance(found, Mapping):
            inner = found.get("json")  # Bedrock keeps the schema one level down
            schema = inner if isinstance(inner, Mapping) and len(found) == 1 else found
            return from_gemini(schema) if is_gemini(schema) else schema
        if found is not None:
            raise ToolDefinitionError(
                f"`{key}` of a tool definition is an object; this is {_describe_type(found)}."
            )
    for key in _FIELD_KEYS:
        fields = value.get(key)
        if isinstance(fields, Mapping) and all(isinstance(inner, Mapping) for inner in fields.values()):
            return {"type": "object", "properties": fields}
    return None


def _find_list(value: Mapping[str, Any]) -> list[Any] | None:
    for holder in (value, value.get("result"), value.get("toolConfig")):
        if isinstance(holder, Mapping):
            for key in _LISTS:
                if isinstance(holder.get(key), list):
                    found: list[Any] = holder[key]
                    return found
    return None


def _is_named_map(value: Mapping[str, Any]) -> bool:
    """Return True for a map of tool names to declarations, without the keys of a single declaration."""
    own_keys = {"type", "name", *_JSON_SCHEMA_SIGNS, *_SCHEMA_KEYS, *_WRAPPERS}
    return (
        bool(value)
        and own_keys.isdisjoint(value)
        and all(
            isinstance(entry, Mapping)
            and (entry.get("type") == "object" or not {"properties", *_SCHEMA_KEYS}.isdisjoint(entry))
            for entry in value.values()
        )
    )


def _describe_type(value: object) -> str:
    names = {list: "a list", dict: "an object", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _read_text(value: object) -> str:
    return value if isinstance(value, str) else ""
