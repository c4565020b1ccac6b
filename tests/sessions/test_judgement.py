"""Tests the verdict on a tool call and its result."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.events import (
    ArgsSource,
    CallMade,
    FaultLayer,
    ResultStatus,
    ToolsOffered,
    Visibility,
)
from ingest.sessions.stored_text import json_text
from lenient import ToolCatalog
from tests.sessions.log import READ, call_of, started, with_read


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
    assert (row["own_arguments"], row["as_sent"]) == ('{"path":"a","lines":3}', False)
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
        syntax_seen=Visibility.FAILURES,
        schema_seen=Visibility.FAILURES,
    )
    row = call_of(log.ok())
    assert (row["outcome"], row["syntax_seen"], row["schema_seen"]) == ("unmeasured", "failures", "failures")
    assert row["raw_arguments"] == '{"path":"ä"}'
    assert (row["own_arguments"], row["as_sent"]) == (None, True), "the same text is kept once"
    assert row["harness_verdict"] == "accepted"


def test_a_schema_error_that_only_the_log_reports_measures_no_stage() -> None:
    log = started().add(
        CallMade, tool="read", tool_call_id="c1", arguments={}, args_source=ArgsSource.RESERIALISED
    )
    row = call_of(log.ok(status=ResultStatus.ERROR, fault_layer=FaultLayer.SCHEMA))
    assert (row["fault_layer"], row["syntax_seen"], row["schema_seen"]) == ("schema", "none", "failures")


def test_arguments_that_are_no_object_measure_no_schema_without_a_definition() -> None:
    row = call_of(started().raw("[1]").ok())
    assert (row["fault_layer"], row["schema_seen"]) == ("schema", "none")


def test_an_unknown_tool_is_measured_by_the_definitions_at_hand() -> None:
    assert call_of(with_read().raw("{}", tool="raed"))["schema_seen"] == "full"


def test_a_harness_that_never_answered_has_not_said_that_the_arguments_fit() -> None:
    log = started().add(
        CallMade,
        tool="read",
        arguments={},
        args_source=ArgsSource.RESERIALISED,
        schema_seen=Visibility.FAILURES,
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


@pytest.mark.parametrize("nothing", [{}, {"input_schema": None}, {"input_schema": {}}], ids=str)
def test_a_definition_without_a_schema_shows_the_name_but_nothing_of_the_arguments(
    nothing: dict[str, Any],
) -> None:
    log = started().add(ToolsOffered, definitions=({"name": "memory", **nothing},))
    row = call_of(log.raw('{"command": "view"}', tool="memory").ok())
    assert (row["outcome"], row["syntax_seen"], row["schema_seen"]) == ("unmeasured", "full", "none")
    assert row["definition_id"]
    mended = call_of(started().add(ToolsOffered, definitions=({"name": "memory", **nothing},)).raw(
        "{'command': 'view'}", tool="memory").ok())  # fmt: skip
    assert (mended["outcome"], mended["schema_seen"]) == ("repaired", "none")


def test_a_definition_that_takes_no_arguments_is_a_schema() -> None:
    takes_none = {"name": "now", "input_schema": {"type": "object", "properties": {}}}
    row = call_of(started().add(ToolsOffered, definitions=(takes_none,)).raw("{}", tool="now").ok())
    assert (row["outcome"], row["schema_seen"]) == ("clean", "full")
