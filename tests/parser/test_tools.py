"""Tests tool definitions."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from lenient import (
    Cardinality,
    EnumConstraint,
    Outcome,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    ToolParameter,
    ValueKind,
    parse_arguments,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "what to look for"},
        "limit": {"type": "integer", "default": 10},
        "tags": {"type": "array", "items": {"type": "string"}},
        "scores": {"type": "object", "additionalProperties": {"type": "number"}},
        "since": {"type": "string", "format": "date-time"},
        "mode": {"type": "string", "enum": ["fast", "exact"]},
        "exact": {"type": ["boolean", "null"]},
    },
    "required": ["query"],
}
SHAPES: dict[str, Any] = {
    "anthropic": {"name": "search", "description": "Search.", "input_schema": SCHEMA},
    "openai chat": {
        "type": "function",
        "function": {"name": "search", "description": "Search.", "parameters": SCHEMA},
    },
    "openai responses": {
        "type": "function",
        "name": "search",
        "description": "Search.",
        "parameters": SCHEMA,
        "strict": True,
    },
    "mcp": {"name": "search", "description": "Search.", "inputSchema": SCHEMA},
    "gemini": {
        "functionDeclarations": [{"name": "search", "description": "Search.", "parametersJsonSchema": SCHEMA}]
    },
    "bedrock": {"toolSpec": {"name": "search", "description": "Search.", "inputSchema": {"json": SCHEMA}}},
    "json schema": {**SCHEMA, "title": "search", "description": "Search."},
    "list": [{"name": "search", "description": "Search.", "input_schema": SCHEMA}],
    "mcp result": {
        "result": {"tools": [{"name": "search", "description": "Search.", "inputSchema": SCHEMA}]}
    },
    "named map": {"search": {**SCHEMA, "description": "Search."}},
    "named map of declarations": {"search": {"description": "Search.", "parameters": SCHEMA}},
    "langchain": {"name": "search", "description": "Search.", "args_schema": SCHEMA},
    "schema as text": {"name": "search", "description": "Search.", "parameters": json.dumps(SCHEMA)},
    "mcp answer": {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "tools": [
                {
                    "name": "search",
                    "description": "Search.",
                    "inputSchema": SCHEMA,
                    "outputSchema": {"type": "object"},
                }
            ],
            "nextCursor": "x",
        },
    },
    "bedrock configuration": {
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "search", "description": "Search.", "inputSchema": {"json": SCHEMA}}}
            ]
        }
    },
    "draft 7": {
        "name": "search",
        "description": "Search.",
        "input_schema": {**SCHEMA, "$schema": "http://json-schema.org/draft-07/schema#"},
    },
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_shape_gives_the_same_definition(shape: Any) -> None:
    [tool] = ToolCatalog.load(json.dumps(shape))
    assert (tool.name, tool.description) == ("search", "Search.")
    assert [(p.name, p.kind, p.cardinality, p.required) for p in tool.parameters] == [
        ("query", ValueKind.STRING, Cardinality.SINGLE, True),
        ("limit", ValueKind.INTEGER, Cardinality.SINGLE, False),
        ("tags", ValueKind.STRING, Cardinality.LIST, False),
        ("scores", ValueKind.NUMBER, Cardinality.MAP, False),
        ("since", ValueKind.TIMESTAMP, Cardinality.SINGLE, False),
        ("mode", ValueKind.ENUM_TOKEN, Cardinality.SINGLE, False),
        ("exact", ValueKind.BOOLEAN, Cardinality.OPTIONAL, False),
    ]


GEMINI = {
    "name": "search",
    "description": "Search.",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "query": {"type": "STRING", "description": "what to look for"},
            "limit": {"type": "INTEGER", "default": 10, "nullable": True},
            "tags": {"type": "ARRAY", "items": {"type": "STRING"}, "maxItems": "3"},
            "mode": {"type": "STRING", "format": "enum", "enum": ["fast", "exact"], "nullable": True},
        },
        "required": ["query"],
        "propertyOrdering": ["query", "limit"],
    },
}


def test_the_dialect_of_gemini_is_read_as_json_schema() -> None:
    tool = ToolDefinition.from_gemini(GEMINI)
    assert tool.to_json_schema() == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "what to look for"},
            "limit": {"type": ["integer", "null"], "default": 10},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "mode": {"type": ["string", "null"], "enum": ["fast", "exact", None]},
        },
        "required": ["query"],
    }
    assert parse_arguments('{"query": "x", "limit": null, "mode": "FAST"}', tool).arguments == {
        "query": "x", "limit": None, "mode": "fast",
    }  # fmt: skip


KINDS = {
    ValueKind.STRING: ("x", "x"),
    ValueKind.BOOLEAN: ("true", True),
    ValueKind.INTEGER: ("7", 7),
    ValueKind.NUMBER: ("1.5", 1.5),
    ValueKind.JSON_OBJECT: ('{"a": 1}', {"a": 1}),
    ValueKind.JSON_ARRAY: ("[1]", [1]),
    ValueKind.TIMESTAMP: ("2025-01-02T03:04:05Z", "2025-01-02T03:04:05Z"),
    ValueKind.URI: ("https://example.org/", "https://example.org/"),
    ValueKind.ENUM_TOKEN: ("RED", "red"),
    ValueKind.ATTACHMENT_REFERENCE: ("att_1", "att_1"),
}


def declared(kind: ValueKind, cardinality: Cardinality) -> ToolDefinition:
    enum = EnumConstraint(("red", "green")) if kind is ValueKind.ENUM_TOKEN else None
    return ToolDefinition(
        "tool", "", (ToolParameter(name="p", kind=kind, cardinality=cardinality, enum=enum),)
    )


@pytest.mark.parametrize("kind", ValueKind)
def test_a_kind_declared_by_hand_takes_its_text(kind: ValueKind) -> None:
    text, value = KINDS[kind]
    single = parse_arguments(json.dumps({"p": text}), declared(kind, Cardinality.SINGLE))
    assert single.arguments == {"p": value}
    many = parse_arguments(json.dumps({"p": [text]}), declared(kind, Cardinality.LIST))
    assert many.arguments == {"p": [value]}
    mapped = parse_arguments(json.dumps({"p": {"k": text}}), declared(kind, Cardinality.MAP))
    assert mapped.arguments == {"p": {"k": value}}


@pytest.mark.parametrize("kind", ValueKind)
def test_an_optional_value_may_be_null_and_a_single_one_may_not(kind: ValueKind) -> None:
    assert parse_arguments('{"p": null}', declared(kind, Cardinality.OPTIONAL)).arguments == {"p": None}
    assert (
        parse_arguments('{"p": null}', declared(kind, Cardinality.SINGLE)).parse_error == "null_not_allowed:p"
    )


@pytest.mark.parametrize("cardinality", Cardinality)
@pytest.mark.parametrize("kind", ValueKind)
def test_a_parameter_declared_by_hand_survives_its_json_schema(
    kind: ValueKind, cardinality: Cardinality
) -> None:
    tool = declared(kind, cardinality)
    read = ToolDefinition.from_json_schema(name="tool", schema=tool.to_json_schema())
    assert [(p.name, p.kind, p.cardinality, p.required, p.enum) for p in read.parameters] == [
        (p.name, p.kind, p.cardinality, p.required, p.enum) for p in tool.parameters
    ]


def test_an_enum_that_counts_case_refuses_another_case() -> None:
    enum = EnumConstraint(("Red",), case_sensitive=True)
    tool = ToolDefinition("tool", "", (ToolParameter(name="p", kind=ValueKind.ENUM_TOKEN, enum=enum),))
    assert parse_arguments('{"p": "red"}', tool).parse_error == "enum_out_of_range:red"
    assert parse_arguments('{"p": "Red"}', tool).outcome is Outcome.CLEAN


def test_numbers_may_be_listed_as_text() -> None:
    enum = EnumConstraint(("1", "2"))
    tool = ToolDefinition("tool", "", (ToolParameter(name="p", kind=ValueKind.INTEGER, enum=enum),))
    assert tool.to_json_schema()["properties"]["p"] == {"type": "integer", "enum": [1, 2]}
    assert parse_arguments('{"p": 1}', tool).outcome is Outcome.CLEAN
    assert parse_arguments('{"p": "1"}', tool).arguments == {"p": 1}
    assert parse_arguments('{"p": 3}', tool).parse_error == "enum_out_of_range:3"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{not json", "not JSON"),
        ("", "not JSON"),
        ("[1]", "a number"),
        ('{"input_schema": {}}', "needs a name"),
        ('{"name": "x", "input_schema": 5}', "`input_schema`"),
        ('[{"name": "x", "input_schema": {}}, "y"]', "text"),
        ('{"name": "x", "parameters": "no JSON"}', "not JSON"),
        ('{"type": "web_search"}', "needs a name"),
        ("[" * 900 + "]" * 900, "nested too deep"),
        ('{"function": ' * 900 + "{}" + "}" * 900, "nested too deep"),
        ("null", "not an object|null|No such file"),
    ],
)
def test_what_is_no_definition_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError, match=sentence):
        ToolCatalog.load(text)


def test_a_file_is_named_in_the_sentence(tmp_path: Path) -> None:
    with pytest.raises(ToolDefinitionError, match=r"nowhere\.json: No such file"):
        ToolCatalog.load(tmp_path / "nowhere.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(ToolDefinitionError, match=r"broken\.json: The tool definition is not JSON"):
        ToolCatalog.load(str(broken))


def test_a_plain_schema_in_a_file_is_named_after_it(tmp_path: Path) -> None:
    (tmp_path / "search.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    assert [tool.name for tool in ToolCatalog.load(tmp_path / "search.json")] == ["search"]


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": 5},
        {"type": 5, "required": "x", "properties": {"a": 5, "b": {"enum": 3, "type": ["x", 4]}}},
        {"properties": {"a": {"pattern": "(", "minimum": "x", "minLength": -1, "format": 7, "items": 3}}},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": []},
        {"oneOf": [False, True, 5]},
        {
            "properties": {
                "a": {"multipleOf": 0},
                "b": {"$ref": 5},
                "c": {"prefixItems": [{}], "items": False},
            }
        },
    ],
)
def test_a_malformed_schema_never_makes_the_parser_raise(schema: dict[str, Any]) -> None:
    tool = ToolDefinition.from_json_schema(name="odd", schema=schema)
    for raw in ('{"a": 1, "b": "x", "c": [1, 2]}', '{"a": "x"}', "{}", "[]", "{'a': [}"):
        assert parse_arguments(raw, tool).raw_arguments == raw


def test_a_catalogue_is_not_changed_by_another_laid_over_it() -> None:
    before = ToolCatalog.load({"name": "a", "input_schema": {"type": "object"}})
    after = before.overlay(ToolCatalog.load({"name": "b", "input_schema": {"type": "object"}}))
    assert ([*before.tools], [*after.tools], before.get("b")) == (["a"], ["a", "b"], None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.tools = {}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("declared", "example", "sent"),
    [
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "0.5", 0.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", [1, 2]),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": "integer"}, "true", "true"),
        ({"type": "integer"}, "seven", "seven"),
        ({"type": "integer"}, 7, 7),
        ({"type": "string"}, "7", "7"),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({}, "7", "7"),
    ],
)
def test_an_example_is_sent_in_the_declared_type(declared: dict[str, Any], example: Any, sent: Any) -> None:
    inner = declared | {"examples": [example], "example": example}
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": inner}}}}
    tool = ToolDefinition.from_json_schema(name="t", schema=schema)
    written = tool.to_anthropic()["input_schema"]["properties"]["a"]["properties"]["b"]
    assert (written["examples"], written["example"]) == ([sent], sent)


def test_an_example_declared_by_hand_is_sent_in_the_declared_type() -> None:
    number = ToolParameter(name="limit", kind=ValueKind.INTEGER, example="10")
    tool = ToolDefinition(name="t", parameters=(number,))
    assert tool.to_anthropic()["input_schema"]["properties"]["limit"]["examples"] == [10]
