"""Tests that input fields are made from a tool definition, and raw arguments from the fields' values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callgauge.dashboard.pages.playground.definition_form import MOST, FormField, list_fields, write_arguments
from lenient import ToolDefinition, parse_arguments


def fields_of(properties: dict[str, Any], arguments: dict[str, Any] | None = None) -> list[FormField]:
    schema = {"type": "object", "properties": properties, "required": ["a"]}
    return list_fields(ToolDefinition.from_json_schema(name="t", schema=schema), arguments or {})


@pytest.mark.parametrize(
    ("schema", "asked"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "date-time"}, "text"),
        ({"type": ["string", "null"]}, "text"),
        ({"type": "boolean"}, "truth"),
        ({"type": "integer"}, "whole"),
        ({"type": "number"}, "number"),
        ({"type": "string", "enum": ["x", "y"]}, "choice"),
        ({"enum": [1, "1", None]}, "choice"),
        ({"type": "object"}, "json"),
        ({"type": "array"}, "json"),
        ({"type": "array", "items": {"type": "string"}}, "lines"),
        ({"type": "array", "items": {"type": "integer"}}, "json"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "json"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "json"),
        ({"type": ["string", "integer"]}, "json"),
        ({}, "json"),
        (True, "json"),
    ],
)
def test_each_kind_has_its_input(schema: Any, asked: str) -> None:
    (field,) = fields_of({"a": schema})
    assert field.input == asked
    assert field.required


@pytest.mark.parametrize(
    ("schema", "value", "asked", "begins"),
    [
        ({"type": "string"}, "x", "text", "x"),
        ({"type": "string"}, "two\nlines", "json", '"two\\nlines"'),
        ({"type": "integer"}, 2**60, "json", str(2**60)),
        ({"enum": [1, "1"]}, "1", "choice", '"1"'),
        ({"enum": [1, "1"]}, 2, "json", "2"),
        ({"type": "array", "items": {"type": "string"}}, ["x", "y"], "lines", "x\ny"),
        ({"type": "array", "items": {"type": "string"}}, ["x\ny"], "json", '["x\\ny"]'),
        ({"type": "boolean"}, False, "truth", False),
    ],
)
def test_a_field_begins_with_what_the_arguments_hold(
    schema: Any, value: Any, asked: str, begins: Any
) -> None:
    (field,) = fields_of({"a": schema}, {"a": value})
    assert (field.input, field.value) == (asked, begins)


def test_what_is_filled_in_is_written_by_kind_and_the_empty_is_left_out() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    fields = fields_of(
        {"a": {"type": "string"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "e": {"enum": [1, "1"]},
         "l": texts, "o": {"type": "object"}, "out": {"type": "string"}, "none": {"type": "integer"}}
    )  # fmt: skip
    raw = write_arguments(
        fields, ['say "é"', 0.5, False, '"1"', "x\n\ny", '{"k": 1}', "", None], {"a": "old", "more": [1]}
    )
    assert json.loads(raw) == {
        "a": 'say "é"', "n": 0.5, "b": False, "e": "1", "l": ["x", "y"], "o": {"k": 1}, "more": [1],
    }  # fmt: skip


def test_what_is_no_json_is_written_as_typed_so_that_the_parser_shows_what_it_does() -> None:
    fields = fields_of({"a": {"type": "object"}})
    raw = write_arguments(fields, ["{k: 1,}"], {})
    assert raw == '{"a": {k: 1,}}'
    assert parse_arguments(raw).outcome == "repaired"


def test_a_form_that_nobody_touched_says_what_it_began_with() -> None:
    arguments = {"a": "x", "n": 3, "b": True, "t": ["x"], "o": {"k": [1]}, "other": None}
    fields = fields_of(
        {"a": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"},
         "t": {"type": "array", "items": {"type": "string"}}, "o": {}}, arguments,
    )  # fmt: skip
    assert json.loads(write_arguments(fields, [field.value for field in fields], arguments)) == arguments


def test_a_form_has_a_bounded_number_of_fields() -> None:
    assert len(fields_of({f"p{number}": {} for number in range(100)})) == MOST
