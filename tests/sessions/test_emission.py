"""Tests tool calls that a model wrote into its reply as text. These calls reached no tool."""

from __future__ import annotations

import pytest

from ingest.events import ResultStatus, StepMade, Strategy, ToolsOffered, TurnEnded
from tests.sessions.log import READ, Log, started

HERMES = 'I read it.\n<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'


def write_answer(text: str, **step: object) -> Log:
    return started().add(StepMade, text=text, **step).add(TurnEnded, answer=text)


def test_a_call_written_as_text_is_a_fault_of_emission() -> None:
    rows = write_answer(HERMES).rows()
    (call,) = rows["tool_calls"]
    assert (call["tool"], call["fault_layer"], call["harness_verdict"]) == ("read", "emission", "emission")
    assert call["raw_arguments"] == HERMES.splitlines()[2]
    assert call["syntax_seen"] == call["schema_seen"] == "none"


def test_a_call_without_tokens_needs_its_tool_to_be_offered() -> None:
    text = 'read\n\n```json\n{"name": "read", "arguments": {"path": "a"}}\n```'
    offered = started().add(ToolsOffered, definitions=(READ,)).add(StepMade, text=text).rows()
    assert [call["fault_layer"] for call in offered["tool_calls"]] == ["emission"]
    assert "tool_calls" not in started().add(StepMade, text=text).rows()


@pytest.mark.parametrize(
    "text",
    [
        "Use `<tool_call>` to call a tool.",
        'Write it so:\n```\n<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>\n```',
        "I read the file read.py and found to=1.",
        "",
    ],
)
def test_talk_about_calls_is_none(text: str) -> None:
    offered = started().add(ToolsOffered, definitions=(READ,))
    assert "tool_calls" not in offered.add(StepMade, text=text).rows()


def test_a_step_that_made_a_call_is_not_searched() -> None:
    rows = started().add(StepMade, text=HERMES).raw('{"path": "a"}').ok().rows()
    assert [call["fault_layer"] for call in rows["tool_calls"]] == [None]


def test_text_is_where_the_calls_of_a_text_strategy_stand() -> None:
    assert "tool_calls" not in write_answer(HERMES, strategy=Strategy.JSON_FALLBACK).rows()


def test_a_leaked_call_is_no_answer_and_a_native_one_recovers_it() -> None:
    left = write_answer(HERMES).rows()["turns"][0]
    assert (left["derived_ok"], left["faults"]) == (False, 1)
    log = started().add(StepMade, text=HERMES).add(StepMade, text="Again.").raw('{"path": "a"}').ok()
    first, second = log.answered().rows()["tool_calls"]
    assert (first["chain_outcome"], second["attempt"], second["chain_id"]) == (
        "recovered",
        2,
        first["call_id"],
    )


def test_a_channel_in_the_name_is_taken_off_and_said() -> None:
    log = started().add(ToolsOffered, definitions=(READ,))
    log.raw('{"path": "a"}', tool="functions.read<|channel|>commentary")
    (call,) = log.ok(status=ResultStatus.ERROR).rows()["tool_calls"]
    assert (call["tool"], call["outcome"]) == ("read", "repaired")
    assert call["parse_warning"].startswith("tool_name_cleaned:functions.read<|channel|>commentary")
    assert call["definition_id"] is not None
