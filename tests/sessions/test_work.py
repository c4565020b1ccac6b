"""Tests how the events of a log become rows."""

from __future__ import annotations

import pytest

from ingest.events import (
    FaultLayer,
    ProbeSeen,
    PromptSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TurnStarted,
)
from ingest.sessions import open_sessions
from ingest.sessions.session_builder import SessionBuilder
from ingest.sessions.stored_text import TEXT_KEPT
from lenient import ToolCatalog
from tests.sessions.log import READ, Log, call_of, started, turn_of, with_read


def test_results_without_ids_join_by_turn_step_and_ordinal() -> None:
    log = started().raw("{}", None, turn=1, step=0).raw("{}", None, turn=1, step=0)  # type: ignore[arg-type]
    log.ok(None, turn=1, step=0, ordinal=1, content="second").ok(None, tool="read", content="first")  # type: ignore[arg-type]
    assert [row["result_text"] for row in log.rows()["tool_calls"]] == ["first", "second"]


def test_a_result_after_the_turns_end_still_finds_its_call() -> None:
    log = started().raw('{"path": "a"}').answered().add(TurnStarted).ok()
    assert log.rows()["tool_calls"][0]["result_status"] == "ok"


def test_a_result_without_a_call_waits_for_one() -> None:
    rows = started().ok("nobody").rows()
    assert [(row["tool_call_id"], row["line"]) for row in rows["late_results"]] == [("nobody", 3)]


def test_calls_before_any_turn_are_the_first_turn() -> None:
    rows = Log().raw("{}").rows()
    assert [(row["turn"], row["step"], row["ordinal"]) for row in rows["tool_calls"]] == [(1, 0, 0)]


def test_sessions_may_come_mixed() -> None:
    first, two = started(), Log("s2").add(TurnStarted).add(StepMade)
    mixed = Log()
    mixed.events = [
        event for pair in zip(first.raw("{}").events, two.raw("{}").events, strict=True) for event in pair
    ]
    rows = mixed.rows()
    assert [(row["session_id"], row["calls"]) for row in rows["sessions"]] == [("s1", 1), ("s2", 1)]
    assert len({row["call_id"] for row in rows["tool_calls"]}) == 2


def test_more_open_sessions_than_memory_holds_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def mixed() -> Log:
        log = Log()
        for number in range(18):
            log.session = f"s{number % 9}"
            if number < 9:
                log.add(TurnStarted).add(StepMade).raw("{}")
            else:
                log.ok().answered()
        return log

    expected = mixed().rows()
    monkeypatch.setattr(open_sessions, "MEMORY", 0)
    rows = mixed().rows()
    assert len(rows["sessions"]) == len(rows["turns"]) == len(rows["tool_calls"]) == 9
    assert {row["derived_reason"] for row in rows["turns"]} == {"ended_with_answer"}
    for table in expected:
        assert sorted(map(repr, rows[table])) == sorted(map(repr, expected[table]))


def test_the_same_call_in_two_files_has_the_same_id_and_so_has_its_turn() -> None:
    first = started().raw("{}").rows()
    again = SessionBuilder(file_id=8, source="test", catalog=ToolCatalog.from_definitions([]))
    for event in started().raw("{}").events:
        again.take(event)
    again.finish()
    second = {table: rows.to_dicts() for table, rows in again.drain().items()}
    assert first["tool_calls"][0]["call_id"] == second["tool_calls"][0]["call_id"]
    assert first["turns"][0]["turn_id"] == second["turns"][0]["turn_id"]


def test_a_producers_own_key_identifies_a_copied_call_in_another_session() -> None:
    rows = [Log(name).raw("{}", key="toolu_1").rows()["tool_calls"][0]["call_id"] for name in ("s1", "s2")]
    assert rows[0] == rows[1]


def test_days_are_utc_and_follow_the_call_not_the_turn() -> None:
    log = started()
    log.line = 20
    rows = log.raw("{}").rows()
    assert [str(rows[table][0]["day"]) for table in ("turns", "tool_calls")] == ["2026-11-20", "2026-11-21"]


def test_a_prompt_is_known_by_name_and_version_else_by_the_hash_of_its_text() -> None:
    named = Log().add(PromptSeen, name="agent", version="3", text="You are").add(TurnStarted).raw("{}")
    assert call_of(named)["prompt_id"] == "agent@3"
    rows = Log().add(PromptSeen, text="You are").add(TurnStarted).raw("{}").rows()
    assert (
        rows["tool_calls"][0]["prompt_id"]
        == rows["prompts"][0]["prompt_id"]
        == rows["prompts"][0]["text_hash"][:12]
    )


def test_no_prompt_in_the_log_is_no_prompt_in_the_row() -> None:
    assert call_of(started().raw("{}"))["prompt_id"] is None


def test_the_steps_model_beats_the_sessions() -> None:
    log = Log().add(SessionSeen, provider="p", model="m").add(TurnStarted).add(StepMade, model="m2").raw("{}")
    row = call_of(log)
    assert (row["provider"], row["model"]) == ("p", "m2")


def test_a_later_steps_model_is_not_the_model_of_an_earlier_call() -> None:
    log = Log().add(SessionSeen, provider="p", model="large").add(TurnStarted)
    log.add(StepMade).raw("{").add(StepMade, provider="q", model="small").raw("{}", "c2")
    rows = log.rows()
    assert [(row["provider"], row["model"]) for row in rows["tool_calls"]] == [("p", "large"), ("q", "small")]
    assert rows["turns"][0]["model"] == "small", "a turn is its last step's"


def test_a_probe_is_a_row_with_the_sessions_model() -> None:
    log = Log().add(SessionSeen, provider="p", model="m").add(ProbeSeen, ok=False, error="no tool_calls")
    (row,) = log.rows()["probes"]
    assert (row["ok"], row["error"], row["model"]) == (False, "no tool_calls", "m")


def test_a_definition_that_cannot_be_read_costs_only_itself() -> None:
    log = (
        Log().add(ToolsOffered, definitions=({"nonsense": True}, READ)).add(TurnStarted).raw('{"path": "a"}')
    )
    rows = log.rows()
    assert rows["tool_calls"][0]["outcome"] == "clean"
    assert [row["code"] for row in rows["rejects"]] == ["bad_definition"]


def test_the_models_time_and_the_tools_time_are_kept_apart() -> None:
    log = Log().add(TurnStarted).add(StepMade, latency_ms=500.0).raw("{}").ok(latency_ms=12.0)
    rows = log.add(StepMade, latency_ms=250.5).rows()
    call, turn = rows["tool_calls"][0], rows["turns"][0]
    assert (call["latency_ms"], call["model_latency_ms"], turn["model_latency_ms"]) == (12.0, 500.0, 750.5)


def test_white_space_and_key_order_make_no_other_attempt() -> None:
    log = with_read().raw('{"path":"a","lines":1}').ok(status=ResultStatus.ERROR).add(StepMade)
    rows = log.raw('{ "lines": 1, "path": "a" }', "c2").ok("c2").rows()
    assert rows["tool_calls"][1]["retry_kind"] == "identical"


def test_a_broken_text_sent_again_in_good_order_is_a_changed_attempt() -> None:
    log = with_read().raw('{"path": "a",}', refused_by_harness=FaultLayer.SYNTAX).add(StepMade)
    rows = log.raw('{"path": "a"}', "c2").ok("c2").rows()
    assert rows["tool_calls"][1]["retry_kind"] == "changed"


def test_tokens_of_a_turn_are_the_sum_over_its_steps() -> None:
    log = Log().add(TurnStarted).add(StepMade, input_tokens=5, output_tokens=1).add(StepMade, input_tokens=7)
    row = turn_of(log)
    assert (row["input_tokens"], row["output_tokens"]) == (12, 1)


def test_long_results_are_cut_and_raw_arguments_never_are() -> None:
    long = "x" * 100_000
    row = call_of(started().raw(f'{{"path": "{long}"}}').ok(content=long))
    assert len(row["raw_arguments"]) > 100_000
    assert (len(row["result_text"]), row["result_bytes"]) == (TEXT_KEPT + 1, 100_000)


def test_a_session_keeps_the_task_that_the_log_names() -> None:
    log = Log().add(SessionSeen, task="airline/3").add(SessionSeen, harness="tau-bench")
    (row,) = log.rows()["sessions"]
    assert (row["task"], row["harness"]) == ("airline/3", "tau-bench")
