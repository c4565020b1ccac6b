"""Tests how strings in logs are classified."""

from __future__ import annotations

import pytest

from ingest.events import FaultLayer
from ingest.formats.claude_code.user_lines import (
    UserLineKind,
    classify_user_line,
    find_fault,
    find_leaked_call,
)
from ingest.formats.session_history.history_texts import (
    find_arguments,
    find_unparsable_call,
    read_observation,
    read_turn_status,
    split_unparsed,
)

HOSTILE = [
    "`" * 300_000 + "\ninvoke name=",
    "```\n" * 100_000 + '<invoke name="x">',
    " " * 300_000 + '<invoke name="' + "x" * 300_000,
    "{" * 300_000,
    '{"a":' * 100_000,
    '{"tool": "x", ' * 50_000,
    "[tool_use parse error] " * 50_000,
    "[tool_use parse error] x\n" * 50_000,
    "AI_" + "x" * 300_000,
    "Permission to use " + "x" * 300_000,
    "Expected " * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{text[:12]!r} x {len(text)}")
def test_a_hostile_text_is_read_and_left(text: str) -> None:
    find_leaked_call(text + " invoke name=")
    find_fault(text)
    classify_user_line(text)
    split_unparsed(text)
    read_observation(None, text)
    find_unparsable_call("LLM call failed: " + text)
    find_arguments(text, "x", {})


@pytest.mark.parametrize(
    ("answer", "raw"),
    [
        ('{"tool":"ls","input":{"a": 1}}', '{"a": 1}'),
        ('{"input" : {"a": 1} , "tool" : "ls"}', '{"a": 1}'),
        ('I list.\n```json\n{"tool":"ls","input":{"a": 1}}\n```\nDone.', '{"a": 1}'),
        ('{"note": "first"} {"tool":"ls","input":{"a": 1}}', '{"a": 1}'),
        ('{"tool":"ls","input":{"a": 1}} {"tool":"ls","input":{"a": 1}}', None),
        ('{"tool":"ls","input":{"a": 2},"input":{"a": 1}}', None),
        ('{"tool":"rm","input":{"a": 1}}', None),
        ('{"tool":"ls","input":{"a": 2}}', None),
        ('{"tool":"ls"}', None),
        ("no call at all", None),
    ],
)
def test_the_raw_arguments_are_taken_from_an_answer_only_when_there_is_no_doubt(
    answer: str, raw: str | None
) -> None:
    assert find_arguments(answer, "ls", {"a": 1}) == raw


@pytest.mark.parametrize(
    ("message", "is_a_call"),
    [
        ("LLM call failed: JSON Parse error: Unrecognized token '我'", True),
        ("LLM call failed: Unterminated string in JSON at position 90", True),
        ("LLM call failed: Unexpected end of JSON input", True),
        ("LLM call failed: JSON Parse error: Unrecognized token '<'", False),
        ("LLM call failed: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", False),
        ("LLM call failed: 429 Too Many Requests", False),
        ("The file says: JSON Parse error", False),
    ],
)
def test_a_dead_turn_counts_as_an_unparsable_call_only_when_json_was_the_reason(
    message: str, is_a_call: bool
) -> None:
    assert (find_unparsable_call(message) is not None) == is_a_call


def test_the_users_choice_to_stop_is_no_verdict_on_the_model() -> None:
    words = ("ok", "error", "prompt_limit", "max_steps", "cancelled", "new_word", None)
    assert [read_turn_status(word) for word in words] == [True, False, False, False, None, None, None]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ('court\n<invoke name="Bash">\n<parameter name="command">ls</parameter>', "Bash"),
        ('  <invoke name="Read">', "Read"),
        ('The tag `<invoke name="Bash">` starts a call.', None),
        ('```xml\n<invoke name="Bash">\n```', None),
        ('~~~\n<invoke name="Bash">\n~~~\nbut then\n<invoke name="Edit">', "Edit"),
        ('````md\n```\n<invoke name="Bash">\n```\n````', None),
    ],
)
def test_a_call_is_leaked_only_at_the_start_of_a_line_outside_of_fences(text: str, tool: str | None) -> None:
    leak = find_leaked_call(text)
    assert (leak[0] if leak else None) == tool


def test_a_tool_that_speaks_of_validation_is_not_taken_for_the_validator() -> None:
    quoted = "<tool_use_error>String to replace not found.\nString: InputValidationError</tool_use_error>"
    assert find_fault(quoted).layer is FaultLayer.TOOL_REJECTED
    assert find_fault("Exit code 1\nInputValidationError: x").layer is FaultLayer.EXECUTION


def test_a_prompt_that_quotes_the_harness_is_still_a_prompt() -> None:
    assert classify_user_line("What is <task-notification>?") is UserLineKind.PROMPT
    assert classify_user_line("Why '[Request interrupted by user]'?") is UserLineKind.PROMPT
