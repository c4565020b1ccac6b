"""Tests the code that several benchmark formats share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.decoding.lines import MAX_LINE
from ingest.events import CallMade, FaultLayer, LogLine, SessionSeen, TurnEnded, TurnStarted
from ingest.formats import swe_agent, translate_file
from ingest.formats.conversations.trial_messages import TrialMessages, python_fault_layer, read_list
from ingest.formats.mini_swe import find_bash_blocks
from ingest.log_format import About, Record
from ingest.pipeline.reading.format_recognition import recognise_log
from ingest.sources.discovery import look_at_file


def record(data: bytes) -> Record:
    return Record(LogLine(10, 100), {}, data, 100)


def test_an_id_that_occurs_again_is_found_behind_the_one_asked_for_before() -> None:
    document = record(b'{\n "a",\n "b",\n "a"\n}')
    places = [document.find_line('"a"', past=True).line for _ in range(3)]
    assert places == [11, 13, 10]  # there is no third `"a"`, so the line of the record is returned


def test_an_id_is_found_where_it_was_unless_asked_to_go_on() -> None:
    document = record(b'{\n "a",\n "a"\n}')
    assert [document.find_line('"a"').line, document.find_line('"a"').line] == [11, 11]


@pytest.mark.parametrize(
    ("text", "layer"),
    [
        ("Error: book() got an unexpected keyword argument 'when'", FaultLayer.SCHEMA),
        ("Error: book() missing 1 required positional argument: 'day'", FaultLayer.SCHEMA),
        ("Error: 1 validation error for Payment\npayment_id", FaultLayer.TOOL_REJECTED),
        ("Error: 2 validation errors for Payment\npayment_id", FaultLayer.TOOL_REJECTED),
        ("Error: flight HAT030 not available", None),
        ("Error: the required seat is missing", None),
    ],
)
def test_the_layer_of_a_python_error_is_told_from_its_text(text: str, layer: FaultLayer | None) -> None:
    assert python_fault_layer(text) is layer


def test_a_last_message_of_the_user_that_nobody_answers_begins_no_turn() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": "###STOP###"}]  # fmt: skip
    events = list(TrialMessages("s", record(b"{}")).to_events(messages, recorded_ok=True))
    assert [type(event) for event in events if isinstance(event, TurnStarted | TurnEnded)] == [
        TurnStarted,
        TurnEnded,
    ]


def test_messages_that_stop_at_a_call_leave_the_turn_open() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go"},
                                      {"role": "assistant", "tool_calls": [call]}]  # fmt: skip
    events = list(TrialMessages("s", record(b"{}")).to_events(messages))
    assert isinstance(events[-1], CallMade)


def test_lists_are_read_from_text_too() -> None:
    assert read_list('[{"name": "f"}, 3]') == [{"name": "f"}]
    assert read_list("[") == [] == read_list(None)


def test_bash_blocks_are_found_as_the_agents_pattern_finds_them() -> None:
    assert find_bash_blocks("a\n```bash\nls -la\n```\n") == ["ls -la"]
    assert find_bash_blocks("```mswea_bash_command\n\nls\n```") == ["ls"]
    assert (
        find_bash_blocks("```bash\nls")
        == []
        == find_bash_blocks("```bash ls\n```")
        == find_bash_blocks("```python\n1\n```")
    )
    assert find_bash_blocks("```bash\na\n```\n```bash\nb\n```") == ["a", "b"]
    assert find_bash_blocks("```bash\n```") == []
    assert len(find_bash_blocks("```bash\n" * 20_000)) == 6_666  # each match of the pattern needs three lines


def test_documents_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    """Both JSON arrays begin with the same line `[`, which cannot identify an array. So each session is named
    after its file.
    """
    attempt = '[\n {"task_id": %d, "reward": 1.0, "info": {}, "traj": [], "trial": 0}\n]\n'
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(attempt % number)
    paths = [tmp_path / f"{number}.json" for number in (1, 2)]
    identities = {recognise_log(look_at_file(path), MAX_LINE).about.identity for path in paths}
    assert len(identities) == 2


@pytest.mark.parametrize("docs", [None, "", "no command"])
def test_a_native_run_that_tells_no_commands_offers_no_tools(docs: str | None) -> None:
    tools = {"parse_function": {"type": "function_calling"}, "command_docs": docs}
    run = {"trajectory": [], "history": [], "info": {}, "replay_config": {"agent": {"tools": tools}}}
    events = translate_file(swe_agent, [Record(LogLine(1, 0), run, b"{}", 0)], About())
    assert [type(event) for event in events] == [SessionSeen, TurnStarted, TurnEnded]
