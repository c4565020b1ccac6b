"""What holds for any text and any definition."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lenient import Outcome, ToolDefinition, extract_tool_calls, parse_arguments
from lenient.codes import Severity
from lenient.request import ToolCallRequest

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SLOW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

texts = st.text(st.characters(codec="utf-8"), max_size=20)
names = st.sampled_from(
    ["path", "file_path", "filePath", "limit", "tags", "filters", "content", "mode", "x y"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(names | texts, values, max_size=5)
syntax = st.text(
    st.sampled_from(list("{}[]()\",:'\\ \n\t\r`#/*<>=+-.0123456789eEtrufalsnN“”‘’：，…\x00\ufeff\ud800é")),
    max_size=60,
)

SCALAR_SCHEMAS: list[Any] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "null"},
    {},
    True,
    False,
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "uri"},
    {"enum": ["a", "b", 1, None]},
    {"type": "string", "pattern": "^[a-z]+$", "minLength": 2},
    {"type": "integer", "minimum": 0, "multipleOf": 3},
    {"type": ["integer", "null"]},
    {"type": "STRING", "nullable": True},
    {"const": "fixed"},
    {"$ref": "#/nowhere"},
    {"type": "string", "pattern": "(a+)+$"},
    {"not": {"type": "string"}},
    {"type": 5},
    {"enum": 5},
    {"required": 5},
]
schemas = st.recursive(
    st.sampled_from(SCALAR_SCHEMAS),
    lambda inner: st.one_of(
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(
            lambda fields: {"type": "object", "properties": fields}, st.dictionaries(names, inner, max_size=3)
        ),
        st.builds(lambda extra: {"type": "object", "additionalProperties": extra}, inner),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
    ),
    max_leaves=6,
)
definitions = st.builds(
    lambda fields, required, extra: ToolDefinition.from_json_schema(
        name="tool",
        schema={"type": "object", "properties": fields, "required": required}
        | ({"additionalProperties": False} if extra else {}),
    ),
    st.dictionaries(names, schemas, max_size=4),
    st.lists(names, max_size=2),
    st.booleans(),
)


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def assert_sound(request: ToolCallRequest, raw: str | bytes) -> None:
    """What every result promises."""
    length = len(raw) if isinstance(raw, str) else len(raw.decode("utf-8", "replace"))
    assert request.raw_arguments == raw
    assert type(request.raw_arguments) is type(raw)
    for found in request.diagnostics:
        assert found.message
        if found.start is not None and found.end is not None:
            assert 0 <= found.start <= found.end <= length, found
    refused = any(found.severity is Severity.ERROR for found in request.diagnostics)
    assert (request.outcome is Outcome.FAILED) == refused
    assert (request.parse_error is not None) == refused
    assert request.arguments is not None or refused
    assert isinstance(request.steps, tuple)


@QUICK
@given(raw=st.text(max_size=80) | syntax, tool=st.none() | definitions)
def test_no_text_makes_it_raise(raw: str, tool: ToolDefinition | None) -> None:
    assert_sound(parse_arguments(raw, tool), raw)


@QUICK
@given(raw=st.binary(max_size=80) | syntax.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_make_it_raise(raw: bytes) -> None:
    assert_sound(parse_arguments(raw), raw)


@SLOW
@given(arguments=objects, tool=definitions)
def test_no_object_and_no_definition_make_it_raise(arguments: dict[str, Any], tool: ToolDefinition) -> None:
    raw = written(arguments)
    assert_sound(parse_arguments(raw, tool), raw)


@QUICK
@given(arguments=objects)
def test_valid_json_is_never_repaired(arguments: dict[str, Any]) -> None:
    for raw in (
        written(arguments),
        json.dumps(arguments, indent=1),
        json.dumps(arguments, separators=(",", ":")),
    ):
        request = parse_arguments(raw)
        assert request.outcome in (Outcome.UNMEASURED, Outcome.COERCED)
        if request.outcome is Outcome.UNMEASURED:
            assert request.arguments == arguments
            assert [found.code for found in request.diagnostics] == ["tool_definition_missing"]


CONFORMING = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "filters": {
            "type": "object",
            "properties": {"x y": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
        },
        "mode": {"enum": ["read", "write"]},
        "content": {},
    },
}


@QUICK
@given(
    arguments=st.fixed_dictionaries(
        {},
        optional={
            "path": texts,
            "limit": st.integers(),
            "filters": st.fixed_dictionaries(
                {},
                optional={"x y": st.integers() | st.floats(-1e9, 1e9), "tags": st.lists(texts, max_size=3)},
            ),
            "mode": st.sampled_from(["read", "write"]),
            "content": values,
        },
    )
)
def test_what_fits_the_definition_comes_back_untouched_and_without_a_word(arguments: dict[str, Any]) -> None:
    request = parse_arguments(
        written(arguments), ToolDefinition.from_json_schema(name="tool", schema=CONFORMING)
    )
    assert request.diagnostics == ()
    assert request.arguments == arguments
    assert request.outcome is Outcome.CLEAN


def corrupted(raw: str, at: int, how: int) -> str:
    at %= len(raw)
    return [
        raw[:at],
        raw[:at] + '"' + raw[at:],
        raw[:at] + raw[at + 1 :],
        raw[:at] + "}" + raw[at:],
        raw.replace("{", "[", 1),
        raw.replace("\\", "\\\\"),
        raw.replace('"', "'"),
        raw.replace('"', '\\"'),
        raw[:at] + "\n" + raw[at:],
        raw[at:],
    ][how % 10]


@QUICK
@given(arguments=objects, at=st.integers(0, 500), how=st.integers(0, 9), tool=st.none() | definitions)
def test_a_corruption_gives_a_result_or_an_error(
    arguments: dict[str, Any], at: int, how: int, tool: ToolDefinition | None
) -> None:
    raw = corrupted(written(arguments), at, how)
    assert_sound(parse_arguments(raw, tool), raw)


@QUICK
@given(raw=syntax, tool=st.none() | definitions)
def test_the_same_text_gives_the_same_result(raw: str, tool: ToolDefinition | None) -> None:
    first, second = parse_arguments(raw, tool), parse_arguments(raw, tool)
    assert first.diagnostics == second.diagnostics
    assert repr(first.arguments) == repr(second.arguments)


@QUICK
@given(raw=syntax | objects.map(lambda value: corrupted(written(value), 7, len(value))))
def test_reading_our_own_output_changes_nothing(raw: str) -> None:
    request = parse_arguments(raw)
    if request.arguments is not None and request.outcome is not Outcome.FAILED:
        again = parse_arguments(written(request.arguments))
        assert again.arguments == request.arguments
        assert again.outcome is Outcome.UNMEASURED


@QUICK
@given(
    text=st.text(max_size=60)
    | syntax
    | objects.map(lambda value: written({"name": "path", "arguments": value}))
)
def test_no_text_makes_the_search_for_calls_raise(text: str) -> None:
    for call in extract_tool_calls(text):
        assert 0 <= call.start <= call.end <= len(text)
