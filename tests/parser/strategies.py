"""Defines Hypothesis strategies for JSON values, tool definitions, values that fit a definition, and
corrupted JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from lenient import ToolDefinition
from tests.fuzz.choices import Choices
from tests.fuzz.corruptions import CORRUPTIONS, damaged
from tests.fuzz.texts import TOKENS

THOROUGH = os.environ.get("PROPERTIES") == "thorough"
"""`PROPERTIES=thorough ./dev test tests/parser --timeout 0` draws a hundred times as many examples."""


def examples(number: int) -> settings:
    """Return the settings of one property test. Ordinary tests draw only half of `number` examples."""
    if THOROUGH:
        number *= 100
    elif "ALL_TIERS" not in os.environ:
        number = (number + 1) // 2
    return settings(
        max_examples=number,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


names = st.sampled_from(
    ["path", "file_path", "filePath", "limit", "tags", "filters", "content", "mode", "x y", "a", "b"]
)
CODE_LIKE = [
    'print("hi")', "it's", 'She said "no", then left', "a: b", "x, y", '{"k": 1}', '", "path": "',
    "C:\\dir\\", "\\d+\\s*", "line one\nline two\n", "# no comment", "http://x/y//z", "/* kept */",
    "```json\n{}\n```", "}", "]}", "…", "a,}", "'", '"', "\\", "\\n", "True", "None", "NaN", "0x1F",
    "{{name}}", "<b class='x'>", "汉字：「」", "\t", "if (a) { b[0] = 'c'; }", "awk '{print $1}'",
    "SELECT \"a\" FROM b WHERE c = 'd';", "\x00", "\x7f", "😀", "",
]  # fmt: skip
texts = (
    st.text(st.characters(codec="utf-8"), max_size=20)
    | st.sampled_from(CODE_LIKE)
    | st.lists(st.sampled_from(CODE_LIKE), max_size=3).map("".join)
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(names | texts, values, max_size=5)
tokens = st.lists(st.sampled_from(TOKENS), max_size=25).map("".join)
any_text = st.text(max_size=80) | tokens


@st.composite
def corrupted(draw: st.DrawFn, raw: st.SearchStrategy[str]) -> str:
    """Draw a string with one to four defects."""
    text = draw(raw)
    for name in draw(st.lists(st.sampled_from(list(CORRUPTIONS)), min_size=1, max_size=4)):
        text = CORRUPTIONS[name](text, Choices(draw(st.binary(min_size=4, max_size=4))))[:100_000]
    return text


def spelled(value: Any) -> st.SearchStrategy[str]:
    """Return a strategy that draws the value as JSON, in one of the usual formats."""
    return st.sampled_from(
        [
            written(value),
            json.dumps(value),
            json.dumps(value, indent=2),
            json.dumps(value, separators=(",", ":")),
        ]
    )


broken = corrupted(objects.flatmap(spelled))
broken_bytes = st.builds(
    lambda text, choices: damaged(text.encode("utf-8", "surrogatepass"), Choices(choices)),
    broken,
    st.binary(min_size=4, max_size=4),
)

# --- definitions that JSON Schema allows: the second judge can hold a result against them -----------------

_bounds = st.integers(-5, 5)
_sound_scalars: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "boolean"},
            {"type": "null"},
            {},
            True,
            {"type": "string", "format": "date-time"},
            {"type": "string", "format": "uri"},
            {"type": "string", "pattern": "^[a-z]+$"},
            {"type": "string", "nullable": True},
            {"type": ["integer", "null"]},
            {"type": ["string", "number"]},
            {"type": ["boolean", "array"]},
            {"$ref": "#/$defs/part"},
        ]
    ),
    st.builds(
        lambda low, high: {"type": "integer", "minimum": low, "maximum": low + abs(high)}, _bounds, _bounds
    ),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, _bounds),
    st.builds(lambda step: {"type": "integer", "multipleOf": 1 + abs(step)}, _bounds),
    st.builds(lambda low: {"type": "string", "minLength": abs(low), "maxLength": 2 * abs(low)}, _bounds),
    st.builds(lambda listed: {"enum": listed}, st.lists(scalars, min_size=1, max_size=3, unique_by=repr)),
    st.builds(
        lambda listed: {"type": "string", "enum": listed},
        st.lists(texts | st.sampled_from(["read", "Write"]), min_size=1, max_size=3, unique=True),
    ),
    st.builds(lambda value: {"const": value}, values),
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(names, inner, max_size=3)
    return st.one_of(
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(
            lambda item, most: {"type": "array", "items": item, "maxItems": most}, inner, st.integers(0, 3)
        ),
        st.builds(lambda item: {"type": "array", "items": item, "uniqueItems": True}, inner),
        st.builds(lambda first, rest: {"type": "array", "prefixItems": [first], "items": rest}, inner, inner),
        st.builds(_object_schema, fields, st.lists(names, max_size=2), st.sampled_from([True, False, None])),
        st.builds(lambda extra: {"type": "object", "additionalProperties": extra}, inner),
        st.builds(lambda field, extra: {"properties": field, "additionalProperties": extra}, fields, inner),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda branches: {"oneOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(
            lambda field, part: {"type": "object", "properties": field, "anyOf": [part]}, fields, inner
        ),
    )


def _object_schema(fields: dict[str, Any], required: list[str], extra: bool | None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": fields, "required": sorted(set(required))}
    return schema if extra is None else schema | {"additionalProperties": extra}


_PART = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/part"}}}
sound_schemas = st.recursive(_sound_scalars, _containers, max_leaves=6)
sound_definitions = st.builds(
    lambda fields, required, extra: ToolDefinition.from_json_schema(
        name="tool", schema=_object_schema(fields, required, extra) | {"$defs": {"part": _PART}}
    ),
    st.dictionaries(names, sound_schemas, max_size=4),
    st.lists(names, max_size=2),
    st.sampled_from([True, False, None]),
)

# --- definitions of any kind, sound or not ---------------------------------------------------------------

_UNSOUND: list[Any] = [
    False,
    {"type": "STRING", "nullable": True},
    {"$ref": "#/nowhere"},
    {"$ref": 5},
    {"type": "string", "pattern": "(a+)+$"},
    {"pattern": "("},
    {"not": {"type": "string"}},
    {"type": 5},
    {"type": []},
    {"type": "array", "items": 5, "prefixItems": "x"},
    {"enum": 5},
    {"enum": []},
    {"const": {"a": []}, "items": {}},
    {"enum": ["a"], "properties": {}},
    {"required": 5},
    {"properties": 5},
    {"anyOf": 5, "oneOf": [5], "allOf": {}},
    {"minimum": "x", "maxLength": -1, "multipleOf": 0},
    {"minimum": True, "minLength": 1.5},
    {"default": {"a": [1]}},
    {"if": {}, "then": False, "dependentRequired": {"a": ["b"]}},
]
any_schemas = st.recursive(_sound_scalars | st.sampled_from(_UNSOUND), _containers, max_leaves=6)
any_definitions = st.builds(
    lambda fields, required, more: ToolDefinition.from_json_schema(
        name="tool", schema={"type": "object", "properties": fields, "required": required} | more
    ),
    st.dictionaries(names, any_schemas, max_size=4),
    st.lists(names, max_size=2),
    st.sampled_from(_UNSOUND[1:]) | st.just({}),
)
definitions = sound_definitions | any_definitions
