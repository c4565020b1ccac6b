"""A JSON Schema → the schema that OpenAI's strict mode takes: closed objects, every field required, optional
ones nullable.

What strict mode cannot say is named, never dropped. Annotations that it refuses (defaults, examples, titles)
demand nothing and are left out. Source: OpenAI's guide to structured outputs, supported schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lenient.diagnostics import Path
from lenient.graph import compile_schema
from lenient.places import place_path
from lenient.unions import all_apart

_KNOWN = frozenset({
    "type", "description", "enum", "const", "properties", "required", "additionalProperties", "items",
    "anyOf", "oneOf", "$ref", "$defs", "definitions", "pattern", "format", "multipleOf", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
})  # fmt: skip
_LEFT_OUT = frozenset({
    "default", "examples", "example", "title", "$schema", "$id", "$comment", "deprecated", "x-case-sensitive",
    "readOnly", "writeOnly",
})  # fmt: skip
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_MAX_DEPTH = 32


class StrictWriter:
    """Writes one schema; `lost` collects what strict mode cannot say, as `path: what`."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.lost: list[str] = []
        self.names = {key: root[key] for key in ("$defs", "definitions") if key in root}

    def written(self, schema: Any, path: Path = None, depth: int = 0) -> dict[str, Any]:
        """The strict form of a schema."""
        if depth > _MAX_DEPTH:
            self.lose(path, "its depth")
            return {}
        if not isinstance(schema, Mapping):
            self.lose(path, "a schema that allows anything or nothing")
            return {}
        result = {key: value for key, value in schema.items() if key in _KNOWN and key != "const"}
        for keyword in schema:
            if keyword not in _KNOWN and keyword not in _LEFT_OUT:
                self.lose(path, keyword)
        if "const" in schema:
            result["enum"] = [schema["const"]]
        if not isinstance(result.get("enum", []), list):
            self.lose(path, f"enum {result.pop('enum')}")
        if "format" in result and result["format"] not in _FORMATS:
            self.lose(path, f"format {result.pop('format')}")
        if not {"type", "enum", "anyOf", "oneOf", "$ref"} & result.keys():
            self.lose(path, "a value of any type")
        self.write_inner(result, path, depth)
        return result

    def write_inner(self, result: dict[str, Any], path: Path, depth: int) -> None:
        if "items" in result:
            result["items"] = self.written(result["items"], (path, "[]"), depth + 1)
        if "oneOf" in result:
            result["anyOf"] = result.pop("oneOf")
            if not all_apart(compile_schema({"anyOf": result["anyOf"], **self.names}).branches):
                self.lose(path, "oneOf with branches that overlap")
        if isinstance(result.get("anyOf"), list):
            result["anyOf"] = [
                self.written(branch, (path, f"anyOf {at}"), depth + 1)
                for at, branch in enumerate(result["anyOf"])
            ]
        for keyword in ("$defs", "definitions"):
            if isinstance(result.get(keyword), Mapping):
                result[keyword] = {
                    name: self.written(inner, (None, str(name)), depth + 1)
                    for name, inner in result[keyword].items()
                }
        if "object" in _types(result) or "properties" in result:
            self.close(result, path, depth)

    def close(self, result: dict[str, Any], path: Path, depth: int) -> None:
        properties = result.get("properties")
        if not isinstance(properties, Mapping):
            properties = {}
        if result.get("additionalProperties") not in (None, False):
            self.lose(path, "fields of any name")
        if not properties and depth and "additionalProperties" not in result:
            self.lose(path, "fields of any name")
        required = result.get("required")
        required = required if isinstance(required, list) else []
        result["properties"] = {
            name: self.field(inner, (path, str(name)), depth, optional=name not in required)
            for name, inner in properties.items()
        }
        result["required"] = list(properties)
        result["additionalProperties"] = False

    def field(self, schema: Any, path: Path, depth: int, *, optional: bool) -> dict[str, Any]:
        written = self.written(schema, path, depth + 1)
        return _nullable(written) if optional else written

    def lose(self, path: Path, what: str) -> None:
        self.lost.append(f"{place_path(path)}: {what}")


def _types(schema: Mapping[str, Any]) -> list[Any]:
    declared = schema.get("type")
    return declared if isinstance(declared, list) else [declared]


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema, null allowed."""
    if "type" in schema and not {"anyOf", "$ref"} & schema.keys():
        types = _types(schema)
        result = {**schema, "type": types if "null" in types else [*types, "null"]}
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            result["enum"] = [*schema["enum"], None]
        return result
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]} if None not in schema["enum"] else schema
    inner = {key: value for key, value in schema.items() if key != "description"}
    described = {key: value for key, value in schema.items() if key == "description"}
    return {"anyOf": [*_branches(inner), {"type": "null"}], **described}


def _branches(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if schema.keys() == {"anyOf"}:
        yield from (branch for branch in schema["anyOf"] if branch != {"type": "null"})
    else:
        yield schema
