"""Tests the rules in `tests.fuzz.promises` for any arguments and definition."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lenient import Outcome, Policy, ToolDefinition, parse_arguments
from lenient.diagnostics.codes import Stage
from tests.fuzz.choices import Choices
from tests.fuzz.corruptions import encoded_again
from tests.fuzz.promises import check_again, check_alike, check_request, read, same
from tests.parser.strategies import (
    any_text,
    broken,
    broken_bytes,
    definitions,
    examples,
    objects,
    texts,
    values,
    written,
)


@examples(200)
@given(raw=any_text, tool=st.none() | definitions)
def test_any_text_gives_a_result_that_keeps_its_promises(raw: str, tool: ToolDefinition | None) -> None:
    check_request(parse_arguments(raw, tool), raw)


@examples(150)
@given(raw=st.binary(max_size=80) | any_text.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_result_that_keeps_its_promises(raw: bytes) -> None:
    check_request(parse_arguments(raw), raw)


@examples(150)
@given(arguments=objects, tool=definitions)
def test_any_object_and_any_definition_give_a_result_that_keeps_its_promises(
    arguments: dict[str, Any], tool: ToolDefinition
) -> None:
    raw = written(arguments)
    check_request(parse_arguments(raw, tool), raw)


@pytest.mark.thorough
@examples(400)
@given(raw=broken, tool=st.none() | definitions)
def test_any_corruption_gives_a_result_that_keeps_its_promises(raw: str, tool: ToolDefinition | None) -> None:
    check_request(parse_arguments(raw, tool), raw)


@examples(100)
@given(raw=broken_bytes, tool=st.none() | definitions)
def test_any_damaged_bytes_give_a_result_that_keeps_its_promises(
    raw: bytes, tool: ToolDefinition | None
) -> None:
    check_request(parse_arguments(raw, tool), raw)


@examples(150)
@given(arguments=objects, indent=st.none() | st.integers(0, 3), ascii_only=st.booleans())
def test_valid_json_without_a_definition_is_never_mended(
    arguments: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    request = read(json.dumps(arguments, indent=indent, ensure_ascii=ascii_only))
    assert request.outcome in (Outcome.UNMEASURED, Outcome.COERCED)
    if request.outcome is Outcome.UNMEASURED:
        assert same(request.arguments, arguments)
        assert [diagnostic.code for diagnostic in request.diagnostics] == ["tool_definition_missing"]


FITTING = ToolDefinition.from_json_schema(
    name="tool",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer"},
            "filters": {
                "type": "object",
                "properties": {
                    "x y": {"type": "number"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            },
            "mode": {"enum": ["read", "write"]},
            "content": {},
        },
    },
)
fitting = st.fixed_dictionaries(
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


@examples(150)
@given(arguments=fitting)
def test_what_fits_the_definition_comes_back_untouched_and_without_a_word(arguments: dict[str, Any]) -> None:
    request = parse_arguments(written(arguments), FITTING)
    assert request.diagnostics == ()
    assert same(request.arguments, arguments)
    assert request.outcome is Outcome.CLEAN


_numbers = st.sampled_from(
    ["-0", "-0.0", "1e2", "1E+2", "1.50", "1.0", "0", "7", "9007199254740993", "12345678901234567890123",
     "123456789012345678.5", "1e18", "0.1e1", "1e400", "-1.7976931348623157e308"]
)  # fmt: skip
_strings = st.sampled_from(
    ['"a"', '" a"', '"caf\\u00e9"', '"\\/"', '"\\ud83d\\ude00"', '"true"', '"null"', '"42"', '"[1]"', '"{}"',
     '"READ"', '"read"', '"2026-12-01T09:00:00Z"', '"2026-12-01t09:00:00,50z"', '"2026-12-01 09:00+02"',
     '"2026-12-01"',
     '"2026-12-01T24:00:00Z"', '"2026-12-01T09:00:00.123456789-00:30"', '" 2026-12-01T09:00:00Z"',
     '"https://example.org/%7Ea"', '"x y"', '"C:\\\\temp"', '"C:\\temp"', '"\\u0022"', '"\\u0000"']
)  # fmt: skip
_json_texts = st.recursive(
    _numbers | _strings | st.sampled_from(["true", "false", "null"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.dictionaries(st.sampled_from(["at", "path", "\\u0061t", "x"]), inner, max_size=3).map(
            lambda members: "{" + ",".join(f'\n"{key}" :{value}' for key, value in members.items()) + "}"
        ),
    ),
    max_leaves=4,
)
_declared: dict[str, Any] = {
    "at": {"type": "string", "format": "date-time"},
    "path": {"type": "string"},
    "link": {"type": "string", "format": "uri"},
    "limit": {"type": "integer"},
    "ratio": {"type": "number"},
    "mode": {"enum": ["read", "write"]},
    "any": {},
    "either": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}, {"type": "null"}]},
    "list": {"type": "array", "items": {"type": "string", "format": "date-time"}},
    "data": {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}},
}
_EVERY_KIND = ToolDefinition.from_json_schema(name="t", schema={"type": "object", "properties": _declared})


@examples(500)
@given(
    members=st.dictionaries(st.sampled_from([*_declared, "other"]), _json_texts, max_size=4),
    tool=st.sampled_from([_EVERY_KIND, None]),
)
def test_what_is_clean_is_what_json_loads_returns(
    members: dict[str, str], tool: ToolDefinition | None
) -> None:
    raw = "{" + ", ".join(f'"{name}": {value}' for name, value in members.items()) + "}"
    for sent in (raw, raw.encode()):
        request = read(sent, tool)
        if request.outcome in (Outcome.CLEAN, Outcome.UNMEASURED):
            assert same(request.arguments, json.loads(raw))


@pytest.mark.thorough
@examples(150)
@given(raw=any_text | broken, tool=st.none() | definitions)
def test_reading_our_own_output_changes_nothing(raw: str, tool: ToolDefinition | None) -> None:
    check_again(parse_arguments(raw, tool), tool)


@pytest.mark.thorough
@examples(150)
@given(raw=any_text | broken, other=any_text | broken, tool=st.none() | definitions)
def test_the_same_text_reads_alike_whatever_was_read_before(
    raw: str, other: str, tool: ToolDefinition | None
) -> None:
    first = parse_arguments(raw, tool)
    parse_arguments(other, tool)
    check_alike(first, parse_arguments(raw, tool))
    if tool is not None:
        afresh = ToolDefinition.from_json_schema(name=tool.name, schema=tool.to_json_schema())
        check_alike(first, parse_arguments(raw, afresh))


@examples(150)
@given(raw=any_text | broken, tool=st.none() | definitions)
def test_text_and_its_bytes_read_alike(raw: str, tool: ToolDefinition | None) -> None:
    raw = raw.encode("utf-8", "replace").decode()
    check_alike(parse_arguments(raw, tool), parse_arguments(raw.encode(), tool))


@pytest.mark.thorough
@examples(100)
@given(raw=any_text | broken, tool=st.none() | definitions)
def test_a_policy_changes_nothing_but_what_counts_as_an_error(raw: str, tool: ToolDefinition | None) -> None:
    runs = {policy: parse_arguments(raw, tool, policy=policy) for policy in Policy}
    for run in runs.values():
        check_alike(run, runs[Policy.LENIENT])
    refused = [
        runs[policy].parse_error is not None for policy in (Policy.STRICT, Policy.SAFE, Policy.LENIENT)
    ]
    assert refused == sorted(refused, reverse=True)


@examples(60)
@given(arguments=objects, times=st.integers(0, 9))
def test_a_string_of_json_is_decoded_up_to_ten_times(arguments: dict[str, Any], times: int) -> None:
    once = read(written(arguments))
    request = read(encoded_again(written(arguments), Choices(bytes([times]))))
    assert same(request.arguments, once.arguments)
    layers = [diagnostic for diagnostic in request.diagnostics if diagnostic.stage is Stage.UNWRAP]
    assert {diagnostic.code for diagnostic in layers} == {"string_encoding_removed"}
    assert len(layers) <= times + 1
