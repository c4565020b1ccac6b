"""Tests that arguments give the same result with and without msgspec."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lenient import ToolDefinition, parse_arguments
from lenient.coerce.compiled_tool import compile_tool
from tests.parser.strategies import broken, definitions, examples, names, objects, spelled, texts, values

WITHOUT = patch("lenient.coerce.compiled_tool._IS_INSTALLED", new=False)


def agree(raw: str, tool: ToolDefinition) -> None:
    apart = replace(tool)
    with WITHOUT:
        compile_tool(apart)
    results = (parse_arguments(raw, definition)._replace(tool=None) for definition in (tool, apart))
    with_it, without = map(repr, results)  # this also compares the order of members and the types of numbers
    assert with_it == without


plain = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "integer"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": ["string", "null"]},
            {"type": ["integer", "string"]},
            {"type": "string", "enum": ["read", "a"]},
            {"type": "string", "format": "date-time"},
            {"type": "array"},
            {},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda fields: {"type": "object", "properties": fields}, st.dictionaries(names, inner)),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)


@st.composite
def fitting(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    if "anyOf" in schema:
        return draw(fitting(draw(st.sampled_from(schema["anyOf"]))))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema.get("type", "null")
    kind = kind if isinstance(kind, str) else draw(st.sampled_from(kind))
    if kind == "array":
        return draw(st.lists(fitting(schema.get("items", {})), max_size=3))
    if kind == "object":
        fields = schema["properties"]
        chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True)) if fields else []
        return {name: draw(fitting(fields[name])) for name in chosen}
    drawn: dict[str, st.SearchStrategy[Any]] = {
        "string": texts,
        "integer": st.integers(-(2**70), 2**70),
        "number": st.floats(allow_nan=False) | st.integers(-(2**70), 2**70),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return draw(drawn[kind] if draw(st.integers(0, 9)) else values)


@st.composite
def plain_calls(draw: st.DrawFn) -> tuple[ToolDefinition, Any]:
    """Draw a tool definition of plain types, and arguments that fit or nearly fit the definition."""
    schema = {"type": "object", "properties": draw(st.dictionaries(names, plain, max_size=4))}
    required = draw(st.lists(names, max_size=1))
    tool = ToolDefinition.from_json_schema(name="tool", schema=schema | {"required": required})
    return tool, draw(fitting(schema))


@examples(300)
@given(call=plain_calls(), data=st.data())
def test_arguments_of_plain_types_are_read_alike(
    call: tuple[ToolDefinition, Any], data: st.DataObject
) -> None:
    agree(data.draw(spelled(call[1])), call[0])


@pytest.mark.thorough
@examples(200)
@given(arguments=objects, tool=definitions, data=st.data())
def test_any_arguments_are_read_alike(
    arguments: dict[str, Any], tool: ToolDefinition, data: st.DataObject
) -> None:
    agree(data.draw(spelled(arguments)), tool)


@pytest.mark.thorough
@examples(200)
@given(raw=broken, tool=definitions)
def test_broken_texts_are_read_alike(raw: str, tool: ToolDefinition) -> None:
    agree(raw, tool)


SHAPE: dict[str, dict[str, Any]] = {
    "a": {"type": "integer"},
    "b": {"type": "number"},
    "c": {"type": "string"},
    "d": {"type": ["string", "null"]},
    "e": {"type": "array", "items": {"type": "string"}},
    "f": {"type": "boolean"},
    "a\x00b": {"type": "string", "enum": ["x", "\ud800"]},
    "\ud800": {"type": "string"},
    "class": {"type": "string", "enum": ["x", "a\x00", ""]},
}
EDGES = [
    "{}", "{} ", " {}", "\ufeff{}", "{}\f", "{}x", "[]", "", '"{}"', "{}{}",
    *(
        f'{{"{name}": {number}}}'
        for name in "ab"
        for number in (
            "0", "-0", "-0.0", "3.0", "3e2", "1E5", "1e400", "-1e400", "1e-400", "01", "1.", ".5", "+1",
            "NaN", "1e18", "-1e18", "999999999999999999.5", "9223372036854775807", "9223372036854775808",
            "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1" * 40, "1" * 5_000,
            "2.2250738585072011e-308", "0." + "1" * 800, "9007199254740993.0", "true", "null", '"1"',
        )
    ),
    *(
        f'{{"{name}": {text}}}'
        for name in "cd"
        for text in (
            '"\\ud800"', '"\\ud83d\\ude00"', '"\\udc00\\ud800"', '"\ud800"', '"a\tb"', '"\\u0000"', '"\x7f"',
            '"\\x"', '"\\u0022"', '"\\""', '"é中😀"', '"' + "x" * 5_000 + '"', "'x'", "null", "1", "[]",
        )
    ),
    '{"c": "1", "c": "2"}', '{"c": "\\u0022\\u0022", "c": "2"}', '{"\\u0063": "1"}',
    '{"\\u0063": "1", "c": "2"}',
    '{"c": "1", "z": "2"}', '{"c": "\\u0022", "z": 2}', '{"z": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"z": ' + '{"z":' * 100_000 + "1" + "}" * 100_000 + "}", '{"z": [1, 2,, 3]}', '{"z": tru}',
    '{"z": "\\x"}',
    '{"e": ["a", "b"]}', '{"e": ["a", 1]}', '{"e": ["a", null]}', '{"e": ["\\"", "\\u0022"]}', '{"e": []}',
    '{"f": true, "a": 1, "f": false}', '{"f": 1}', '{"f": "true"}', '{"C": "1"}', '{"": "1"}',
    '{"\ud800": "1"}',
    '{"d": null, "c": "1", "b": 1, "a": 2}', '{"class": "x"}', '{"class": "a\\u0000"}', '{"class": "a"}',
    '{"a\\u0000b": ""}', '{"a\\u0000b": "x"}', '{"class": ""}',
]  # fmt: skip


@pytest.mark.parametrize("raw", EDGES, ids=lambda raw: ascii(raw[:30]))
@pytest.mark.parametrize("odd", [[], ["\ud800"], ["a\x00b"]], ids=ascii)
def test_edges_of_json_are_read_alike(raw: str, odd: list[str]) -> None:
    schema = {"type": "object", "properties": {name: SHAPE[name] for name in ["class", *"abcdef", *odd]}}
    agree(raw, ToolDefinition.from_json_schema(name="tool", schema=schema))


def reader_of(schema: dict[str, Any]) -> str:
    """Return the name of the function that decodes the arguments for a definition."""
    whole = {"type": "object", "properties": {"a": schema}}
    return compile_tool(ToolDefinition.from_json_schema(name="t", schema=whole)).read.__name__


def test_definitions_of_plain_types_have_a_typed_decoder() -> None:
    ours = reader_of({"type": "string", "pattern": "^a"})
    plain = {name: SHAPE[name] for name in ["class", *"abcdef"]}
    assert all(reader_of(schema) != ours for schema in plain.values())
    assert reader_of({"type": "array", "items": {"type": "object", "properties": plain}}) != ours
    assert reader_of({"type": "object", "properties": SHAPE}) == ours
    assert reader_of({"type": "integer", "minimum": 1}) == ours
    assert reader_of({"anyOf": [{"type": "object"}, {"type": "object", "properties": SHAPE}]}) == ours


def test_without_msgspec_the_same_is_read() -> None:
    schema = {"type": "object", "properties": {name: SHAPE[name] for name in "abcdef"}}
    raws = ['{"a": 1, "c": "x"}', '{"a": "3"}', '{"c": "a", "c": "b"}', "{'f': True}"]
    program = (
        "import sys, json; sys.modules['msgspec'] = None\n"
        "from lenient import ToolDefinition, parse_arguments\n"
        "tool = ToolDefinition.from_json_schema(name='t', schema=json.loads(sys.argv[1]))\n"
        "for raw in sys.argv[2:]: print(parse_arguments(raw, tool)[2:6])\n"
    )
    command = [sys.executable, "-c", program, json.dumps(schema), *raws]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    tool = ToolDefinition.from_json_schema(name="t", schema=schema)
    assert ran.stdout.splitlines() == [str(parse_arguments(raw, tool)[2:6]) for raw in raws]
