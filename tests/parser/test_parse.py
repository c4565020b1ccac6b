"""Tests the parser's results for single inputs."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path

import pytest

from lenient import (
    Outcome,
    Policy,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    extract_tool_calls,
    parse_arguments,
)
from lenient.diagnostics import REASONS
from lenient.diagnostics.codes import CODES, Severity, Stage
from tests.fuzz.definitions import CATALOG

LENIENT = Path(__file__).parents[2] / "lenient"

TOOL = ToolDefinition.from_json_schema(
    name="write",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "limit": {"type": "integer"},
        },
        "required": ["path"],
    },
)
RECURSIVE = CATALOG.tools["tree"]
NESTED = ToolDefinition.from_json_schema(
    name="nested",
    schema={"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "integer"}]}}},
)


def test_a_policy_is_a_threshold_over_the_same_run() -> None:
    clean, noted, guessed, refused = (
        parse_arguments(raw, TOOL)
        for raw in ('{"path": "a"}', '{"path": "a",}', '{"path": a}', '{"path": "a", "limit": "x"}')
    )
    accepted = {
        policy: [request.accepted_under(policy) for request in (clean, noted, guessed, refused)]
        for policy in Policy
    }
    assert accepted == {
        Policy.STRICT: [True, False, False, False],
        Policy.SAFE: [True, True, False, False],
        Policy.LENIENT: [True, True, True, False],
    }


def test_what_the_policy_does_not_accept_is_an_error() -> None:
    raw = '{"path": a, "limit": "3"}'
    lenient, safe, strict = (parse_arguments(raw, TOOL, policy=policy) for policy in reversed(Policy))
    assert (lenient.parse_error, lenient.parse_warning) == (
        None,
        "unquoted_string; string_literal_converted_to_integer",
    )
    assert (safe.parse_error, safe.parse_warning) == (
        "unquoted_string",
        "string_literal_converted_to_integer",
    )
    assert (strict.parse_error, strict.parse_warning) == (
        "unquoted_string; string_literal_converted_to_integer",
        None,
    )
    assert lenient.arguments == safe.arguments == strict.arguments == {"path": "a", "limit": 3}
    assert lenient.diagnostics == safe.diagnostics == strict.diagnostics


def test_names_and_ids_are_passed_on() -> None:
    request = parse_arguments("{}", TOOL, tool_call_id="call_1")
    assert (request.tool_name, request.tool_call_id) == ("write", "call_1")
    assert parse_arguments("{", None, tool_name="other").tool_name == "other"


def test_meaning_lost_is_said() -> None:
    assert parse_arguments('{"path": "a', TOOL).lossy
    assert not parse_arguments('{"path": "a",}', TOOL).lossy


def test_the_gravest_severity_is_known() -> None:
    assert parse_arguments('{"path": "a"}', TOOL).worst_severity is None
    assert parse_arguments('{"path": "a",}', TOOL).worst_severity is Severity.NOTE
    assert parse_arguments("no", TOOL).worst_severity is Severity.ERROR


def test_the_steps_show_the_text_before_and_after_each_stage() -> None:
    request = parse_arguments("Sure: ```json\n{'path': 'a', 'limit': '3'}\n```", TOOL)
    assert [(step.stage, step.after) for step in request.steps] == [
        (Stage.UNWRAP, "{'path': 'a', 'limit': '3'}\n```"),
        (Stage.REPAIR, '{"path": "a", "limit": "3"}'),
        (Stage.COERCE, '{"path": "a", "limit": 3}'),
    ]
    assert parse_arguments('{"path": "a"}', TOOL).steps == ()


def test_requests_and_definitions_survive_pickle_and_copy() -> None:
    for raw in ('{"path": "a"}', '{"path": "a", "limit": "many"}', "{'path': 'a',}", "no"):
        request = parse_arguments(raw, TOOL)
        for other in (pickle.loads(pickle.dumps(request)), copy.deepcopy(request)):  # noqa: S301  our own bytes
            assert other == request
            assert other.with_defaults() == request.with_defaults()
            assert parse_arguments(raw, other.tool) == request


def test_a_default_that_the_caller_changes_leaves_the_definition_alone() -> None:
    tool = ToolDefinition.from_json_schema(
        name="t", schema={"type": "object", "properties": {"tags": {"type": "array", "default": []}}}
    )
    first = parse_arguments("{}", tool).with_defaults()
    assert first.arguments == {"tags": []}
    first.arguments["tags"].append("mine")
    assert parse_arguments("{}", tool).with_defaults().arguments == {"tags": []}


def test_asking_for_defaults_twice_says_nothing_twice() -> None:
    properties = {"a": {"type": "integer", "default": 1}, "b": {"type": "integer", "default": "many"}}
    tool = ToolDefinition.from_json_schema(name="t", schema={"type": "object", "properties": properties})
    once = parse_arguments("{}", tool).with_defaults()
    assert once.parse_warning == "default_applied:a; default_not_applied:b"
    assert once.with_defaults() == once


def test_an_unreadable_text_says_why_and_what_was_tried() -> None:
    request = parse_arguments("Well: ```json\n{'path': ...}" + "x" * 200, TOOL)
    [diagnostic] = request.diagnostics
    assert (request.parse_error, request.arguments) == ("json_parse_error:ellipsis", None)
    assert diagnostic.found == ("Well: ```json\n{'path': ...}" + "x" * 200)[:100]
    assert diagnostic.message.endswith(
        "Tried: strict JSON, key=value lines, YAML, fences, tags and prose around, repairs. "
        "Repaired so far: narration_removed, code_fence_removed, single_quotes."
    )


@pytest.mark.parametrize(
    ("raw", "tried"),
    [
        ("call me maybe", "strict JSON, key=value lines, YAML, fences, tags and prose around."),
        ('{"limit": 1 + 1}', "strict JSON, repairs, fences, tags and prose around."),
        (
            json.dumps(json.dumps("{...}")),
            "strict JSON, string encoding, fences, tags and prose around, repairs.",
        ),
    ],
)
def test_what_was_tried_names_every_step(raw: str, tried: str) -> None:
    [diagnostic] = parse_arguments(raw, TOOL).diagnostics
    assert (diagnostic.hint or "").partition(" Repaired")[0] == f"Tried: {tried}"


def test_an_error_names_its_parameter_in_parse_error() -> None:
    fields = {
        "limit": {"type": "integer", "maximum": 10},
        "mode": {"enum": ["read"]},
        "kind": {"const": 1},
        "on": {"type": "boolean"},
        "code": {"type": "string", "pattern": "^[0-9]+$"},
        'odd "name"': {"type": "number"},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "at": {"type": "string"}},
                "required": ["at"],
            },
        },
    }
    tool = ToolDefinition.from_json_schema(
        name="t", schema={"type": "object", "properties": fields, "required": ["limit"]}
    )

    def error_of(**sent: object) -> str | None:
        return parse_arguments(json.dumps({"limit": 1} | sent), tool).parse_error

    assert error_of(limit="many") == "unsupported_integer_literal:limit"
    assert error_of(limit=None) == "null_not_allowed:limit"
    assert error_of(limit=11) == "number_out_of_bounds:limit maximum 10"
    assert error_of(on="yes") == "unsupported_boolean_literal:on"
    assert error_of(mode="erase") == "enum_out_of_range:erase"
    assert error_of(kind=2) == "const_mismatch:kind 2"
    assert error_of(code="x") == "pattern_mismatch:code ^[0-9]+$"
    assert error_of(**{'odd "name"': "x"}) == 'unsupported_number_literal:odd "name"'
    assert error_of(rows=[{"id": "x", "at": ""}, {"id": "y"}]) == (
        "unsupported_integer_literal:rows[*].id; unsupported_integer_literal:rows[*].id; "
        "missing_required:rows[*].at"
    )
    assert parse_arguments("{}", tool).parse_error == "missing_required:limit"
    assert parse_arguments("[1]", tool).parse_error == "arguments_must_be_object"


def test_a_repeated_key_shows_the_value_that_was_lost_and_where_the_other_stands() -> None:
    raw = '{"path": "a.txt", "limit": 5, "path": "b.txt"}'
    [diagnostic] = parse_arguments(raw, TOOL).diagnostics
    assert (diagnostic.path, diagnostic.found, diagnostic.became) == ("$.path", '"a.txt"', "b.txt")
    assert raw[diagnostic.start : diagnostic.end] == diagnostic.found
    assert diagnostic.hint == f"The value that counts begins at character {raw.index('b.txt') - 1}."


def test_every_reason_for_refusing_a_text_has_a_sentence() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in LENIENT.rglob("*.py"))
    # nested_too_deep has its own code, so it needs no sentence here
    raised = set(re.findall(r'UnreadableError\("(\w+)"', sources)) - {"nested_too_deep"}
    assert raised == set(REASONS)
    [diagnostic] = parse_arguments("call me maybe", TOOL).diagnostics
    assert REASONS["no_object_found"] in diagnostic.message


def test_a_message_is_a_sentence_with_what_was_found_and_what_it_became() -> None:
    [diagnostic] = parse_arguments('{"path": "a", "limit": "42"}', TOOL).diagnostics
    assert (
        diagnostic.message == "$.limit: Text with an integer became an integer. Found '\"42\"', read as '42'."
    )
    assert diagnostic.text == diagnostic.code == "string_literal_converted_to_integer"


def test_bytes_come_back_as_the_bytes_they_were() -> None:
    raw = b'{"path": "caf\xe9"}'
    request = parse_arguments(raw, TOOL)
    assert request.raw_arguments is raw
    assert request.parse_warning == "invalid_utf8"


def assert_bounded(request: ToolCallRequest, raw: str) -> None:
    assert request.raw_arguments == raw
    assert len(request.diagnostics) <= 10_000
    assert all(diagnostic.code in CODES for diagnostic in request.diagnostics)


SIZE = 60_000
HOSTILE = {
    "open brackets": "[" * SIZE,
    "open braces": "{" * SIZE,
    "nested objects": '{"a":' * (SIZE // 5),
    "closed brackets": "[" * SIZE + "]" * SIZE,
    "closers": "}" * SIZE,
    "quotes": '"' * SIZE,
    "quotes in an object": '{"a": ' + '"' * SIZE,
    "backslashes": "\\" * SIZE,
    "an open string of backslashes": '{"a": "' + "\\" * SIZE,
    "commas": "{" + "," * SIZE,
    "colons": "{" + ":" * SIZE,
    "fences": "``` " * (SIZE // 4),
    "half fences": "```json\n" * (SIZE // 8),
    "tags": "<a>" * (SIZE // 3),
    "thoughts": "<think>" * (SIZE // 7),
    "blanks": " " * SIZE,
    "NULs": "\0" * SIZE,
    "inner quotes": '{"a": "' + '", "k": ' * (SIZE // 8),
    "JSON in a string": '{"a": "' + '{"x": "y"}, ' * (SIZE // 12),
    "smart quotes": "{" + '"k":‘x, ' * (SIZE // 8),
    "triple quotes": '{"a": ' + '"""' * (SIZE // 3),
    "objects": '{"a":1}' * (SIZE // 7),
    "empty objects": "{}" * (SIZE // 2),
    "comments": "{" + "/*" * (SIZE // 2),
    "words": "{a: " + "x y " * (SIZE // 4),
    "digits": '{"limit": ' + "1" * SIZE + "}",
    "sums": "{a: " + "1+" * (SIZE // 2),
    "escaped objects": '{\\"a\\": ' * (SIZE // 8),
    "numbers without commas": '{"a": [' + "1 " * (SIZE // 2),
    "thousands": '{"limit": ' + "1,000," * (SIZE // 6),
    "placeholders": "use {x} " * (SIZE // 8),
    "a long key": '{"' + "k" * SIZE + '": {"limit": "1"}}',
    "joins": '{"a": ' + '"x" + ' * (SIZE // 6),
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("tool", [None, TOOL, RECURSIVE], ids=["no definition", "plain", "recursive"])
@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_ends_in_a_result(raw: str, tool: ToolDefinition | None) -> None:
    assert_bounded(parse_arguments(raw, tool), raw)


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_ends_in_calls_or_none(raw: str) -> None:
    assert isinstance(extract_tool_calls(raw), tuple)


def test_a_hundred_thousand_levels_are_an_error() -> None:
    for raw in ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000):
        assert parse_arguments(raw, TOOL).parse_error == "nested_too_deep"


def test_a_value_nested_too_deep_is_refused_with_the_limit_that_applies() -> None:
    for levels, tool, limit in ((129, TOOL, 128), (129, None, 128), (70, NESTED, 64)):
        raw = '{"a":' * levels + "1" + "}" * levels
        [diagnostic] = (
            diagnostic
            for diagnostic in parse_arguments(raw, tool).diagnostics
            if diagnostic.code == "nested_too_deep"
        )
        assert f"The limit is {limit} levels" in diagnostic.message


def test_every_error_of_the_text_quotes_it_and_names_what_was_tried() -> None:
    deep, many = '{"a": ' + "[" * 200, '{"a": [' + "1,," * 10_001 + "1]}"
    for raw in ("call me maybe", deep, many, "[1, 2]"):
        [diagnostic] = parse_arguments(raw, TOOL).diagnostics
        assert (diagnostic.found or "").startswith(raw[:99])
        assert "Tried: strict JSON" in diagnostic.message


def test_a_recursive_definition_is_not_tried_branch_by_branch_for_ever() -> None:
    for key, levels in (("a", 60), ("b", 60), ("b", 120)):
        raw = f'{{"{key}":' * levels + '{"c": "x"}' + "}" * levels
        assert_bounded(parse_arguments(raw, RECURSIVE), raw)


def test_twelve_layers_of_encoding_are_refused() -> None:
    raw = "{}"
    for _ in range(12):
        raw = json.dumps(raw)
    assert parse_arguments(raw, TOOL).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"a": "x\ud800"}', {"a": "x\ufffd"}),
        ('{"\ud800": 1}', {"\ufffd": 1}),
        ('{"a": "x\\\ud800"}', {"a": "x\\\ufffd"}),
        ('Sure\ud800: {"a": 1}', {"a": 1}),
        ("\ud800", None),
    ],
)
def test_half_a_surrogate_pair_in_the_text_never_reaches_what_is_stored(raw: str, arguments: object) -> None:
    request = parse_arguments(raw)
    assert request.arguments == arguments
    assert request.raw_arguments == raw
    assert request.lossy or request.parse_error
    for diagnostic in request.diagnostics:
        repr(tuple(diagnostic)).encode()
        "".join(text for text in diagnostic if isinstance(text, str)).encode()


def test_texts_within_texts_are_decoded_within_bounds() -> None:
    """Without the limit, 5,000 characters took a minute, and this input would take sixteen times as long."""
    raw = "\ufeff\ufeff" + '"a": \ufeff' * 2_800
    assert isinstance(parse_arguments(raw, CATALOG.get("tree")), ToolCallRequest)


def test_a_call_without_a_name_is_told_so_where_tools_were_offered() -> None:
    request = parse_arguments('{"path": "a"}', ToolCatalog.from_definitions([TOOL]))
    assert (request.tool_name, request.parse_error) == (None, "unknown_tool")
    assert "No name of a tool was given." in request.diagnostics[-1].message


def test_an_escape_that_is_kept_is_shown_whole() -> None:
    [escape] = [
        diagnostic
        for diagnostic in parse_arguments(r'{"a": "\d+"}').diagnostics
        if diagnostic.code == "invalid_escape"
    ]
    assert (escape.found, escape.became) == (r"\d", r"\d")
