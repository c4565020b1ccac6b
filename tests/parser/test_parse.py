"""The result: policies, steps, texts of diagnostics, and inputs that are made to hurt."""

from __future__ import annotations

import json

import pytest

from lenient import Outcome, Policy, ToolCallRequest, ToolDefinition, extract_tool_calls, parse_arguments
from lenient.codes import CODES, Severity, Stage
from tests.fuzz.definitions import CATALOG

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


def test_an_unreadable_text_says_why_and_what_was_tried() -> None:
    request = parse_arguments("Well: ```json\n{'path': ...}" + "x" * 200, TOOL)
    [found] = request.diagnostics
    assert (request.parse_error, request.arguments) == ("json_parse_error:ellipsis", None)
    assert found.found == ("Well: ```json\n{'path': ...}" + "x" * 200)[:100]
    assert found.message.endswith("Tried: strict JSON, narration_removed, code_fence_removed, single_quotes.")


def test_a_message_is_a_sentence_with_what_was_found_and_what_it_became() -> None:
    [found] = parse_arguments('{"path": "a", "limit": "42"}', TOOL).diagnostics
    assert found.message == "$.limit: Text that holds an integer became one. Found '\"42\"', read as '42'."
    assert found.text == found.code == "string_literal_converted_to_integer"


def test_bytes_come_back_as_the_bytes_they_were() -> None:
    raw = b'{"path": "caf\xe9"}'
    request = parse_arguments(raw, TOOL)
    assert request.raw_arguments is raw
    assert request.parse_warning == "invalid_utf8"


def assert_bounded(request: ToolCallRequest, raw: str) -> None:
    assert request.raw_arguments == raw
    assert len(request.diagnostics) <= 10_000
    assert all(found.code in CODES for found in request.diagnostics)


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


def test_a_recursive_definition_is_not_tried_branch_by_branch_for_ever() -> None:
    for key, levels in (("a", 60), ("b", 60), ("b", 120)):
        raw = f'{{"{key}":' * levels + '{"c": "x"}' + "}" * levels
        assert_bounded(parse_arguments(raw, RECURSIVE), raw)


def test_twelve_layers_of_encoding_are_refused() -> None:
    raw = "{}"
    for _ in range(12):
        raw = json.dumps(raw)
    assert parse_arguments(raw, TOOL).outcome is Outcome.FAILED
