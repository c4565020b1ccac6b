"""Writes JSON Schema for OpenAI's strict mode: closed objects, every field required, optional ones nullable.

Keywords that strict mode cannot express are reported, never dropped. Annotations that strict mode refuses
(defaults, examples, titles) demand nothing of a value and are left out. Source: OpenAI's guide to structured
outputs, supported schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lenient.definitions.json_schema.schema_compiler import compile_schema
from lenient.definitions.json_schema.schema_walk import render_place
from lenient.definitions.json_schema.unions import are_all_disjoint
from lenient.diagnostics import Path

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
    """A writer of one schema for strict mode.

    `lost` lists the parts of the schema that strict mode cannot express, as `path: part`.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.lost: list[str] = []
        self.names = {key: root[key] for key in ("$defs", "definitions") if key in root}

    def write(self, schema: Any, path: Path = None, depth: int = 0) -> dict[str, Any]:
        """Return the strict form of a schema; add the parts that strict mode cannot express to `lost`."""
        if depth > _MAX_DEPTH:
            self.report_loss(path, "its depth")
            return {}
        if not isinstance(schema, Mapping):
            self.report_loss(path, "a schema that allows anything or nothing")
            return {}
        result = {key: value for key, value in schema.items() if key in _KNOWN and key != "const"}
        for keyword in schema:
            if keyword not in _KNOWN and keyword not in _LEFT_OUT:
                self.report_loss(path, keyword)
        if "const" in schema:
            result["enum"] = [schema["const"]]
        if not isinstance(result.get("enum", []), list):
            self.report_loss(path, f"enum {result.pop('enum')}")
        if "format" in result and result["format"] not in _FORMATS:
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
    """Return the schema with null allowed."""
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
