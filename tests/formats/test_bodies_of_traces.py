"""Tests that requests and responses in traces are read in the formats of every API and framework."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from ingest.events import FaultLayer
from ingest.formats.provider_messages.embedded_json import LAYERS, open_json, to_text
from ingest.formats.provider_messages.message_lists import read_messages, read_reply
from ingest.formats.provider_messages.message_parts import Message, MessageCall, MessageResult, read_result
from ingest.formats.provider_messages.model_requests import find_definitions, prompt_text, read_request
from ingest.formats.spans.span_attributes import collect_indexed, flatten, parse_count, read_any_value
from ingest.formats.traces.span_calls import fault_layer_in, fault_shown_by

CALL = MessageCall("ls", "c1", '{"path": "."}')


def nested(value: Any, layers: int) -> str:
    text = json.dumps(value)
    for _ in range(layers - 1):
        text = json.dumps(text)
    return text


def test_json_in_json_is_opened_to_the_last_layer_and_no_further_than_the_cap() -> None:
    assert open_json(nested({"a": 1}, LAYERS)) == {"a": 1}
    beyond = nested({"a": 1}, LAYERS + 1)
    assert open_json(beyond) == beyond


@pytest.mark.parametrize("text", ["", "5", "true", '"word"', "[1", "{'a': 1}", "plain", "\ud83d{"])
def test_what_holds_no_object_stays_as_it_is(text: str) -> None:
    assert open_json(text) == text


def test_what_is_inside_of_an_object_is_not_opened_with_it() -> None:
    assert open_json('{"arguments": "{\\"a\\": 1}"}') == {"arguments": '{"a": 1}'}


@pytest.mark.parametrize(("value", "text"), [(None, None), ("x", "x"), ([1], "[1]"), (2**70, str(2**70))])
def test_any_body_can_be_shown(value: Any, text: str | None) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ({"stringValue": "a"}, "a"),
        ({"intValue": "5"}, 5),
        ({"intValue": 5}, 5),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"doubleValue": 1.5}]}}, [1, 1.5]),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {}}}]}}, {"a": []}),
        ({}, None),
    ],
)
def test_a_typed_value_is_unwrapped(typed: Any, value: Any) -> None:
    assert read_any_value(typed) == value


def test_a_value_nested_without_end_is_cut_not_followed() -> None:
    value: dict[str, Any] = {"stringValue": "deep"}
    for _ in range(5_000):
        value = {"arrayValue": {"values": [value]}}
    assert isinstance(read_any_value(value), list)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("12", 12),
        (12, 12),
        (12.0, 12),
        (True, None),
        ("1e3", None),
        ("9" * 30, None),
        (1.5, None),
        (-1, None),
    ],
)
def test_a_count_may_be_text(value: Any, number: int | None) -> None:
    assert parse_count(value) == number


def test_indices_are_numbers_not_words() -> None:
    attributes = {f"m.{number}.role": str(number) for number in (10, 9, 0, 100)}
    assert [item["role"] for item in collect_indexed(attributes, "m")] == ["0", "9", "10", "100"]


def test_an_object_stays_whole_beside_its_keys() -> None:
    assert flatten({"a": {"b": {"c.d": 1}}}) == {"a": {"b": {"c.d": 1}}, "a.b": {"c.d": 1}, "a.b.c.d": 1}


REPLIES: list[tuple[str, Any, Message]] = [
    (
        "openai",
        {
            "choices": [
                {
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "c1", "function": {"name": "ls", "arguments": '{"path": "."}'}}
                        ],
                    },
                }
            ]
        },
        Message(role="assistant", calls=(CALL,), finish="tool_calls"),
    ),
    (
        "responses",
        {"output": [{"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"path": "."}'}]},
        Message(role="assistant", calls=(CALL,)),
    ),
    (
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "."}},
            ],
            "stop_reason": "tool_use",
        },
        Message(
            role="assistant",
            text="I look.",
            calls=(MessageCall("ls", "c1", {"path": "."}),),
            finish="tool_use",
        ),
    ),
    (
        "gemini",
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "hm", "thought": True},
                            {"functionCall": {"name": "ls", "args": {"path": "."}}},
                        ],
                    },
                    "finishReason": "STOP",
                }
            ]
        },
        Message(role="assistant", calls=(MessageCall("ls", None, {"path": "."}),), finish="STOP"),
    ),
    (
        "bedrock",
        {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "ls", "input": {}}}],
            }
        },
        Message(role="assistant", calls=(MessageCall("ls", "c1", {}),)),
    ),
    (
        "opentelemetry",
        [
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "c1", "name": "ls", "arguments": '{"path": "."}'}],
            }
        ],
        Message(role="assistant", calls=(CALL,)),
    ),
    (
        "ai sdk",
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "ls", "input": '{"path": "."}'}
            ],
        },
        Message(role="assistant", calls=(CALL,)),
    ),
    (
        "langchain keeps the text",
        {
            "type": "ai",
            "content": "",
            "additional_kwargs": {
                "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": '{"path": "."}'}}]
            },
            "tool_calls": [{"id": "c1", "name": "ls", "args": {"path": "."}}],
            "invalid_tool_calls": [],
        },
        Message(role="assistant", text="", calls=(CALL.with_changes(marks=True),)),
    ),
    (
        "langchain of anthropic, each call in two places",
        {
            "type": "AIMessageChunk",
            "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}],
            "tool_calls": [{"id": "c1", "name": "ls", "args": {}}],
            "tool_call_chunks": [{"id": "c1", "name": "ls", "args": '{"path": "."}', "index": 0}],
        },
        Message(role="assistant", calls=(CALL,)),
    ),
    (
        "an older function call",
        {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": '{"path": "."}'}},
        Message(role="assistant", calls=(CALL.with_changes(id=None),)),
    ),
]


@pytest.mark.parametrize(("body", "message"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES])
@pytest.mark.parametrize("layers", [0, 2])
def test_a_reply_is_read_in_any_spelling(body: Any, message: Message, layers: int) -> None:
    assert read_reply(nested(body, layers) if layers else body) == (message,)


RESULTS: list[tuple[Any, MessageResult]] = [
    ({"role": "tool", "tool_call_id": "c1", "content": "a.txt"}, MessageResult("c1", None, "a.txt")),
    (
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}],
        },
        MessageResult("c1", None, "no", True),
    ),
    (
        {"role": "user", "parts": [{"function_response": {"name": "ls", "response": {"error": "gone"}}}]},
        MessageResult(None, "ls", '{"error":"gone"}', True),
    ),
    (
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"files": 2}}]},
        MessageResult("c1", None, '{"files":2}'),
    ),
    (
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "ls",
                    "output": {"type": "error-text", "value": "no"},
                }
            ],
        },
        MessageResult("c1", "ls", "no", True),
    ),
    (
        {"type": "tool", "name": "ls", "tool_call_id": "c1", "status": "success", "content": "ok"},
        MessageResult("c1", "ls", "ok", False),
    ),
    ({"type": "function_call_output", "call_id": "c1", "output": "ok"}, MessageResult("c1", None, "ok")),
]


@pytest.mark.parametrize(("body", "result"), RESULTS)
def test_a_result_is_read_in_any_spelling(body: Any, result: MessageResult) -> None:
    assert list(read_messages([body])) == [Message(role="tool", results=(result,))]


def test_a_tool_of_mcp_says_itself_that_it_failed() -> None:
    body = '{"content": [{"type": "text", "text": "no such file"}], "isError": true}'
    assert read_result(body) == ("no such file", True)


def test_a_request_tells_prompt_definitions_and_messages() -> None:
    definition = {"name": "ls", "input_schema": {"type": "object"}}
    request = read_request(
        {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [definition],
        }
    )
    assert request is not None
    assert request.system == "Be brief."
    assert request.messages == (Message(role="user", text="Hi"),)
    assert request.definitions == (definition,)


def test_a_body_without_a_role_is_no_message_of_a_user() -> None:
    request = read_request('{"content": "role"}')
    assert request is not None
    assert request.messages == ()


def test_a_list_of_mere_names_defines_nothing() -> None:
    assert find_definitions([{"type": "function", "name": "ls"}]) == ()
    assert find_definitions('[{"function_declarations": [{"name": "ls", "parameters": {"type": "OBJECT"}}]}]')
    assert find_definitions([{"type": "web_search"}]) == ()


@pytest.mark.parametrize(
    "system",
    [
        "Be brief.",
        '"Be brief."',
        '[{"type": "text", "content": "Be brief."}]',
        {"parts": [{"text": "Be brief."}]},
    ],
)
def test_a_system_prompt_is_read_in_any_spelling(system: Any) -> None:
    assert prompt_text(system) == "Be brief."


@pytest.mark.parametrize(
    ("text", "alone", "layer"),
    [
        ("Error: serch is not a valid tool, try one of [search].", FaultLayer.SCHEMA, FaultLayer.SCHEMA),
        ("Unknown tool name: 'x'. Available tools: y", FaultLayer.SCHEMA, FaultLayer.SCHEMA),
        ("AI_NoSuchToolError: Model tried to call unavailable tool 'x'.", None, FaultLayer.SCHEMA),
        (
            "AI_InvalidToolInputError: Invalid input for tool x: JSON parsing failed: Text: {",
            None,
            FaultLayer.SYNTAX,
        ),
        ("JSONDecodeError: Expecting value", None, FaultLayer.SYNTAX),
        ("ToolError: 1 validation error for xArguments", None, FaultLayer.TOOL_REJECTED),
        (
            "Error executing tool x: 2 validation errors for xArguments",
            FaultLayer.TOOL_REJECTED,
            FaultLayer.TOOL_REJECTED,
        ),
        ("TimeoutError: 2 s", None, FaultLayer.EXECUTION),
        ("The log says: JSONDecodeError", None, FaultLayer.SYNTAX),
        ("", None, FaultLayer.EXECUTION),
    ],
)
def test_a_failed_call_has_the_layer_that_its_text_tells(
    text: str, alone: FaultLayer | None, layer: FaultLayer
) -> None:
    assert fault_shown_by(text) is alone
    assert fault_layer_in(text) is layer


@pytest.mark.parametrize(
    "text", ["Error: " * 200_000, "1" * 1_000_000, "Invoking `" + "x" * 1_000_000, "{" * 300_000]
)
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    start = time.process_time()
    fault_shown_by(text)
    fault_layer_in(text)
    open_json(text)
    list(read_messages(text, "user"))
    assert time.process_time() - start < 1
