"""Contains fixed tool definitions for the fuzz targets, from simple to difficult."""

from __future__ import annotations

from typing import Any

from lenient import ToolCatalog, ToolDefinition

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 1000}

SCHEMAS: dict[str, dict[str, Any]] = {
    "write": {
        "type": "object",
        "properties": {
            "path": _TEXT,
            "content": _TEXT,
            "limit": {"type": "integer"},
            "append": {"type": "boolean"},
        },
        "required": ["path"],
    },
    "search": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1},
            "max_results": _COUNT,
            "tags": {"type": "array", "items": _TEXT, "maxItems": 4, "uniqueItems": True},
            "ratio": {"type": "number", "exclusiveMinimum": 0},
            "mode": {"type": "string", "enum": ["fast", "exact"]},
            "since": {"type": "string", "format": "date-time"},
            "link": {"type": "string", "format": "uri"},
            "filters": {
                "type": "object",
                "properties": {"language": _TEXT, "years": {"type": "array", "items": {"type": "integer"}}},
                "required": ["language"],
                "additionalProperties": False,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    "choose": {
        "type": "object",
        "properties": {
            "target": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                    {"type": "array", "items": {"type": "boolean"}},
                ]
            },
            "a": {"type": ["integer", "null"]},
            "b": {"oneOf": [{"const": "on"}, {"type": "number", "multipleOf": 2}]},
            "c": {"type": "string", "pattern": "^[a-z]+$"},
            "data": {},
        },
    },
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "a": {
                        "anyOf": [
                            {"$ref": "#/$defs/node"},
                            {"type": "array", "items": {"$ref": "#/$defs/node"}},
                        ]
                    },
                    "b": {"oneOf": [{"$ref": "#/$defs/node"}, {"$ref": "#/$defs/leaf"}]},
                    "c": _TEXT,
                },
            },
            "leaf": {
                "type": "object",
                "properties": {"b": {"$ref": "#/$defs/node"}, "c": {"type": "integer"}},
            },
        },
    },
    "mapped": {
        "type": "object",
        "properties": {
            "headers": {"type": "object", "additionalProperties": _TEXT},
            "a": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 3},
            "b": {"allOf": [{"type": "integer"}, {"minimum": 1}, {"maximum": 9}]},
        },
        "additionalProperties": {"type": "boolean"},
    },
    "nothing": {"type": "object", "properties": {}},
    "impossible": {
        "type": "object",
        "properties": {
            "a": False,
            "b": {"$ref": "#/nowhere"},
            "c": {"type": 5},
            "d": {"not": {}},
            "e": {"pattern": "("},
        },
        "required": ["z"],
    },
}
CATALOG = ToolCatalog.from_definitions(
    ToolDefinition.from_json_schema(name=name, schema=schema) for name, schema in SCHEMAS.items()
)
CHOICES: tuple[ToolDefinition | None, ...] = (None, *CATALOG)
NAMES = (
    "path", "content", "limit", "query", "max_results", "maxResults", "tags", "filters", "language", "target",
    "a", "b", "c", "data", "headers", "mode", "since", "unknown", "x y", "",
)  # fmt: skip
