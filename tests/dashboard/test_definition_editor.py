"""Tests the form that edits a tool definition. A field changes only its own part of the definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callgauge.dashboard.components.definition_editor.parameters import (
    ParameterField,
    list_parameters,
    list_types,
    parse_values,
    write_parameters,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where."},
        "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "any": True,
    },
    "required": ["path"],
    "additionalProperties": False,
}


def edited(**changes: dict[str, Any] | None) -> dict[str, Any]:
    before = list_parameters(SCHEMA)
    after = [
        None if (edits := changes.get(before_edit.name, {})) is None else replace(before_edit, **edits)
        for before_edit in before
    ]
    return write_parameters(SCHEMA, before, after)


def test_a_definition_becomes_fields() -> None:
    assert list_parameters(SCHEMA) == [
        ParameterField("path", ("string",), True, ""),
        ParameterField("limit", ("integer", "null"), False, ""),
        ParameterField("kind", ("string",), False, '"a", "b"'),
        ParameterField("any", (), False, ""),
    ]


def test_a_form_that_nobody_touched_changes_nothing() -> None:
    assert edited() == SCHEMA


def test_a_type_is_added_and_the_rest_stays() -> None:
    assert edited(path={"types": ("string", "integer")})["properties"]["path"] == {
        "type": ["string", "integer"],
        "description": "Where.",
    }


def test_a_union_gains_a_branch_and_loses_one() -> None:
    limit = edited(limit={"types": ("integer", "string")})["properties"]["limit"]
    assert limit == {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}


def test_no_type_is_any_type() -> None:
    assert edited(path={"types": ()})["properties"]["path"] == {"description": "Where."}


def test_required_allowed_values_names_and_removal() -> None:
    schema = edited(
        path={"required": False}, limit={"required": True}, kind={"allowed": '"a", "b", "c"'}, any=None
    )
    assert schema["required"] == ["limit"]
    assert schema["properties"]["kind"]["enum"] == ["a", "b", "c"]
    assert "any" not in schema["properties"]
    renamed = edited(path={"name": "file"})
    assert [*renamed["properties"]] == ["file", "limit", "kind", "any"]
    assert renamed["required"] == ["file"]


def test_a_new_parameter_is_written_last_and_needs_a_name() -> None:
    before = list_parameters(SCHEMA)
    new = ParameterField("depth", ("integer",), True)
    schema = write_parameters(SCHEMA, before, [*before, new, ParameterField()])
    assert schema["properties"]["depth"] == {"type": "integer"}
    assert schema["required"] == ["path", "depth"]


def test_an_empty_schema_can_be_begun() -> None:
    assert write_parameters({}, [], [ParameterField("a", ("string",))]) == {
        "properties": {"a": {"type": "string"}}
    }


@pytest.mark.parametrize(
    ("text", "values"),
    [('"a", 1, null', ["a", 1, None]), ("guide, api", ["guide", "api"]), ("", []), ('"a, b', ["a", "b"])],
)
def test_values_are_json_or_words(text: str, values: list[Any]) -> None:
    assert parse_values(text) == values


def test_types_of_any_shape() -> None:
    assert list_types({"type": "STRING", "nullable": True}) == ("string", "null")
    assert list_types({"oneOf": [{"type": "integer"}, {"$ref": "#/x"}]}) == ("integer",)
    assert list_types(True) == ()
