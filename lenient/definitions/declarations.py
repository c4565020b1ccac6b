"""Reads tool declarations of any provider: the tool's name, description and JSON Schema.

Supported formats: Anthropic `input_schema`, OpenAI chat and Responses `function`, MCP `inputSchema`, Gemini
`functionDeclarations`, Bedrock `toolSpec`, LangChain `args_schema`, plain JSON Schema, and lists or
catalogues of these formats.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")
_SCHEMA_KEYS = (
    "input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema", "schema",
    "args_schema",
)  # fmt: skip
_FIELD_KEYS = ("args", "inputs")  # LangChain and smolagents declare only the properties
_MAX_NESTED = 16
_WRAPPERS = ("function", "toolSpec", "custom", "result", "toolConfig")
_JSON_SCHEMA_SIGNS = ("properties", "$schema", "$defs", "anyOf", "oneOf", "allOf", "$ref")


class ToolDefinitionError(ValueError):
    """Raised for an unusable tool definition. The message is one sentence for the definition's author."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A tool declaration.

    `schema` is the JSON Schema of the arguments, or None when no schema is declared.
    """

    name: str
    description: str
    schema: Mapping[str, Any] | None


def decode_declarations(text: str | bytes) -> Any:
    """Decode declarations from JSON. Raises ToolDefinitionError when `text` is not JSON."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ToolDefinitionError(
            f"The tool definition is not JSON (line {error.lineno}, column {error.colno}: {error.msg})."
        ) from None
    try:
        return json.loads(text)  # orjson would round integers beyond 64 bits
    except (ValueError, RecursionError):
        return value


def read_declarations(value: Any, default_name: str | None = None, depth: int = 0) -> Iterator[Declaration]:
    """Yield every declaration in `value`, in order.

    `value` is one declaration, or a list or catalogue of declarations. A plain JSON Schema that has no
    `title` gets the name `default_name`. `depth` is the level of nested lists. Raises ToolDefinitionError
    when an entry is not a declaration.
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
    """Return `value` as a declaration. Raises ToolDefinitionError when `value` is not a declaration."""
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
        schema_value = value.get(key)
        if isinstance(schema_value, str):
            schema_value = decode_declarations(schema_value)
        if isinstance(schema_value, Mapping):
            inner = schema_value.get("json")  # Bedrock puts the schema under the key `json`
            schema = inner if isinstance(inner, Mapping) and len(schema_value) == 1 else schema_value
            return _from_gemini_schema(schema) if _is_gemini_schema(schema) else schema
        if schema_value is not None:
            raise ToolDefinitionError(
                f"`{key}` of a tool definition is an object; this is {_describe_type(schema_value)}."
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
                    declarations: list[Any] = holder[key]
                    return declarations
    return None


def _is_named_map(value: Mapping[str, Any]) -> bool:
    """Return True when the object maps tool names to declarations and is not itself a declaration."""
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


# --- Gemini's dialect of JSON Schema -------------------------------------------------------------------

_GEMINI_KEYWORDS = frozenset({
    "type", "format", "title", "description", "enum", "properties", "required", "items", "anyOf", "default",
    "minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum",
    "maximum", "examples",
})  # fmt: skip
_GEMINI_COUNTS = ("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength")
_ONLY_GEMINI = ("nullable", "example", "propertyOrdering")
_MAX_DEPTH = 32


def _is_gemini_schema(schema: Mapping[str, Any]) -> bool:
    """Return True for a schema in Gemini's dialect, which writes types in capitals."""
    declared = schema.get("type")
    return isinstance(declared, str) and declared.isupper()


def _from_gemini_schema(schema: Any, depth: int = 0) -> Any:
    """Convert a schema from Gemini's dialect to JSON Schema.

    A value that is not a schema, or is nested too deeply, is returned unchanged.
    """
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return schema
    result = {key: value for key, value in schema.items() if key not in _ONLY_GEMINI}
    if isinstance(result.get("type"), str):
        result["type"] = result["type"].lower()
    if result.get("format") == "enum":
        del result["format"]
    for key in _GEMINI_COUNTS:
        if isinstance(result.get(key), str) and result[key].isdecimal():
            result[key] = int(result[key][:18])
    if schema.get("nullable") is True:
        _allow_null(result)
    if "example" in schema:
        result["examples"] = [schema["example"]]
    return _change_inner(result, lambda inner: _from_gemini_schema(inner, depth + 1))


def _allow_null(result: dict[str, Any]) -> None:
    if "type" in result:
        result["type"] = [result["type"], "null"]
    if isinstance(result.get("enum"), list):
        result["enum"] = [*result["enum"], None]
    if "anyOf" in result and "type" not in result:
        result["anyOf"] = [*result["anyOf"], {"type": "null"}]


def _change_inner(schema: dict[str, Any], change: Any) -> dict[str, Any]:
    if isinstance(schema.get("properties"), Mapping):
        schema["properties"] = {name: change(inner) for name, inner in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = change(schema["items"])
    if isinstance(schema.get("anyOf"), list):
        schema["anyOf"] = [change(inner) for inner in schema["anyOf"]]
    return schema


def to_gemini_schema(schema: Any) -> dict[str, Any] | None:
    """Convert a schema to Gemini's dialect. Return None when the conversion would lose constraints."""
    try:
        return _write_schema(schema, 0)
    except ValueError:
        return None


def _write_schema(schema: Any, depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or not _GEMINI_KEYWORDS.issuperset(schema) or depth > _MAX_DEPTH:
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

    Gemini allows only strings in `enum`, and only one example. Raises ValueError for any other content.
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
