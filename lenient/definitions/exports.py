"""Writes tool declarations in the formats of the providers, and as Markdown for prompts and pages.

A schema that a format cannot express raises an error or is written in another form that the provider accepts.
Declared defaults are omitted unless the caller asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lenient.definitions.declarations import ToolDefinitionError, to_gemini_schema
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.nodes import are_all_disjoint
from lenient.definitions.json_schema.schema_compiler import compile_schema
from lenient.definitions.json_schema.schema_walk import SchemaPlace, render_place, walk_places
from lenient.definitions.json_schema.value_kinds import convert_example, type_names
from lenient.diagnostics import Path, shorten
from lenient.regex import compile_regex

_LISTED = 5
_MAX_DEPTH = 200
_NAMED_SCHEMAS = frozenset({
    "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions",
})  # fmt: skip
"""The keywords whose value maps names to schemas."""
_SCHEMAS = frozenset({
    "items", "additionalItems", "prefixItems", "contains", "unevaluatedItems", "additionalProperties",
    "unevaluatedProperties", "propertyNames", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
})  # fmt: skip
"""The keywords whose value is a schema or a list of schemas."""


def write_for_models(schema: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return the schema without its `default` keywords and with its examples in their declared type.

    Parameters and values with the name `default` stay. A string as the example of an integer would teach
    models to send strings.
    """
    written = {key: _write_inside(key, value, depth) for key, value in schema.items() if key != "default"}
    if "example" in written:
        written["example"] = convert_example(written["example"], schema)
    if isinstance(examples := written.get("examples"), list):
        written["examples"] = [convert_example(example, schema) for example in examples]
    return written


def _write_inside(keyword: str, value: Any, depth: int) -> Any:
    if depth >= _MAX_DEPTH:
        return value
    if keyword in _NAMED_SCHEMAS and isinstance(value, Mapping):
        return {name: _write_schema(inner, depth) for name, inner in value.items()}
    if keyword in _SCHEMAS:
        several = isinstance(value, list)
        return [_write_schema(inner, depth) for inner in value] if several else _write_schema(value, depth)
    return value


def _write_schema(schema: Any, depth: int) -> Any:
    return write_for_models(schema, depth + 1) if isinstance(schema, Mapping) else schema


def to_anthropic(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Write a declaration for the Anthropic Messages API."""
    return {"name": name, "description": description, "input_schema": dict(schema)}


def to_openai(name: str, description: str, schema: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    """Write a declaration for OpenAI chat completions. `strict` may raise ToolDefinitionError."""
    responses = to_openai_responses(name, description, schema, strict=strict)
    return {"type": "function", "function": {key: responses[key] for key in responses if key != "type"}}


def to_openai_responses(
    name: str, description: str, schema: Mapping[str, Any], *, strict: bool
) -> dict[str, Any]:
    """Write a declaration for OpenAI's Responses API. `strict` may raise ToolDefinitionError."""
    parameters = _write_strict_schema(name, schema) if strict else dict(schema)
    declared = {"type": "function", "name": name, "description": description, "parameters": parameters}
    return {**declared, "strict": True} if strict else declared


def _write_strict_schema(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in the form of OpenAI's strict mode.

    Raises ToolDefinitionError with a list of the keywords that strict mode cannot express.
    """
    writer = _StrictWriter(schema)
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

    `parameters` is in Gemini's dialect. A schema that this dialect cannot express is written as JSON Schema
    under `parametersJsonSchema`.
    """
    declared: dict[str, Any] = {"name": name, "description": description}
    if not schema.get("properties") and schema.keys() <= {"type", "properties", "required"}:
        return declared  # a tool without parameters has no key `parameters`
    dialect = to_gemini_schema(schema)
    if dialect is None:
        return {**declared, "parametersJsonSchema": dict(schema)}
    return {**declared, "parameters": dialect}


# --- OpenAI's strict mode ------------------------------------------------------------------------------

_STRICT_KEYWORDS = frozenset({
    "type", "description", "enum", "const", "properties", "required", "additionalProperties", "items",
    "anyOf", "oneOf", "$ref", "$defs", "definitions", "pattern", "format", "multipleOf", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
})  # fmt: skip
_ANNOTATIONS = frozenset({
    "default", "examples", "example", "title", "$schema", "$id", "$comment", "deprecated", "x-case-sensitive",
    "readOnly", "writeOnly",
})  # fmt: skip
_STRICT_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
})  # fmt: skip
_MAX_STRICT_DEPTH = 32


class _StrictWriter:
    """Converts one schema to strict mode.

    `lost` lists the keywords that strict mode cannot express, each with its position in the schema.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.lost: list[str] = []
        self.names = {key: root[key] for key in ("$defs", "definitions") if key in root}

    def write(self, schema: Any, path: Path = None, depth: int = 0) -> dict[str, Any]:
        """Return the strict form of a schema. Add the keywords that strict mode cannot express to `lost`."""
        if depth > _MAX_STRICT_DEPTH:
            self.report_loss(path, "its depth")
            return {}
        if not isinstance(schema, Mapping):
            self.report_loss(path, "a schema that allows anything or nothing")
            return {}
        result = {key: value for key, value in schema.items() if key in _STRICT_KEYWORDS and key != "const"}
        for keyword in schema:
            if keyword not in _STRICT_KEYWORDS and keyword not in _ANNOTATIONS:
                self.report_loss(path, keyword)
        if "const" in schema:
            result["enum"] = [schema["const"]]
        if not isinstance(result.get("enum", []), list):
            self.report_loss(path, f"enum {result.pop('enum')}")
        if "format" in result and result["format"] not in _STRICT_FORMATS:
            self.report_loss(path, f"format {result.pop('format')}")
        if not {"type", "enum", "anyOf", "oneOf", "$ref"} & result.keys():
            self.report_loss(path, "a value of any type")
        self.write_inner(result, path, depth)
        return result

    def write_inner(self, result: dict[str, Any], path: Path, depth: int) -> None:
        if "items" in result:
            result["items"] = self.write(result["items"], (path, "[]"), depth + 1)
        if "oneOf" in result:
            result["anyOf"] = result.pop("oneOf")
            if not are_all_disjoint(compile_schema({"anyOf": result["anyOf"], **self.names}).branches):
                self.report_loss(path, "oneOf with branches that overlap")
        if isinstance(result.get("anyOf"), list):
            result["anyOf"] = [
                self.write(branch, (path, f"anyOf {at}"), depth + 1)
                for at, branch in enumerate(result["anyOf"])
            ]
        for keyword in ("$defs", "definitions"):
            if isinstance(result.get(keyword), Mapping):
                result[keyword] = {
                    name: self.write(inner, (None, str(name)), depth + 1)
                    for name, inner in result[keyword].items()
                }
        if "object" in _list_types(result) or "properties" in result:
            self.close_object(result, path, depth)

    def close_object(self, result: dict[str, Any], path: Path, depth: int) -> None:
        properties = result.get("properties")
        if not isinstance(properties, Mapping):
            properties = {}
        if result.get("additionalProperties") not in (None, False):
            self.report_loss(path, "fields of any name")
        if not properties and depth and "additionalProperties" not in result:
            self.report_loss(path, "fields of any name")
        required = result.get("required")
        required = required if isinstance(required, list) else []
        result["properties"] = {
            name: self.write_field(inner, (path, str(name)), depth, optional=name not in required)
            for name, inner in properties.items()
        }
        result["required"] = list(properties)
        result["additionalProperties"] = False

    def write_field(self, schema: Any, path: Path, depth: int, *, optional: bool) -> dict[str, Any]:
        written = self.write(schema, path, depth + 1)
        return _allow_null(written) if optional else written

    def report_loss(self, path: Path, what: str) -> None:
        self.lost.append(f"{render_place(path)}: {what}")


def _list_types(schema: Mapping[str, Any]) -> list[Any]:
    declared = schema.get("type")
    return declared if isinstance(declared, list) else [declared]


def _allow_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "type" in schema and not {"anyOf", "$ref"} & schema.keys():
        types = _list_types(schema)
        result = {**schema, "type": types if "null" in types else [*types, "null"]}
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            result["enum"] = [*schema["enum"], None]
        return result
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]} if None not in schema["enum"] else schema
    inner = {key: value for key, value in schema.items() if key != "description"}
    described = {key: value for key, value in schema.items() if key == "description"}
    return {"anyOf": [*_split_branches(inner), {"type": "null"}], **described}


def _split_branches(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if schema.keys() == {"anyOf"}:
        yield from (branch for branch in schema["anyOf"] if branch != {"type": "null"})
    else:
        yield schema


# --- Markdown ------------------------------------------------------------------------------------------

_MARKUP = compile_regex(
    r"[\\`*\[\]<>|~&$#@^]"  # characters that are markup anywhere
    r"|(?<!\w)_|_(?!\w)|:(?=//)|:(?=[\w+-]{1,40}:)|(?<=www)\."  # markup of emphasis, links and image names
    r"|^[-+=]|(?<=^\d)[.)]"  # markup of lists
)
_BLANKS = compile_regex(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")
_PLAIN_NAME = compile_regex(r"[\w.\[\]*:/ -]{1,200}")
_MAX_TEXT = 1_000
_MAX_LISTED = 20
_HEAD = "| parameter | type | required | description |\n|---|---|---|---|"
_BOUNDS = {
    "minimum": "≥ {}", "maximum": "≤ {}", "exclusiveMinimum": "> {}", "exclusiveMaximum": "< {}",
    "multipleOf": "multiple of {}",
    "minLength": "at least {} characters", "maxLength": "at most {} characters",
    "minItems": "at least {} items", "maxItems": "at most {} items", "pattern": "matches {}", "format": "{}",
    "default": "default {}",
}  # fmt: skip


def write_markdown(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """Return a definition as Markdown. The table cell `required` is empty for an optional field."""
    parts = [f"### {_write_name(name)}"]
    if description.strip():
        parts.append(_escape_markup(description))
    rows = [_write_row(place) for place in walk_places(schema) if place.name is not None]
    parts.append("\n".join([_HEAD, *rows]) if rows else "No parameters.")
    return "\n\n".join(parts) + "\n"


def _escape_markup(value: str) -> str:
    """Return a string on one line, escaped so that Markdown shows it unchanged.

    The string is cut to 1,000 characters.
    """
    return _MARKUP.sub(r"\\\g<0>", shorten(_BLANKS.sub(" ", value).strip(), _MAX_TEXT))


def _write_name(value: str) -> str:
    """Return a tool or parameter name as Markdown code, so that readers see exactly what a model must write.

    An unusual name is escaped instead.
    """
    return f"`{value}`" if _PLAIN_NAME.fullmatch(value) else _escape_markup(value)


def _write_row(place: SchemaPlace) -> str:
    described = place.own.get("description") or place.schema.get("description")
    remarks = [_escape_markup(described)] if isinstance(described, str) and described.strip() else []
    remarks += _describe_bounds(place.schema)
    required = "yes" if place.required else ""
    name, kind = _write_name(render_place(place.path)[2:]), _describe_type(place.schema)
    return f"| {name} | {kind} | {required} | {'; '.join(remarks)} |"


def _describe_type(schema: Mapping[str, Any]) -> str:
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list):
        more = ["…"] if len(listed) > _MAX_LISTED else []
        return ", ".join([_escape_markup(to_json_text(value)) for value in listed[:_MAX_LISTED]] + more)
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            types = [
                _describe_type(branch) if isinstance(branch, Mapping) else "any"
                for branch in branches[:_MAX_LISTED]
            ]
            return " or ".join(dict.fromkeys(types))
    return " or ".join(_describe_types(schema)) or "any"


def _describe_types(schema: Mapping[str, Any]) -> Iterator[str]:
    for name in type_names(schema):
        items = schema.get("items")
        if name == "array" and isinstance(items, Mapping):
            yield f"array of {_escape_markup(' or '.join(type_names(items)) or 'any')}"
        else:
            yield _escape_markup(name)


def _describe_bounds(schema: Mapping[str, Any]) -> list[str]:
    return [
        template.format(
            _escape_markup(value if isinstance(value, str) and key != "default" else to_json_text(value))
        )
        for key, template in _BOUNDS.items()
        if (value := schema.get(key)) is not None
    ]
