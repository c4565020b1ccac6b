"""Tests how a turn ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ingest.events import (
    FaultLayer,
    ResultStatus,
    StepMade,
    TurnEnded,
    TurnStarted,
)
from ingest.sessions.stored_text import TEXT_KEPT, cut_text
from tests.sessions.log import T0, Log, started, turn_of


def test_a_turn_with_an_answer_is_derived_ok() -> None:
    row = turn_of(started().raw('{"path": "a"}').ok().answered())
    assert (row["recorded_ok"], row["derived_ok"], row["derived_reason"]) == (True, True, "ended_with_answer")
    assert (row["steps"], row["calls"], row["faults"], row["retries"]) == (2, 1, 0, 0)


def test_a_turn_logged_ok_whose_only_call_was_unparsable_is_derived_as_failed() -> None:
    log = started().raw("{", tool=None, refused_by_harness=FaultLayer.SYNTAX)
    row = turn_of(log.add(TurnEnded, status="ok", recorded_ok=True, answer="[tool_use parse error] …"))
    assert (row["recorded_ok"], row["derived_ok"], row["derived_reason"]) == (True, False, "chain_abandoned")


def test_a_recovered_chain_does_not_fail_the_turn_and_is_counted_as_a_retry() -> None:
    log = started().raw("nonsense").add(StepMade).raw('{"path": "a"}', "c2").ok("c2").answered()
    rows = log.rows()
    assert [row["chain_outcome"] for row in rows["tool_calls"]] == ["recovered", "recovered"]
    assert [row["attempt"] for row in rows["tool_calls"]] == [1, 2]
    assert {row["chain_id"] for row in rows["tool_calls"]} == {rows["tool_calls"][0]["call_id"]}
    assert (rows["turns"][0]["retries"], rows["turns"][0]["derived_ok"]) == (1, True)


def test_a_command_that_failed_and_was_not_tried_again_does_not_fail_the_turn() -> None:
    row = turn_of(started().raw('{"path": "a"}').ok(status=ResultStatus.ERROR).answered())
    assert (row["faults"], row["derived_ok"]) == (1, True)


def test_a_call_without_a_result_is_lost_where_the_session_has_results() -> None:
    log = started().raw('{"path": "a"}').raw('{"path": "b"}', "c2").ok("c2").answered()
    assert turn_of(log)["derived_reason"] == "call_lost"


def test_a_source_that_logs_no_results_loses_no_calls() -> None:
    assert turn_of(started().raw('{"path": "a"}').answered())["derived_ok"] is True


@pytest.mark.parametrize(
    ("end", "ok", "reason"),
    [
        ({"status": "cancelled", "answer": ""}, None, "cancelled"),
        ({"status": "error", "recorded_ok": False, "answer": "sorry"}, False, "ended_badly"),
        ({"status": "ok", "recorded_ok": True, "answer": " "}, False, "no_answer"),
        ({"status": "stop", "answer": "<think>\nThen I should call ls."}, False, "no_answer"),
        ({"status": "stop", "answer": "<think>\nDone.</think>\n"}, False, "no_answer"),
        ({"status": "stop", "answer": "<think>\nDone.</think>\nTwo files."}, True, "ended_with_answer"),
        ({"status": "ok", "recorded_ok": True}, None, "answer_unknown"),
    ],
)
def test_how_a_turn_ended_decides(end: dict[str, Any], ok: bool | None, reason: str) -> None:
    row = turn_of(Log().add(TurnStarted).add(TurnEnded, **end))
    assert (row["derived_ok"], row["derived_reason"]) == (ok, reason)


def test_a_message_between_two_steps_belongs_to_the_turn() -> None:
    log = started().raw('{"path": "a"}').ok().add(TurnStarted, text="and b").add(StepMade)
    (row,) = log.raw('{"path": "b"}', "c2").ok("c2").answered().rows()["turns"]
    assert (row["turn"], row["steps"], row["calls"], row["derived_ok"]) == (1, 3, 2, True)


@pytest.mark.parametrize(
    "before",
    [
        started().add(StepMade).raw('{"path": "a"}'),  # the call has no result, so the turn was aborted
        started().add(StepMade).raw('{"path": "a"}').ok(status=ResultStatus.DENIED),
        started().add(StepMade).raw('{"path": "a"}').ok().add(StepMade, text="done"),
        started().add(StepMade).raw('{"path": "a"}').ok().add(TurnEnded, status="cancelled", answer=""),
        started().add(StepMade, text="done"),
    ],
)
def test_a_message_after_the_model_stopped_begins_a_turn(before: Log) -> None:
    rows = before.add(TurnStarted, text="next").add(StepMade, text="done").rows()
    assert [row["turn"] for row in rows["turns"]] == [1, 2]


def test_a_turn_that_the_log_numbers_begins_where_the_log_says() -> None:
    log = Log().add(TurnStarted, turn=1).add(StepMade, turn=1).raw('{"path": "a"}', turn=1).ok()
    assert len(log.add(TurnStarted, turn=2).add(StepMade, turn=2, text="done").rows()["turns"]) == 2


def test_a_long_thought_leaves_room_for_the_answer() -> None:
    thought = f"<think>{'so ' * TEXT_KEPT}"
    row = turn_of(Log().add(TurnStarted).add(TurnEnded, answer=f"{thought}</think>Two files."))
    assert (row["answer_text"], row["derived_reason"]) == ("Two files.", "ended_with_answer")
    row = turn_of(Log().add(TurnStarted).add(TurnEnded, answer=thought))
    assert (row["answer_text"], row["derived_reason"]) == (cut_text(thought), "no_answer")


def test_a_turn_whose_beginning_has_no_time_is_dated_by_what_came_of_it() -> None:
    row = turn_of(Log().add(TurnStarted, ts=None).add(StepMade, ts=None).raw("{}").answered())
    assert (row["ts"], row["day"]) == (T0 + timedelta(seconds=3), T0.date())


def test_the_last_turn_of_a_log_may_still_go_on_but_an_earlier_one_will_not() -> None:
    rows = Log().add(TurnStarted).add(StepMade).add(TurnStarted).add(StepMade).rows()["turns"]
    assert [(row["turn"], row["derived_ok"], row["derived_reason"]) for row in rows] == [
        (1, False, "not_ended"),
        (2, None, "not_ended"),
    ]


def test_a_step_that_the_log_marks_as_the_answer_ends_the_turn() -> None:
    row = turn_of(Log().add(TurnStarted).add(StepMade, text="hello", answers=True))
    assert (row["derived_ok"], row["answer_text"], row["recorded_ok"]) == (True, "hello", None)


def test_a_call_that_the_reply_after_a_failed_one_repeats_is_one_call() -> None:
    log = (
        Log()
        .add(TurnStarted)
        .add(StepMade, failed=True)
        .raw('{"path": "a', "r:0")
        .raw('{"path": "b"}', "r:1")
    )
    rows = log.add(StepMade).raw('{"path": "a"}', "r:0").ok("r:0").answered().rows()
    sent = [(row["step"], row["tool_call_id"], row["result_status"]) for row in rows["tool_calls"]]
    assert sent == [(0, "r:1", "missing"), (1, "r:0", "ok")]
    assert (rows["turns"][0]["calls"], rows["turns"][0]["steps"]) == (2, 3)


@pytest.mark.parametrize("failed", [True, False])
def test_calls_with_one_id_are_two_where_no_reply_failed_or_the_first_has_a_result(failed: bool) -> None:
    log = Log().add(TurnStarted).add(StepMade, failed=failed).raw('{"path": "a"}', "r:0")
    log = log.ok("r:0") if failed else log
    rows = log.add(StepMade).raw('{"path": "a"}', "r:0").ok("r:0").answered().rows()
    assert len(rows["tool_calls"]) == 2
