"""Fine-tuning data is what its documentation shows, not any JSON with messages."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.formats import claiming_formats

USER = {"role": "user", "content": "Weather?"}
CALL = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
ANSWER = {"role": "assistant", "content": "Sunny."}


def asked(*calls: Any, **fields: Any) -> dict[str, Any]:
    return {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [*calls]}], **fields}


def claims(*records: dict[str, Any]) -> list[str]:
    return [form.SOURCE.name for form in claiming_formats(records)]


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [USER, ANSWER]},
        {"messages": [USER, {**ANSWER, "weight": 0}], "parallel_tool_calls": False},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}, ANSWER]},
        {
            "messages": [USER, ANSWER],
            "tools": [{"type": "function", "function": {"name": "weather"}}],
            "id": 1,
        },
        asked(CALL),
        asked(CALL, source="made", difficulty=3),
        asked({"name": "weather", "arguments": {"city": "Oslo"}}),
        {"messages": [USER, {"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}}]},
    ],
    ids=lambda record: str(record)[:60],
)
def test_examples_are_recognised(record: dict[str, Any]) -> None:
    assert claims(record) == ["chat_jsonl"]


@pytest.mark.parametrize(
    "record",
    [
        asked({"function": "weather", "args": {}, "id": "c"}),  # AgentDojo's call
        asked({"name": "weather", "args": {}, "id": "c", "type": "tool_call"}),  # LangChain's
        asked(CALL, {"function": "weather", "args": {}}),
        {
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls"}]},
            ]
        },
        {"messages": [USER, {"role": "assistant", "content": [{"toolUse": {"name": "ls"}}]}]},
        {"messages": [{"role": "user", "text": "a"}, {"role": "robot", "text": "b"}]},
        {"messages": [USER, ANSWER], "score": 1},  # a plain talk with keys of somebody's
        {"messages": [USER, ANSWER], "tools": []} | {"colour": "red"},
        {"messages": [USER, "Sunny."]},
        {"messages": []},
    ],
    ids=lambda record: str(record)[:60],
)
def test_other_messages_are_not(record: dict[str, Any]) -> None:
    assert "chat_jsonl" not in claims(record)


def test_one_foreign_record_refuses_the_file() -> None:
    assert claims(asked(CALL), asked({"function": "weather", "args": {}, "id": "c"})) == []
