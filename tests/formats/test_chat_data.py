"""Tests chat transcripts, the format for JSON messages that no other format reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.formats import chat_jsonl, claiming_formats
from ingest.formats.chat_jsonl import conversation_joining
from ingest.formats.provider_messages.message_lists import read_message
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint
from tests.store.night import ask

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
        asked({"name": "weather", "args": {}, "id": "c", "type": "tool_call"}),
        asked(CALL, model="m", session_id="s", usage={}, status="ok", info={}, events=[], trace_id="t"),
        {
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "ls"}]},
            ]
        },
        {"messages": [USER, {"role": "assistant", "content": [{"toolUse": {"name": "ls"}}]}]},
        {"messages": [USER, ANSWER], "score": 1},
        {"messages": json.dumps([USER, ANSWER])},
        {"messages": [USER], "model": "m", "response": "Sunny."},
        {"messages": [USER, {"role": "assistant", "function_call": {"name": "weather", "arguments": "{}"}}]},
    ],
    ids=lambda record: str(record)[:60],
)
def test_examples_are_recognised(record: dict[str, Any]) -> None:
    assert claims(record) == ["chat_jsonl"]


@pytest.mark.parametrize(
    "record",
    [
        asked({"function": "weather", "args": {}, "id": "c"}),  # the fields of a call in logs of AgentDojo
        asked(CALL, {"function": "weather", "args": {}}),
        {"messages": [{"role": "user", "text": "a"}, {"role": "robot", "text": "b"}]},
        {"messages": [USER, "Sunny."]},
        {"messages": [USER, {"role": "assistant", "content": 3}]},
        {"messages": [USER], "model": "m"},
        {"messages": "Sunny."},
        {"messages": []},
    ],
    ids=lambda record: str(record)[:60],
)
def test_other_messages_are_not(record: dict[str, Any]) -> None:
    assert "chat_jsonl" not in claims(record)


PLAIN_CALL = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}


@pytest.mark.parametrize(
    "raw",
    [
        *(
            {"role": role, "content": text}
            for role in ("system", "developer", "assistant")
            for text in ("", "a")
        ),
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "a", "tool_calls": []},
        {"role": "assistant", "tool_calls": [PLAIN_CALL, {**PLAIN_CALL, "id": ""}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "ls", "arguments": {"a": 1}}}]},
        {"role": "assistant", "tool_calls": [{**PLAIN_CALL, "id": 3}]},
        {"role": "assistant", "tool_calls": [{**PLAIN_CALL, "index": 0}]},
        {"role": "assistant", "tool_calls": json.dumps([PLAIN_CALL])},
        {"role": "assistant", "content": json.dumps([PLAIN_CALL])},
        {"role": "tool", "content": "done", "tool_call_id": "c", "name": "ls"},
        {"role": "tool", "content": "done", "tool_call_id": "", "name": ""},
        *({"role": "tool", "content": text} for text in ('{"a": 1}', '"quoted"', " [1]", "", "\n", None)),
        {"role": "tool", "content": json.dumps({"content": "x", "isError": True}), "tool_call_id": "c"},
    ],
    ids=str,
)
def test_a_plain_message_is_read_as_any_other(raw: dict[str, Any]) -> None:
    plain = chat_jsonl._read_plain(raw, raw.get("content"))
    assert plain is None or [plain] == list(read_message(raw, None))


def test_one_foreign_record_refuses_the_file() -> None:
    assert claims(asked(CALL), asked({"function": "weather", "args": {}, "id": "c"})) == []


REPLY = {"object": "chat.completion", "choices": [{"message": ANSWER, "finish_reason": "stop"}]}
EXCHANGE = {"messages": [USER], "model": "m", "response": REPLY}


def test_another_format_that_claims_a_file_has_it_alone() -> None:
    assert claims({"messages": [USER, ANSWER], "model": "m"}, EXCHANGE) == ["request_log"]


def loaded(tmp_path: Path, *records: dict[str, Any], **options: Any) -> tuple[Any, Path]:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "chat.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return load([logs], store, **options), store


def test_a_file_is_looked_at_for_longer_before_the_last_resort_has_it(tmp_path: Path) -> None:
    _, store = loaded(tmp_path, *[{"messages": [USER, ANSWER], "n": n} for n in range(9)], EXCHANGE)
    assert ask(store, "SELECT DISTINCT source FROM files") == [("request_log",)]


def test_a_load_names_what_a_transcript_lacks(tmp_path: Path) -> None:
    report, store = loaded(tmp_path, asked(CALL))
    name = str(tmp_path / "logs" / "chat.jsonl")
    assert report.notes == (
        f"no model in {name}; --model NAME names it",
        f"no time in {name}; --from-path takes the {{date}} from the path",
        f"no tool definitions in {name}; --tools FILE gives them",
        f"no token counts in {name}",
    )
    assert ask(store, "SELECT count(*), count(recorded_status) FROM turns") == [(1, 0)]


def test_a_load_names_nothing_that_a_line_has(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    usage = json.dumps({"prompt_tokens": 3})
    fields = {"model": "m", "created": 1790848800, "tools": tools, "usage": usage}
    report, _ = loaded(tmp_path, asked(CALL), asked(CALL, **fields))
    assert report.notes == ()


GROWING = [USER, ANSWER, {"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Rain."}]


@pytest.mark.parametrize("named", [{}, {"thread_id": "t"}, {"metadata": {"conversation_id": "t"}}], ids=str)
def test_growing_prefixes_of_a_conversation_count_once(tmp_path: Path, named: dict[str, Any]) -> None:
    lines = [{"messages": GROWING[:end], "model": "m", **named} for end in (1, 2, 3, 4)]
    _, store = loaded(tmp_path, *lines)
    assert ask(store, "SELECT count(*) FROM sessions") == [(1,)]
    assert ask(store, "SELECT turn, user_text, answer_text FROM turns ORDER BY 1") == [
        (1, "Weather?", "Sunny."),
        (2, "And now?", "Rain."),
    ]


def test_two_files_of_one_conversation_are_one_session(tmp_path: Path) -> None:
    loaded(tmp_path, {"messages": GROWING[:2], "session_id": "s"})
    (tmp_path / "logs" / "chat.jsonl").rename(tmp_path / "logs" / "before.jsonl")
    _, store = loaded(tmp_path, {"messages": GROWING, "session_id": "s"})
    assert ask(store, "SELECT session_id, turns FROM sessions WHERE NOT duplicate") == [("s", 2)]
    assert ask(store, "SELECT turn FROM turns WHERE NOT duplicate ORDER BY 1") == [(1,), (2,)]


def test_a_line_that_has_the_id_of_another_is_no_part_of_it(tmp_path: Path) -> None:
    """In evaluation logs, several answers to one question have the same id."""
    other = {"role": "assistant", "content": "Rainy."}
    _, store = loaded(tmp_path, *[{"id": 7, "messages": [USER, reply]} for reply in (ANSWER, other)])
    assert ask(store, "SELECT count(*) FROM sessions") == [(2,)]


def test_a_conversation_that_was_forgotten_becomes_a_second_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation_joining, "MAX_BYTES", 1)
    _, store = loaded(tmp_path, *[{"messages": GROWING[:end]} for end in (2, 4)])
    # even if the reader remembers only one session, it remembers the last session
    assert ask(store, "SELECT count(*) FROM sessions") == [(1,)]
    between = {"messages": [{"role": "user", "content": "Hi"}, ANSWER]}
    _, store = loaded(tmp_path / "b", {"messages": GROWING[:2]}, between, {"messages": GROWING})
    assert ask(store, "SELECT count(*) FROM sessions") == [(3,)]


def test_a_grown_file_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 1)
    lines = [{"messages": GROWING[:end], "model": "m"} for end in (2, 3, 4)]
    loaded(tmp_path, *lines[:2])
    report, store = loaded(tmp_path, *lines)
    assert report.lines == 1
    query = "SELECT session_id, turn, user_text, answer_text FROM turns ORDER BY 2"
    _, fresh = loaded(tmp_path / "fresh", *lines)
    assert ask(store, query) == ask(fresh, query)
    assert len(ask(store, query)) == 2
