"""Compares the parser with jsonschema. The parser must accept what jsonschema accepts, and report everything
else.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from lenient import ToolDefinition, parse_arguments

ORACLE = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))

NAMES = st.sampled_from(["a", "b", "cc"])
TEXTS = st.sampled_from(["", "a", "b", "ab", "x1", "5"])
NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 5, 1.0, 2.5, 0.3])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
SMALL = st.integers(0, 3)


def keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Return every checked keyword, with values that often contradict each other."""
    some = st.lists(inner, min_size=1, max_size=3)
    return {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": NUMBERS, "maximum": NUMBERS, "exclusiveMinimum": NUMBERS, "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": SMALL, "maxLength": SMALL, "pattern": st.sampled_from(["^a", "b", "[0-9]"]),
        "minItems": SMALL, "maxItems": SMALL, "uniqueItems": st.booleans(), "items": inner,
        "prefixItems": some, "contains": inner, "minContains": SMALL, "maxContains": SMALL,
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "c"]), inner, max_size=2),
        "additionalProperties": inner, "propertyNames": inner,
        "required": st.lists(NAMES, max_size=2, unique=True), "minProperties": SMALL, "maxProperties": SMALL,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
        "allOf": some, "anyOf": some, "oneOf": some, "not": inner, "if": inner, "then": inner, "else": inner,
        "unevaluatedProperties": inner, "unevaluatedItems": inner,
        "$ref": st.sampled_from(["#/$defs/one", "#two", "https://example.org/three"]),
    }  # fmt: skip


@st.composite
def of_some(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    keyword_values = keywords(inner)
    names = draw(st.lists(st.sampled_from(sorted(keyword_values)), min_size=1, max_size=4, unique=True))
    return {name: draw(keyword_values[name]) for name in names}


SCHEMAS = st.recursive(st.booleans() | TYPES.map(lambda name: {"type": name}), of_some, max_leaves=8)
LEAVES = of_some(st.booleans() | TYPES.map(lambda name: {"type": name}))
DOCUMENTS = st.builds(
    lambda schema, one, two, three: {
        "type": "object",
        "properties": {"value": schema},
        "$defs": {
            "one": without_references(one),
            "two": {"$anchor": "two", **without_references(two)},
            "three": {"$id": "https://example.org/three", **without_references(three)},
        },
    },
    SCHEMAS,
    SCHEMAS,
    LEAVES,
    LEAVES,
)


def without_references(schema: Any) -> Any:
    """Remove references, because jsonschema follows circular references endlessly."""
    if isinstance(schema, list):
        return [without_references(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_references(value) for key, value in schema.items() if key != "$ref"}


def assert_agreed(document: Any, value: Any) -> None:
    arguments = {"value": value}
    try:
        valid = Draft202012Validator(document).is_valid(arguments)
    except RecursionError:
        return
    request = parse_arguments(
        json.dumps(arguments), ToolDefinition.from_json_schema(name="tool", schema=document)
    )
    if valid:
        assert request.parse_error is None, request.diagnostics
    else:
        assert request.diagnostics


@pytest.mark.thorough
@ORACLE
@given(document=DOCUMENTS, value=VALUES)
def test_the_oracle_and_we_agree(document: dict[str, Any], value: Any) -> None:
    assert_agreed(document, value)
