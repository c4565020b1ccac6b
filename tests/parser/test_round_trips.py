"""Tests that a tool definition stays the same when it is written in any format and then read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lenient import (
    Cardinality,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    ToolParameter,
    ValueKind,
    parse_arguments,
)
from tests.parser.strategies import any_schemas, names, texts

QUICK = settings(max_examples=100, deadline=None)
tool_names = st.text(st.sampled_from("abcXYZ019_-"), min_size=1, max_size=20)
titles = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
values: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-9, 9) | texts | st.lists(texts, max_size=2)
)
extras = st.fixed_dictionaries(
    {},
    optional={"description": titles, "default": values, "examples": st.lists(values, min_size=1, max_size=1)},
)
properties = st.dictionaries(
    names,
    st.builds(
        lambda schema, more: schema if isinstance(schema, bool) else {**schema, **more}, any_schemas, extras
    ),
    max_size=4,
)
from_schema = st.builds(
    lambda name, description, fields, required: ToolDefinition.from_json_schema(
        name=name,
        description=description,
        schema={"type": "object", "properties": fields, "required": required},
    ),
    tool_names,
    titles.filter(bool),
    properties,
    st.lists(names, max_size=2),
)
by_hand = st.builds(
    ToolDefinition,
    tool_names,
    titles,
    st.lists(
        st.builds(
            ToolParameter,
            name=names,
            kind=st.sampled_from([kind for kind in ValueKind if kind is not ValueKind.ENUM_TOKEN]),
            cardinality=st.sampled_from(Cardinality),
            required=st.booleans(),
            description=titles,
            default=values,
        ),
        unique_by=lambda parameter: parameter.name,
        max_size=4,
    ).map(tuple),
)
definitions = from_schema | by_hand
SHAPES: dict[str, Callable[..., dict[str, Any]]] = {
    "anthropic": ToolDefinition.to_anthropic,
    "openai chat": ToolDefinition.to_openai,
    "openai responses": ToolDefinition.to_openai_responses,
    "mcp": ToolDefinition.to_mcp,
    "gemini": ToolDefinition.to_gemini,
}


def list_content(tool: ToolDefinition) -> list[Any]:
    """Return the complete content of a tool definition as plain data."""
    return [tool.name, tool.description] + [
        [p.name, p.kind, p.cardinality, p.required, p.description, p.enum, repr(p.example), repr(p.default)]
        for p in tool.parameters
    ]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("shape", SHAPES)
@QUICK
@given(tool=definitions)
def test_a_definition_written_out_and_read_again_says_the_same(shape: str, tool: ToolDefinition) -> None:
    written = json.dumps(SHAPES[shape](tool, defaults=True))
    [again] = ToolCatalog.load(written)
    assert list_content(again) == list_content(tool)
    assert json.dumps(SHAPES[shape](again, defaults=True)) == written
    if tool.schema is not None and tool.parameters:
        assert again == tool


@pytest.mark.parametrize("shape", SHAPES)
def test_a_model_is_not_told_of_defaults_unless_asked(shape: str) -> None:
    whole = {"type": "integer", "default": 3}
    inner = {"type": "object", "properties": {"default": whole}, "required": ["default"]}
    values = {"enum": [{"default": 1}], "default": {"default": 1}}
    schema = {
        "type": "object",
        "properties": {"limit": whole, "default": {"type": "array", "items": inner}, "value": values},
        "$defs": {"default": {"anyOf": [whole, {"type": "null"}]}},
    }
    tool = ToolDefinition.from_json_schema(name="t", schema=schema)
    [declaration] = ToolCatalog.load([SHAPES[shape](tool)])
    bare = {"type": "integer"}
    assert declaration.to_json_schema()["properties"] == {
        "limit": bare,
        "default": {"type": "array", "items": {**inner, "properties": {"default": bare}}},
        "value": {"enum": [{"default": 1}]},
    }
    [full] = ToolCatalog.load([SHAPES[shape](tool, defaults=True)])
    assert full.to_json_schema()["properties"] == schema["properties"]
    assert tool.to_json_schema() == schema


@QUICK
@given(tool=definitions)
def test_a_plain_schema_read_again_says_the_same(tool: ToolDefinition) -> None:
    schema = tool.to_json_schema()
    assert (
        list_content(
            ToolDefinition.from_json_schema(name=tool.name, description=tool.description, schema=schema)
        )
        == list_content(tool)
        or not tool.description
    )


def test_strict_mode_requires_every_field_and_lets_the_optional_ones_be_null() -> None:
    tool = ToolDefinition.from_json_schema(
        name="search",
        schema={
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "mode": {"type": "string", "enum": ["fast"]},
                "year": {"$ref": "#/$defs/year"},
            },
            "required": ["query"],
            "$defs": {"year": {"type": "integer", "minimum": 1900}},
        },
    )
    function = tool.to_openai(strict=True)["function"]
    assert function["strict"] is True
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "mode": {"type": ["string", "null"], "enum": ["fast", None]},
            "year": {"anyOf": [{"$ref": "#/$defs/year"}, {"type": "null"}]},
        },
        "required": ["query", "mode", "year"],
        "$defs": {"year": {"type": "integer", "minimum": 1900}},
        "additionalProperties": False,
    }
    strict = ToolDefinition.from_openai(tool.to_openai(strict=True))
    raw = '{"query": "x", "mode": null, "year": null}'
    assert parse_arguments(raw, strict).diagnostics == ()


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ({"type": "string", "minLength": 1}, "minLength"),
        ({"type": "object"}, "fields of any name"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
            "any name",
        ),
        ({}, "a value of any type"),
        (True, "anything or nothing"),
        ({"type": "string", "format": "color"}, "format color"),
        ({"not": {"type": "string"}, "type": "integer"}, "not"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "overlap"),
    ],
)
def test_strict_mode_names_what_it_cannot_say(schema: Any, what: str) -> None:
    tool = ToolDefinition.from_json_schema(name="t", schema={"type": "object", "properties": {"a": schema}})
    with pytest.raises(ToolDefinitionError, match=what):
        tool.to_openai(strict=True)


@QUICK
@given(tool=from_schema)
def test_strict_mode_takes_what_the_definition_takes(tool: ToolDefinition) -> None:
    try:
        strict = tool.to_openai_responses(strict=True)["parameters"]
    except ToolDefinitionError:
        return
    waiting: list[Any] = [strict]
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict):
            if "properties" in schema:
                assert schema["additionalProperties"] is False
                assert schema["required"] == list(schema["properties"])
            waiting.extend(schema.values())


def test_markdown_is_a_table_that_models_and_people_read() -> None:
    tool = ToolDefinition.from_json_schema(
        name="search",
        description="Search an index.",
        schema={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for."},
                "filters": {
                    "type": "object",
                    "properties": {"years": {"type": "array", "items": {"type": "integer", "minimum": 1900}}},
                },
                "mode": {"enum": ["fast", "exact"], "default": "fast"},
            },
            "required": ["query"],
        },
    )
    assert tool.to_markdown(defaults=True) == (
        "### `search`\n\nSearch an index.\n\n"
        "| parameter | type | required | description |\n|---|---|---|---|\n"
        "| `query` | string | yes | What to look for. |\n"
        "| `filters` | object |  |  |\n"
        "| `filters.years` | array of integer |  |  |\n"
        '| `mode` | "fast", "exact" |  | default "fast" |\n'
    )
    assert 'default "fast"' not in tool.to_markdown()
    assert ToolDefinition("ping").to_markdown() == "### `ping`\n\nNo parameters.\n"


hostile = st.lists(
    st.sampled_from([*"|`*_<>[]()!#&~$\\\n\r\t -+=.:@1a\u2028", "http://", "www.", "<b>"]), max_size=25
).map("".join)


@settings(max_examples=200, deadline=None)
@given(name=hostile, description=hostile, inner=hostile)
def test_no_text_of_a_definition_becomes_markup(name: str, description: str, inner: str) -> None:
    tool = ToolDefinition.from_json_schema(
        name=name,
        description=description,
        schema={"properties": {inner: {"description": description, "enum": [inner], "default": name}}},
    )
    written = tool.to_markdown(defaults=True)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(written)
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or ()
    }
    allowed = {
        f"{kind}_{end}" for kind in ("heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td")
        for end in ("open", "close")
    } | {"inline", "text", "code_inline", "text_special"}  # fmt: skip
    assert kinds <= allowed, written
    assert sum(token.type == "tr_open" for token in tokens) == 2
