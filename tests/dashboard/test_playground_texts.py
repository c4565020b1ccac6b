"""Tests what the playground's editors contain after a link, a stored call or a definition was opened."""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from callgauge.analysis.texts.url_texts import LinkError, pack_text
from callgauge.dashboard.pages.playground.link_texts import (
    EXPORTS,
    LONGEST,
    PlaygroundTexts,
    definition_text,
    export_tool,
    make_link_parameter,
    parse_tools,
    read_link,
    texts_of_call,
)
from lenient import ToolDefinitionError

CALL: dict[str, Any] = {
    "raw_arguments": '{"a": 1}',
    "args_source": "raw",
    "definition": '{"type": "object"}',
    "tool": "t",
}


def test_a_link_carries_both_texts() -> None:
    assert read_link(make_link_parameter('{"a": "é"}\n', "")) == PlaygroundTexts('{"a": "é"}\n', "")


@pytest.mark.parametrize(
    "carried",
    [
        "[]",
        "5",
        '"x"',
        "null",
        "not json",
        '{"raw": 5}',
        '{"raw": null}',
        '{"raw": "\\ud800"}',
        "[" * 100_000,
    ],
)
def test_a_link_that_carries_something_else_is_a_sentence(carried: str) -> None:
    with pytest.raises(LinkError, match="damaged"):
        read_link(pack_text(carried))


def test_a_bomb_in_a_link_is_a_sentence() -> None:
    bomb = urlsafe_b64encode(zlib.compress(b"[" * 30_000_000, 9)).decode().rstrip("=")
    with pytest.raises(LinkError, match="more than 3,000,000 bytes"):
        read_link(bomb)


def test_a_call_brings_its_text_and_its_definition() -> None:
    texts = texts_of_call(CALL, "Does it.")
    assert (texts.raw, texts.notes) == ('{"a": 1}', ())
    (tool,) = parse_tools(texts.definition)
    assert (tool.name, tool.description, tool.schema) == ("t", "Does it.", {"type": "object"})


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"args_source": "truncated"}, "cut the text off"),
        ({"args_source": "reserialised"}, "not the text that the model sent"),
        ({"args_source": "missing", "raw_arguments": None}, "has no text"),
        ({"definition": None}, "no definition of its tool"),
        ({"raw_arguments": "x" * (LONGEST + 1)}, "limit of the playground is 1,000,000"),
    ],
)
def test_what_a_call_lacks_is_said(fields: dict[str, Any], note: str) -> None:
    texts = texts_of_call({**CALL, **fields}, None)
    assert note in " ".join(texts.notes)
    assert len(texts.raw) <= LONGEST


def test_a_definition_text_shows_what_is_invisible_and_means_the_same() -> None:
    text = definition_text("t", "a\u202eb", '{"enum": ["\\ud800", "\u2066"]}')
    assert "\\u202e" in text
    assert "\\ud800" in text
    assert json.loads(text)["description"] == "a\u202eb"


def test_a_definition_without_a_schema_stays_without() -> None:
    assert json.loads(definition_text("t", None, "null")) == {"name": "t", "description": ""}
    assert definition_text("t", None, "not json") == "not json"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting"),
        ("5", "defines no tool"),
        ("[]", "defines no tool"),
        ('{"name": 5}', "name"),
        ("[" * 100_000, "nested too deep"),
        ('{"title": "t", "properties": ' + '{"a": ' * 800 + "{}" + "}" * 800 + "}", "nested too deep"),
        ("x" * 200_001, "the limit is 200,000"),
    ],
)
def test_a_definition_that_cannot_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(ToolDefinitionError, match=why):
        parse_tools(text)


def test_no_text_defines_no_tool() -> None:
    assert parse_tools(" \n") == []


def test_a_shape_for_a_model_leaves_declared_defaults_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "default": 3}}}
    (tool,) = parse_tools(json.dumps({"name": "t", "input_schema": schema}))
    for shape in EXPORTS:
        assert "default" not in export_tool(tool, shape)


def test_a_tool_in_every_shape_reads_back_as_the_same_tool() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    (tool,) = parse_tools(json.dumps({"name": "t", "description": "a\u202eb", "input_schema": schema}))
    for shape in EXPORTS:
        text = export_tool(tool, shape)
        assert "\u202e" not in text
        if shape != "Markdown":
            (again,) = parse_tools(text)
            assert (again.name, again.description) == ("t", "a\u202eb")
            assert again.parameters == tool.parameters
