"""Tests that a replay parses stored calls as a load does, and counts the calls whose result changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.replay import worker
from callgauge.analysis.replay.replay_calls import CallReplay, ChangeKind, ReplayedCall, StoredCall
from callgauge.analysis.replay.scenarios import (
    NEWEST,
    STORED,
    ReplayRules,
    Scenario,
    ScenarioError,
    parse_definitions,
)
from callgauge.analysis.replay.tally import ReplaySummary, ReplayTally, changed_row, moved_values
from callgauge.stats import compare_paired, compare_same_calls
from lenient import Policy, ToolDefinition, parse_arguments

READ = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "range": {"type": "integer"}},
    "required": ["path"],
}
ACCEPTS_TEXT = {**READ, "properties": {**READ["properties"], "range": {"type": ["integer", "string"]}}}  # type: ignore[dict-item]


def as_tool(schema: dict[str, Any], name: str = "read") -> str:
    return json.dumps({"name": name, "input_schema": schema})


def find(definition_id: str) -> ToolDefinition | None:
    schema = {"d1": READ}.get(definition_id)
    return ToolDefinition.from_json_schema(name="read", schema=schema) if schema else None


def stored(raw: str | None, outcome: str = "clean", **fields: Any) -> StoredCall:
    facts: dict[str, Any] = {
        "call_id": "c1",
        "session_id": "s1",
        "ts": None,
        "model": "falcon-3",
        "sent": "read",
        "args_source": "raw",
        "raw_arguments": raw,
        "refused_by_harness": None,
        "result_fault_layer": None,
        "definition_id": "d1",
        "offered": True,
        "outcome": outcome,
        "codes": None,
    }
    return StoredCall(**facts | fields)


CLEAN = stored('{"path": "a", "range": 3}')
COERCED = stored('{"path": "a", "range": "3"}', "coerced")
REPAIRED = stored("{'path': 'a'}", "repaired")
FAILED = stored("{}", "failed")
NO_JSON = stored("no JSON", "failed")
UNKNOWN = stored('{"path": "a"}', "failed", sent="reed", definition_id=None)
UNDEFINED = stored('{"path": "a"}', "unmeasured", definition_id=None, offered=False)
CALLS = (CLEAN, COERCED, REPAIRED, FAILED, NO_JSON, UNKNOWN, UNDEFINED)


def replayed(call: StoredCall, **settings: Any) -> ReplayedCall:
    return CallReplay(Scenario(**settings), find).replay_call(call)


def outcomes(call: StoredCall, **settings: Any) -> tuple[str, str]:
    replayed_call = replayed(call, **settings)
    assert replayed_call.before
    assert replayed_call.after
    return replayed_call.before.outcome, replayed_call.after.outcome


def summed(calls: list[StoredCall], **settings: Any) -> ReplaySummary:
    replay, tally = CallReplay(Scenario(**settings), find), ReplayTally()
    for call in calls:
        tally.take(replay.replay_call(call))
    return tally.summary()


@pytest.mark.parametrize("before", ["own", "newest"])
@pytest.mark.parametrize("call", CALLS)
def test_settings_that_change_nothing_move_nothing(call: StoredCall, before: str) -> None:
    replayed_call = replayed(call, before=before, newest=as_tool(READ))
    assert not replayed_call.has_changed
    if before == "own":
        assert replayed_call.before
        assert replayed_call.before.outcome == call.outcome


@pytest.mark.parametrize("call", CALLS)
def test_the_same_definition_typed_anew_moves_nothing(call: StoredCall) -> None:
    assert not replayed(call, edited=as_tool(READ)).has_changed or call.definition_id is None


@pytest.mark.parametrize("call", CALLS)
def test_what_the_store_says_is_what_the_same_parser_says_today(call: StoredCall) -> None:
    raw, offered = call.raw_arguments or "", call.offered and call.definition_id is None
    definition = find(call.definition_id or "")
    codes = (
        []
        if offered
        else [
            diagnostic.code for diagnostic in parse_arguments(raw, definition, tool_name="read").diagnostics
        ]
    )
    assert not replayed(call._replace(codes=codes or ["unknown_tool"] * offered), before=STORED).has_changed


def test_a_string_that_becomes_acceptable_takes_its_coercion_away() -> None:
    replayed_call = replayed(COERCED, edited=as_tool(ACCEPTS_TEXT))
    assert (
        replayed_call.before and replayed_call.before.outcome,
        replayed_call.after and replayed_call.after.outcome,
    ) == ("coerced", "clean")
    row = changed_row(replayed_call)
    assert row["findings_gone"] == ["string_literal_converted_to_integer $.range"]
    assert row["findings_came"] == []
    assert row["values"] == [["$.range", "3", '"3"']]


def test_a_definition_of_another_tool_moves_nothing() -> None:
    assert not replayed(COERCED, edited=as_tool(ACCEPTS_TEXT, "write")).has_changed


def test_with_the_newest_definition_on_both_sides_only_the_edit_moves() -> None:
    newer = {**READ, "required": ["path", "range"]}
    old = stored('{"path": "a"}', "clean")
    assert outcomes(old, edited=as_tool(newer)) == ("clean", "failed")
    assert outcomes(old, before=NEWEST, newest=as_tool(newer), edited=as_tool(newer)) == ("failed", "failed")


def test_a_definition_lets_calls_without_one_be_measured() -> None:
    assert outcomes(UNDEFINED, edited=as_tool(READ)) == ("unmeasured", "clean")
    assert outcomes(UNKNOWN, edited=as_tool(READ, "reed")) == ("failed", "clean")


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("lenient", ["clean", "coerced", "repaired", "failed", "failed", "failed", "unmeasured"]),
        ("strict", ["clean", "failed", "failed", "failed", "failed", "failed", "unmeasured"]),
    ],
)
def test_a_policy_is_a_threshold_and_our_ignorance_is_no_fault(policy: str, expected: list[str]) -> None:
    assert [outcomes(call, policy=policy)[1] for call in CALLS] == expected


def test_safe_takes_notes_and_no_guesses() -> None:
    guess = stored('{"path": "a", "limit": 1}')
    assert outcomes(guess)[1] == "clean"
    assert outcomes(guess, policy="safe")[1] == "failed"
    assert outcomes(REPAIRED, policy="safe")[1] == "repaired"


def test_a_code_that_is_refused_counts_as_an_error() -> None:
    replayed_call = replayed(COERCED, refused=("string_literal_converted_to_integer",))
    assert replayed_call.before
    assert replayed_call.after
    assert (replayed_call.before.outcome, replayed_call.after.outcome) == ("coerced", "failed")
    assert replayed_call.before.findings == replayed_call.after.findings
    assert changed_row(replayed_call)["findings_kept"] == ["string_literal_converted_to_integer $.range"]
    moves = summed([COERCED, CLEAN], refused=("string_literal_converted_to_integer",)).codes
    assert moves["string_literal_converted_to_integer"].calls_refused == 1


def test_a_silent_code_counts_as_if_it_had_not_been_found() -> None:
    assert outcomes(FAILED, silent=("missing_required",)) == ("failed", "clean")
    replayed_call = replayed(COERCED, silent=("string_literal_converted_to_integer",))
    assert replayed_call.after
    assert (replayed_call.after.outcome, replayed_call.after.findings) == ("clean", ())


def test_a_text_without_arguments_stays_refused_whatever_is_silent() -> None:
    assert outcomes(NO_JSON, silent=("json_parse_error",)) == ("failed", "failed")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (stored(None, "unmeasured", args_source="missing"), "missing"),
        (stored('{"pa', "unmeasured", args_source="truncated"), "truncated"),
        (stored('{"path": "a"}', refused_by_harness="emission"), "emission"),
        (
            stored('{"path": "a"}', args_source="reserialised", definition_id=None, offered=False),
            "reserialised",
        ),
    ],
)
def test_what_cannot_be_read_is_counted_and_moves_nothing(call: StoredCall, reason: str) -> None:
    summary = summed([call, CLEAN], policy="strict")
    assert summary.not_read == {reason: 1}
    assert (summary.calls, summary.replayed_calls, summary.changed) == (2, 1, 0)


def test_without_the_models_own_text_a_fit_is_not_measured() -> None:
    decoded: dict[str, Any] = {"args_source": "reserialised"}
    assert outcomes(CLEAN._replace(**decoded))[0] == "unmeasured"
    assert outcomes(COERCED._replace(**decoded), edited=as_tool(ACCEPTS_TEXT)) == ("coerced", "unmeasured")
    refused = CLEAN._replace(**decoded, result_fault_layer="schema")
    assert outcomes(refused) == ("failed", "failed")
    assert outcomes(refused, edited=as_tool(READ)) == ("failed", "failed")


def test_a_refusal_under_the_old_definition_does_not_stand_under_one_that_fits() -> None:
    refused = stored('{"range": 3}', "failed", args_source="reserialised", result_fault_layer="schema")
    fits = as_tool({**READ, "required": []})
    assert outcomes(refused, edited=fits) == ("failed", "unmeasured")
    asks_more = as_tool({**READ, "required": ["path", "mode"]})
    assert outcomes(refused, edited=asks_more) == ("failed", "failed")


def test_the_sums_tell_flows_rates_and_codes() -> None:
    calls = [
        call._replace(session_id=f"s{number}")
        for number, call in enumerate([CLEAN, COERCED, COERCED, FAILED])
    ]
    summary = summed(calls, edited=as_tool(ACCEPTS_TEXT))
    assert summary.flows == [("clean", "clean", 1), ("coerced", "clean", 2), ("failed", "failed", 1)]
    mended = summary.rates["mended"]
    assert (mended.before, mended.after, mended.n, mended.sessions) == (2, 0, 4, 4)
    assert mended.difference
    assert mended.difference.estimate == -0.5
    code = summary.codes["string_literal_converted_to_integer"]
    assert (code.before, code.after, code.calls_gone, code.calls_came) == (2, 0, 2, 0)
    assert ReplaySummary.from_json(json.loads(json.dumps(summary.to_json()))) == summary


def test_a_call_that_is_unmeasured_on_one_side_is_in_no_rate() -> None:
    assert summed([UNDEFINED, CLEAN], edited=as_tool(READ)).rates["clean"].n == 1


def test_one_call_a_session_is_the_paired_test_and_alike_sessions_widen_it() -> None:
    before, after = [1] * 6 + [0] * 14, [0] * 5 + [1] * 2 + [0] * 13
    alone = compare_same_calls(before, after, [1] * 20)
    assert alone
    paired = compare_paired([new - old for old, new in zip(before, after, strict=True)])
    assert paired
    assert (alone.estimate, alone.low, alone.high, alone.p) == pytest.approx(
        (paired.estimate, paired.low, paired.high, paired.p)
    )
    together = compare_same_calls([6, 0], [1, 1], [10, 10])
    assert together
    assert together.high - together.low > alone.high - alone.low
    assert compare_same_calls([1], [0], [3]) is None


def test_values_that_moved_are_told_by_path_and_true_is_not_one() -> None:
    before = {"a": 1, "b": [1, 2], "c d": {"x": None}, "e": 1}
    after = {"a": 1, "b": [1, "2", 3], "c d": {}, "e": True}
    assert moved_values(before, after) == [
        ("$.b[1]", "2", '"2"'),
        ("$.b[2]", None, "3"),
        ('$["c d"].x', "null", None),
        ("$.e", "1", "true"),
    ]
    assert len(moved_values({str(number): 1 for number in range(99)}, {})) == 20


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"edited": "{"}, "cannot be read"),
        ({"edited": "[]"}, "defines no tool"),
        ({"edited": "[" * 100_000}, "cannot be read"),
        ({"refused": ("no_such",)}, "Unknown code"),
        ({"refused": ("single_quotes",), "silent": ("single_quotes",)}, "cannot both"),
        ({"before": "never"}, "nothing to compare"),
    ],
)
def test_settings_that_make_no_sense_are_one_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Scenario(**settings).definitions()


def test_several_tools_can_be_defined_at_once() -> None:
    text = json.dumps([json.loads(as_tool(READ)), json.loads(as_tool(READ, "write"))])
    assert set(parse_definitions(text)) == {"read", "write"}


def test_plain_rules_are_the_parsers_own() -> None:
    assert ReplayRules(Policy.LENIENT).is_plain
    for call in CALLS:
        request = parse_arguments(call.raw_arguments or "", find(call.definition_id or ""))
        assert ReplayRules().outcome(request) == request.outcome


@pytest.mark.parametrize(
    ("call", "scenario", "kind"),
    [
        (COERCED, {"refused": ("string_literal_converted_to_integer",)}, ChangeKind.FAILS),
        (NO_JSON, {"policy": "strict"}, None),
        (COERCED, {"edited": as_tool(ACCEPTS_TEXT)}, ChangeKind.OUTCOME),
        (COERCED._replace(outcome="failed"), {"before": STORED}, ChangeKind.PASSES),
        (COERCED._replace(codes=["other"]), {"before": STORED}, ChangeKind.FINDINGS),
        (CLEAN, {}, None),
    ],
)
def test_a_change_has_one_kind(call: StoredCall, scenario: dict[str, Any], kind: ChangeKind | None) -> None:
    assert replayed(call, **scenario).change == kind


def test_the_gravest_changes_are_listed_first_and_keep_their_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LISTED", 2)
    listing = worker._ChangedCalls(tmp_path)
    refused = {"refused": ("string_literal_converted_to_integer",)}
    for number in range(3):
        listing.add(replayed(COERCED._replace(call_id=f"o{number}"), edited=as_tool(ACCEPTS_TEXT)))
    listing.add(replayed(CLEAN))
    listing.add(replayed(COERCED._replace(call_id="f"), **refused))
    listing.write_sorted(tmp_path / "changed")
    lines = (tmp_path / "changed").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["call_id"] for line in lines] == ["f", "o0"]
