"""Tests tool calls that a log contains but a load cannot read. A load reports their positions."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from ingest.decoding import call_marks
from ingest.decoding.call_marks import find_marks, may_hold_marks
from ingest.decoding.containers import Container
from ingest.events import LogLine
from ingest.load_report import ForeignKind
from ingest.log_format import Record
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint, unread_calls
from tests.store.night import ask

CALLS: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "tool_use", "id": "c", "name": "ls", "input": {}},
    "openai": {
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    },
    "older openai": {"function_call": {"name": "ls", "arguments": "{}"}},
    "responses": {"type": "function_call", "call_id": "c", "id": "fc", "name": "ls", "arguments": "{}"},
    "gemini": {"parts": [{"functionCall": {"name": "ls", "args": {}}}]},
    "converse": {"content": [{"toolUse": {"toolUseId": "c", "name": "ls", "input": {}}}]},
    "ai sdk": {"type": "tool-call", "toolCallId": "c", "toolName": "ls", "input": {}},
    "ai sdk part": {"type": "tool-ls", "toolCallId": "c", "state": "input-available", "input": {}},
    "ai sdk 4": {
        "type": "tool-invocation",
        "toolInvocation": {"toolCallId": "c", "toolName": "ls", "args": {}},
    },
    "langchain": {"tool_calls": [{"name": "ls", "args": {}, "id": "c", "type": "tool_call"}]},
    "agentdojo": {"tool_calls": [{"function": "ls", "args": {}, "id": "c"}]},
}
NO_CALLS: dict[str, Any] = {
    "words": {"content": 'say "tool_use" or {"type": "tool_use", "name": "ls"}'},
    "a definition": {"tools": [{"type": "function", "function_call": {"name": "ls"}}]},
    "a schema": {"input_schema": {"properties": {"tool_calls": {"name": "x"}}}},
    "a result": {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "tool_use", "name": "ls"}]},
    "arguments": {"tool_uses": []},
    "no call": {"tool_calls": []},
    "no name": {"type": "tool_use"},
    "null": {"tool_calls": None, "function_call": None, "functionCall": {}},
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_each_known_shape_is_a_mark(name: str) -> None:
    value = {"deep": [{"in": CALLS[name]}]}
    (mark,) = find_marks(value)
    assert mark.name == "ls"
    assert mark.id == (None if name in ("older openai", "gemini") else "c")
    assert may_hold_marks(json.dumps(value).encode())


@pytest.mark.parametrize("word", sorted({*call_marks._KEYS, *call_marks._TYPES, "tool-ls"}))
def test_every_mark_is_found_in_the_bytes_of_a_line(word: str) -> None:
    assert may_hold_marks(b'{"tool":"function","of":"%s"}' % word.encode())
    assert not may_hold_marks(b'{"toolUseID":"%s%s"}' % (b"x", word.encode()))


@pytest.mark.parametrize("name", NO_CALLS)
def test_words_definitions_and_results_are_no_marks(name: str) -> None:
    assert list(find_marks(NO_CALLS[name])) == []


def test_a_mark_is_found_however_deep_it_lies() -> None:
    value: Any = CALLS["anthropic"]
    for _ in range(100_000):
        value = [value]
    assert len(list(find_marks(value))) == 1


def user(number: int, text: str = "go") -> dict[str, Any]:
    return {"type": "user", "uuid": f"u{number}", "parentUuid": None, "isSidechain": False, "sessionId": "s",
            "message": {"role": "user", "content": text}}  # fmt: skip


def assistant(number: int, call: str | None = None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": "ok"}
    if call:
        block = {**CALLS["anthropic"], "id": call}
    message = {"id": f"m{number}", "role": "assistant", "content": [block]}
    return {**user(number), "type": "assistant", "uuid": f"a{number}", "message": message}


def stranger(call: str, kind: str = "agent_step") -> dict[str, Any]:
    """Return a line with a call. Claude Code does not write this type of line today."""
    return {
        "type": kind,
        "sessionId": "s",
        "steps": [{"type": "tool_use", "id": call, "name": "ls", "input": {}}],
    }


def write(path: Path, *lines: dict[str, Any]) -> str:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return text


def rejects(store: Path) -> list[Any]:
    return ask(store, "SELECT line, byte_offset, code, reason FROM rejects ORDER BY line")


def test_a_call_in_a_line_of_an_unknown_type_is_a_reject(logs: Path, store: Path) -> None:
    lines = [user(1), assistant(1, "c1"), stranger("c2")]
    text = write(logs / "log.jsonl", *lines)
    load([logs], store)
    place = text.index('{"type": "agent_step"')
    assert rejects(store) == [
        (3, place, "unread_calls", "a tool call (`tool_use`) in a line that this format does not know")
    ]
    assert ask(store, "SELECT tool_call_id FROM tool_calls") == [("c1",)]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("first", [False, True], ids=["later", "earlier"])
def test_a_line_that_repeats_a_call_which_is_read_says_nothing(logs: Path, store: Path, first: bool) -> None:
    lines = [user(1), assistant(1, "c1")]
    write(logs / "log.jsonl", *([stranger("c1"), *lines] if first else [*lines, stranger("c1")]))
    load([logs], store)
    assert rejects(store) == []


def test_a_line_whose_events_come_later_says_nothing(logs: Path, store: Path) -> None:
    """Gemini CLI rewrites a message several times. Only the final message gives events."""
    call = {"id": "g1", "name": "ls", "args": {}, "status": "success", "result": "ok"}
    message = {"timestamp": "2026-04-14T01:00:00.000Z"}
    write(
        logs / "log.jsonl",
        {"sessionId": "s", "projectHash": "p"},
        {"id": "m1", **message, "type": "user", "content": "go"},
        {"id": "m2", **message, "type": "gemini", "content": "", "toolCalls": [call]},
    )
    load([logs], store)
    assert rejects(store) == []
    assert ask(store, "SELECT tool_call_id FROM tool_calls") == [("g1",)]


@pytest.mark.thorough
def test_lines_that_wait_are_bounded_and_none_is_lost(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_calls, "_WAITING", 3)
    write(logs / "log.jsonl", user(1), assistant(1, "c"), *(stranger(f"x{number}") for number in range(10)))
    load([logs], store)
    assert [row[0] for row in rejects(store)] == list(range(3, 13))


@pytest.mark.thorough
def test_calls_that_are_remembered_are_bounded(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_calls, "_KNOWN", 2)
    calls = [line for number in range(4) for line in (user(number), assistant(number, f"c{number}"))]
    write(logs / "log.jsonl", *calls, stranger("c3"), stranger("c0"))
    load([logs], store)
    assert [row[0] for row in rejects(store)] == [10], "c0 is forgotten, c3 is known"


def test_a_file_of_which_no_call_was_read_says_so_once(logs: Path, store: Path) -> None:
    """The Hermes format has calls in `tool_calls`, so Anthropic's content blocks count as plain text."""
    block = {"type": "tool_use", "id": "c", "name": "ls", "input": {}}
    session = {
        "session_id": "s", "platform": "cli", "session_start": "2026-04-14T01:00:00",
        "messages": [{"role": "user", "content": "go"},
                     {"role": "assistant", "content": [block]}],
    }  # fmt: skip
    text = json.dumps(session, indent=1)
    (logs / "session.json").write_text(text)
    load([logs], store)
    assert ask(store, "SELECT source, calls FROM files") == [("hermes", 0)]
    ((line, offset, code, reason),) = rejects(store)
    assert code == "unread_calls"
    assert reason == "the file contains tool calls (`tool_use`), but none of them was read"
    assert text.splitlines()[line - 1].strip() == '"type": "tool_use",'
    assert text[offset:].startswith(text.splitlines()[line - 1])


def test_a_line_that_a_format_rejects_is_rejected_once(logs: Path, store: Path) -> None:
    broken = assistant(1, "c")
    del broken["message"]
    broken["steps"] = [CALLS["anthropic"]]
    write(logs / "log.jsonl", user(1), broken)
    load([logs], store)
    assert [row[2] for row in rejects(store)] == ["missing_field"]


@pytest.mark.thorough
def test_a_log_that_grows_is_watched_on(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 1)
    log = logs / "log.jsonl"
    first = [user(1), assistant(1, "c1"), user(2), stranger("c2"), stranger("c3")]
    write(log, *first)
    load([logs], store)
    assert [row[0] for row in rejects(store)] == [4, 5]
    write(log, *first, stranger("c1"), assistant(2, "c3"), user(3), stranger("c4"))
    report = load([logs], store)
    assert report.loaded == 1
    assert [row[0] for row in rejects(store)] == [4, 9], "c1 was read before, c3 is read now"


def test_lines_without_a_mark_do_not_wait_in_a_kept_state() -> None:
    watch = unread_calls.UnreadCalls(Container.LINES)
    values = ({"said": "nothing"}, stranger("c"))
    silent = [
        Record(LogLine(number, number * 1_000), value, json.dumps(value).encode(), 0)
        for number, value in enumerate(values, 1)
    ]
    assert not list(watch.look_at_silent(silent))
    state = pickle.dumps(watch)
    assert b"agent_step" in state
    assert b"nothing" not in state


def test_a_batch_forgets_the_lines_with_events_and_keeps_the_others() -> None:
    watch = unread_calls.UnreadCalls(Container.LINES)
    silent = [
        Record(LogLine(line, 100 * line), value := stranger(f"c{line}"), json.dumps(value).encode(), 0)
        for line in (1, 2)
    ]
    assert not list(watch.look_at_silent(silent))
    watch.placed.add(100)
    assert not list(watch.look_at_silent([]))
    assert not watch.placed
    assert [reject.where.line for reject in watch.finish()] == [2], "the first line has made an event"


@pytest.mark.thorough
def test_only_lines_with_a_mark_take_the_room_of_others(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_calls, "_WAITING", 3)
    noise = [{**stranger("x"), "steps": []} for _ in range(10)]
    write(logs / "log.jsonl", user(1), stranger("c1"), *noise, assistant(1, "c1"))
    load([logs], store)
    assert rejects(store) == [], "c1 is read before its line has waited too long"


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_file_in_no_format_says_that_calls_stand_in_it(logs: Path, store: Path, name: str) -> None:
    write(logs / "log.json", {"colour": "red", "said": CALLS[name]})
    (rejected,) = load([logs], store).rejected
    assert "it contains tool calls (`" in rejected.reason
    assert "in a form that no format reads" in rejected.reason


def test_a_file_of_a_known_kind_that_no_format_reads_says_its_kind(logs: Path, store: Path) -> None:
    write(logs / "set.json", {"eval_set_id": "s", "eval_cases": [{"said": CALLS[min(CALLS)]}]})
    (rejected,) = load([logs], store).rejected
    assert "of an evaluation set of ADK (expected calls), which no format reads" in rejected.reason


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Notes on the run.\n", ForeignKind.TEXT),
        ("demo/function_calling_replace.traj - MIT; tool_use and tool_call blocks, cut\n", ForeignKind.TEXT),
        ('<tool_call>{"name": "f"}</tool_call>\n', None),
        ("tool_calls:\n- name: f\n", None),
        ("[TOOL_CALLS] f\n", None),
    ],
    ids=["prose", "licences", "markup", "yaml", "token"],
)
def test_a_text_is_no_log_unless_a_call_is_written_in_it(
    logs: Path, store: Path, text: str, foreign: ForeignKind | None
) -> None:
    (logs / "reply.txt").write_text(text)
    (rejected,) = load([logs], store).rejected
    assert rejected.foreign is foreign
