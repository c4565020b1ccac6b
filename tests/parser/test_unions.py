"""Tests union branches that exclude each other, and the field that identifies the branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lenient import ToolDefinition
from lenient.coerce.compiled_tool import compile_tool
from lenient.definitions.json_schema.nodes import Node, are_all_disjoint, are_disjoint, find_tag

NULLABLE = {"type": ["integer", "null"]}


def compiled(*schemas: dict[str, Any]) -> list[Node]:
    fields = {f"p{at}": schema for at, schema in enumerate(schemas)}
    tool = ToolDefinition.from_json_schema(name="t", schema={"type": "object", "properties": fields})
    root = compile_tool(tool).root
    return [root.fields[name] for name in fields]


def tagged(*values: str, extra: str = "x") -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"enum": list(values)}, extra: {"type": "string"}},
        "required": ["kind"],
    }


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"type": "integer"}, {"type": "string"}, True),
        ({"type": "integer"}, {"type": "number"}, False),
        ({"type": "boolean"}, {"type": "array"}, True),
        ({"type": "string"}, {"type": "string", "format": "date-time"}, False),
        ({"type": "string"}, {"type": "string", "format": "uri"}, False),
        (NULLABLE, {"type": ["boolean", "null"]}, False),
        (NULLABLE, {"type": "boolean"}, True),
        ({"enum": ["a", "b"]}, {"enum": ["c"]}, True),
        ({"enum": ["a", "b"]}, {"enum": ["b"]}, False),
        ({"enum": ["a"]}, {"type": "string"}, False),
        ({}, {"type": "string"}, False),
        ({"enum": [1]}, {}, False),
        (tagged("a"), tagged("b"), True),
        (tagged("a", "b"), tagged("b"), False),
        (tagged("a"), {"type": "object"}, False),
    ],
)
def test_branches_are_disjoint_when_no_value_can_fit_both(
    one: dict[str, Any], other: dict[str, Any], expected: bool
) -> None:
    first, second = compiled(one, other)
    assert are_disjoint(first, second) is expected
    assert are_disjoint(second, first) is expected
    assert are_all_disjoint([first, second]) is expected


def test_one_overlapping_pair_is_enough() -> None:
    nodes = compiled({"type": "integer"}, {"type": "string"}, {"type": "boolean"}, {"type": "number"})
    assert not are_all_disjoint(nodes)
    assert are_all_disjoint(nodes[:3])


def test_too_many_branches_are_not_compared() -> None:
    assert are_all_disjoint(compiled(*({"enum": [f"v{at}"]} for at in range(64))))
    assert not are_all_disjoint(compiled(*({"enum": [f"v{at}"]} for at in range(65))))


@pytest.mark.parametrize(
    ("schemas", "expected"),
    [
        ([tagged("a"), tagged("b")], "kind"),
        ([tagged("a"), tagged("b", "c")], "kind"),
        ([tagged("a"), tagged("a")], None),
        ([tagged("a"), {"type": "object", "properties": {"kind": {"enum": [1]}}}], None),
        ([tagged("a"), {"type": "object", "properties": {"kind": {"type": "string"}}}], None),
        ([tagged("a"), {"type": "object"}], None),
        ([tagged("a")], None),
    ],
)
def test_a_tag_is_a_field_whose_texts_name_the_branch(
    schemas: Sequence[dict[str, Any]], expected: str | None
) -> None:
    nodes = compiled(*schemas)
    tag = find_tag(nodes)
    assert (tag[0] if tag else None) == expected
    if tag:
        assert [tag[1][value] for value in ("a", "b")] == nodes
