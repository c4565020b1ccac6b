"""Events in, rows out: counting, joining, judging, concluding, one behaviour a test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ingest import work
from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    ProbeSeen,
    PromptSeen,
    ResultSeen,
    ResultStatus,
    Seen,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
    Where,
)
from ingest.texts import TEXT_KEPT, json_text
from ingest.work import FileWork
from lenient import ToolCatalog

T0 = datetime(2026, 11, 20, 23, 59, 50, tzinfo=UTC)
READ = {
    "name": "read",
    "description": "Read a file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
        "required": ["path"],
    },
}


class Log:
    """Writes events of one session as a format would, a second and a line apart."""

    def __init__(self, session: str = "s1") -> None:
        self.session, self.line, self.events = session, 0, list[Event]()

    def add(self, kind: type[Event], **fields: Any) -> Log:
        self.line += 1
        where = Where(self.line, self.line * 100)
        ts = T0 + timedelta(seconds=self.line)
        self.events.append(kind(**{"session_id": self.session, "where": where, "ts": ts, **fields}))
        return self

    def raw(self, text: str, call_id: str = "c1", **fields: Any) -> Log:
        fields = {"tool": "read", "args_source": ArgsSource.RAW, **fields}
        return self.add(CallMade, tool_call_id=call_id, raw_arguments=text, **fields)

    def ok(self, call_id: str = "c1", **fields: Any) -> Log:
        fields = {"status": ResultStatus.OK, "flag_source": FlagSource.EXPLICIT, **fields}
        return self.add(ResultSeen, tool_call_id=call_id, **fields)

    def answered(self) -> Log:
        return self.add(StepMade, text="done").add(TurnEnded, status="ok", recorded_ok=True, answer="done")

    def rows(self, catalog: ToolCatalog | None = None) -> dict[str, list[dict[str, Any]]]:
        file_work = FileWork(file_id=7, source="test", catalog=catalog or ToolCatalog.of([]))
        for event in self.events:
            file_work.take(event)
        file_work.finish()
        return file_work.drain()


def call_of(log: Log, catalog: ToolCatalog | None = None) -> dict[str, Any]:
    (row,) = log.rows(catalog)["tool_calls"]
    return row


def turn_of(log: Log) -> dict[str, Any]:
    (row,) = log.rows()["turns"]
    return row


def started() -> Log:
    return Log().add(TurnStarted, text="go").add(StepMade)


def with_read() -> Log:
    return Log().add(ToolsOffered, definitions=(READ,)).add(TurnStarted).add(StepMade)


# --- outcomes and what could be seen ---------------------------------------------------------------


def test_raw_arguments_that_fit_the_logs_definition_are_clean() -> None:
    row = call_of(with_read().raw('{"path": "a"}').ok())
    assert (row["outcome"], row["syntax_seen"], row["schema_seen"]) == ("clean", "full", "full")
    assert row["fault_layer"] is None
    assert row["definition_id"]


def test_a_mended_text_is_repaired_and_its_findings_are_rows_in_order() -> None:
    rows = with_read().raw("{'path': 'a',}").ok().rows()
    assert rows["tool_calls"][0]["outcome"] == "repaired"
    assert [row["position"] for row in rows["diagnostics"]] == list(range(len(rows["diagnostics"])))
    assert {row["call_id"] for row in rows["diagnostics"]} == {rows["tool_calls"][0]["call_id"]}


def test_a_string_for_an_integer_is_coerced() -> None:
    row = call_of(with_read().raw('{"path": "a", "lines": "3"}').ok())
    assert row["outcome"] == "coerced"
    assert row["arguments"] == '{"path":"a","lines":3}'
    assert row["raw_arguments"] == '{"path": "a", "lines": "3"}'


def test_what_cannot_be_parsed_fails_at_syntax() -> None:
    row = call_of(with_read().raw("call me maybe"))
    assert (row["outcome"], row["fault_layer"]) == ("failed", "syntax")
    assert row["parse_error"].startswith("json_parse_error")


def test_a_missing_required_parameter_fails_at_schema() -> None:
    row = call_of(with_read().raw('{"lines": 1}'))
    assert (row["outcome"], row["fault_layer"], row["parse_error"]) == (
        "failed",
        "schema",
        "missing_required:path",
    )


def test_a_name_outside_the_offered_tools_is_an_unknown_tool() -> None:
    row = call_of(with_read().raw("{}", tool="raed"))
    assert (row["outcome"], row["fault_layer"]) == ("failed", "schema")
    assert row["parse_error"] == "unknown_tool:raed"


def test_without_a_definition_valid_json_is_unmeasured_and_its_syntax_is_seen() -> None:
    row = call_of(started().raw('{"path": "a"}').ok())
    assert (row["outcome"], row["syntax_seen"], row["schema_seen"]) == ("unmeasured", "full", "none")


def test_definitions_given_with_tools_serve_a_log_that_has_none() -> None:
    catalog = ToolCatalog.load(json_text([READ]))
    row = call_of(started().raw('{"path": "a"}').ok(), catalog)
    assert (row["outcome"], row["schema_seen"]) == ("clean", "full")


def test_a_tool_that_given_definitions_do_not_name_is_not_an_unknown_tool() -> None:
    catalog = ToolCatalog.load(json_text([READ]))
    row = call_of(started().raw("{}", tool="other").ok(), catalog)
    assert (row["outcome"], row["fault_layer"]) == ("unmeasured", None)


def test_a_decoded_object_is_unmeasured_though_the_harness_accepted_it() -> None:
    log = started().add(
        CallMade,
        tool="read",
        tool_call_id="c1",
        arguments={"path": "ä"},
        args_source=ArgsSource.RESERIALISED,
        syntax_seen=Seen.FAILURES,
        schema_seen=Seen.FAILURES,
    )
    row = call_of(log.ok())
    assert (row["outcome"], row["syntax_seen"], row["schema_seen"]) == ("unmeasured", "failures", "failures")
    assert row["raw_arguments"] == row["arguments"] == '{"path":"ä"}'
    assert row["harness_verdict"] == "accepted"


def test_a_harness_that_never_answered_has_not_said_that_the_arguments_fit() -> None:
    log = started().add(
        CallMade, tool="read", arguments={}, args_source=ArgsSource.RESERIALISED, schema_seen=Seen.FAILURES
    )
    assert call_of(log)["schema_seen"] == "none"


def test_a_refused_call_whose_text_lenient_can_mend_is_a_syntax_fault_and_repaired() -> None:
    log = started().raw(
        '{"path": "a",}', tool=None, refused_by_harness=FaultLayer.SYNTAX, harness_message="bad"
    )
    row = call_of(log)
    assert (row["outcome"], row["fault_layer"], row["harness_verdict"]) == ("repaired", "syntax", "syntax")
    assert row["harness_message"] == "bad"


def test_a_text_that_the_log_cut_is_the_harnesss_word_only() -> None:
    log = started().raw(
        '{"path": "a',
        args_source=ArgsSource.TRUNCATED,
        refused_by_harness=FaultLayer.SYNTAX,
        harness_message="x\ny",
    )
    rows = log.rows()
    row = rows["tool_calls"][0]
    assert (row["outcome"], row["fault_layer"]) == ("failed", "syntax")
    assert row["parse_error"] == "refused_by_harness:x y"
    assert row["raw_arguments"] == '{"path": "a'
    assert "diagnostics" not in rows


def test_a_schema_refusal_that_comes_as_the_result_fails_the_call() -> None:
    log = started().add(
        CallMade, tool="read", tool_call_id="c1", arguments={}, args_source=ArgsSource.RESERIALISED
    )
    row = call_of(
        log.ok(status=ResultStatus.ERROR, fault_layer=FaultLayer.SCHEMA, message="path is required")
    )
    assert (row["outcome"], row["fault_layer"], row["harness_verdict"]) == ("failed", "schema", "schema")


def test_a_lost_call_is_an_emission_fault_and_its_arguments_are_unmeasured() -> None:
    log = started().add(
        CallMade, tool=None, args_source=ArgsSource.MISSING, refused_by_harness=FaultLayer.EMISSION
    )
    row = call_of(log)
    assert (row["outcome"], row["fault_layer"], row["syntax_seen"]) == ("unmeasured", "emission", "none")


@pytest.mark.parametrize(
    ("status", "layer"),
    [(ResultStatus.ERROR, "execution"), (ResultStatus.DENIED, "refused"), (ResultStatus.UNKNOWN, None)],
)
def test_a_result_alone_tells_the_later_layers(status: ResultStatus, layer: str | None) -> None:
    assert call_of(with_read().raw('{"path": "a"}').ok(status=status))["fault_layer"] == layer


def test_the_first_layer_counts_when_two_went_wrong() -> None:
    row = call_of(with_read().raw('{"lines": 1}').ok(status=ResultStatus.ERROR))
    assert row["fault_layer"] == "schema"


# --- turns -------------------------------------------------------------------------------------------


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
        ({"status": "ok", "recorded_ok": True}, None, "answer_unknown"),
    ],
)
def test_how_a_turn_ended_decides(end: dict[str, Any], ok: bool | None, reason: str) -> None:
    row = turn_of(Log().add(TurnStarted).add(TurnEnded, **end))
    assert (row["derived_ok"], row["derived_reason"]) == (ok, reason)


def test_the_last_turn_of_a_log_may_still_go_on_but_an_earlier_one_will_not() -> None:
    rows = Log().add(TurnStarted).add(StepMade).add(TurnStarted).add(StepMade).rows()["turns"]
    assert [(row["turn"], row["derived_ok"], row["derived_reason"]) for row in rows] == [
        (1, False, "not_ended"),
        (2, None, "not_ended"),
    ]


def test_a_step_that_the_log_marks_as_the_answer_ends_the_turn() -> None:
    row = turn_of(Log().add(TurnStarted).add(StepMade, text="hello", answers=True))
    assert (row["derived_ok"], row["answer_text"], row["recorded_ok"]) == (True, "hello", None)


# --- joining and numbering ---------------------------------------------------------------------------


def test_results_without_ids_join_by_turn_step_and_ordinal() -> None:
    log = started().raw("{}", None, turn=1, step=0).raw("{}", None, turn=1, step=0)  # type: ignore[arg-type]
    log.ok(None, turn=1, step=0, ordinal=1, content="second").ok(None, tool="read", content="first")  # type: ignore[arg-type]
    assert [row["result_text"] for row in log.rows()["tool_calls"]] == ["first", "second"]


def test_a_result_after_the_turns_end_still_finds_its_call() -> None:
    log = started().raw('{"path": "a"}').answered().add(TurnStarted).ok()
    assert log.rows()["tool_calls"][0]["result_status"] == "ok"


def test_a_result_without_a_call_is_a_reject() -> None:
    rows = started().ok("nobody").rows()
    assert [(row["code"], row["line"]) for row in rows["rejects"]] == [("orphan_result", 3)]


def test_calls_before_any_turn_are_the_first_turn() -> None:
    rows = Log().raw("{}").rows()
    assert [(row["turn"], row["step"], row["ordinal"]) for row in rows["tool_calls"]] == [(1, 0, 0)]


def test_sessions_may_come_mixed() -> None:
    one, two = started(), Log("s2").add(TurnStarted).add(StepMade)
    mixed = Log()
    mixed.events = [
        event for pair in zip(one.raw("{}").events, two.raw("{}").events, strict=True) for event in pair
    ]
    rows = mixed.rows()
    assert [(row["session_id"], row["calls"]) for row in rows["sessions"]] == [("s1", 1), ("s2", 1)]
    assert len({row["call_id"] for row in rows["tool_calls"]}) == 2


def test_more_open_sessions_than_the_limit_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "OPEN_SESSIONS", 2)
    log = Log()
    for number in range(9):
        log.session = f"s{number}"
        log.add(TurnStarted).add(StepMade).raw("{}").ok()
    rows = log.rows()
    assert len(rows["sessions"]) == len(rows["turns"]) == len(rows["tool_calls"]) == 9
    assert {row["result_status"] for row in rows["tool_calls"]} == {"ok"}


def test_the_same_call_in_two_files_has_the_same_id_and_so_has_its_turn() -> None:
    first = started().raw("{}").rows()
    again = FileWork(file_id=8, source="test", catalog=ToolCatalog.of([]))
    for event in started().raw("{}").events:
        again.take(event)
    again.finish()
    second = again.drain()
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


# --- prompts, models, probes, definitions -------------------------------------------------------------


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


def test_tokens_of_a_turn_are_the_sum_over_its_steps() -> None:
    log = Log().add(TurnStarted).add(StepMade, input_tokens=5, output_tokens=1).add(StepMade, input_tokens=7)
    row = turn_of(log)
    assert (row["input_tokens"], row["output_tokens"]) == (12, 1)


def test_long_results_are_cut_and_raw_arguments_never_are() -> None:
    long = "x" * 100_000
    row = call_of(started().raw(f'{{"path": "{long}"}}').ok(content=long))
    assert len(row["raw_arguments"]) > 100_000
    assert (len(row["result_text"]), row["result_bytes"]) == (TEXT_KEPT + 1, 100_000)
