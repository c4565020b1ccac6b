"""Tests the sentences on the errors of one tool."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import pytest

from callgauge.analysis.replay.definition_edits import describe_type, find_declaration
from callgauge.analysis.verdicts.parameter_faults import FaultKind, ToolFaults, read_tool_faults
from callgauge.analysis.verdicts.tool_answers import (
    describe_reported_failures,
    list_kinds,
    write_tool_answer,
)
from callgauge.stats import GROUPS
from tests.analysis.store_fixture import HOSTILE

Place = tuple[str | None, str | None, str | None]
Counts = dict[str, dict[tuple[str, str, str | None], tuple[int, int]]]


def faults(judged: dict[str, int], wrong: Counts | None = None, checked: bool = True) -> ToolFaults:
    """Return the errors of a tool.

    `judged` contains the number of judged calls for each model. `wrong` contains two numbers for each model
    and error: the calls with this error, and how many of these calls failed. The calls are spread evenly over
    the groups of sessions. No call has two errors.
    """

    def spread(calls: int) -> list[int]:
        return [calls * (place + 1) // GROUPS - calls * place // GROUPS for place in range(GROUPS)]

    rows: list[dict[Hashable, Any]] = []
    for model, n in judged.items():
        counts_by_fault = (wrong or {}).get(model, {})
        places: dict[tuple[str | None, str | None, str | None], tuple[int, int]] = {
            (None, None, None): (0, 0)
        }
        for (parameter, kind, sent), counts in counts_by_fault.items():
            levels = [
                (None, None, None),
                (None, kind, None),
                (parameter, None, None),
                (parameter, kind, None),
            ]
            for level in [*levels, *([(parameter, kind, sent)] if sent else [])]:
                before = places.get(level, (0, 0))
                places[level] = before[0] + counts[0], before[1] + counts[1]
        for (parameter_, kind_, sent_), (calls, failed) in places.items():
            rows.append(
                {
                    "parameter": parameter_,
                    "fault": kind_,
                    "sent": sent_,
                    "slice": model,
                    "calls": calls,
                    "failed": failed,
                    "judged": n,
                    "checked": n if checked else 0,
                    "group_ids": list(range(GROUPS)),
                    "group_calls": spread(calls),
                    "group_judged": spread(n),
                    "group_checked": spread(n if checked else 0),
                    "example": "c1",
                }
            )
    return read_tool_faults(rows)


AS_TEXT = ("max_bytes", "type", "text")
BROKEN = ("", "text", None)


def test_the_sentence_names_the_parameter_and_its_model() -> None:
    tool_faults = faults(
        {"slate": 600, "heron": 2000}, {"slate": {AS_TEXT: (180, 18)}, "heron": {AS_TEXT: (50, 7)}}
    )
    assert write_tool_answer("fetch_page", tool_faults) == (
        "fetch_page: max_bytes is sent as text in 8.8% of calls, mostly by slate."
    )
    [parameter] = tool_faults.parameters
    assert (parameter.count.calls, parameter.count.repaired, parameter.count.failed) == (230, 205, 25)
    assert parameter.count.top_slice == "slate"
    assert parameter.sent == {"text": 230}


def test_a_model_is_named_only_where_its_share_is_really_above_that_of_the_others() -> None:
    def answer(slate: int, heron: int, n: int = 300) -> str:
        tool_faults = faults(
            {"slate": n, "heron": n}, {"slate": {AS_TEXT: (slate, 0)}, "heron": {AS_TEXT: (heron, 0)}}
        )
        return write_tool_answer("fetch", tool_faults)

    assert answer(15, 12).endswith("in 4.5% of calls.")
    assert answer(60, 10).endswith(", mostly by slate.")
    assert answer(3000, 2990, 30_000).endswith(", about equally often by all models.")


def test_a_model_that_is_worse_but_has_few_of_the_calls_is_named_with_its_rate() -> None:
    tool_faults = faults(
        {"slate": 200, "heron": 9000}, {"slate": {AS_TEXT: (60, 0)}, "heron": {AS_TEXT: (180, 0)}}
    )
    assert write_tool_answer("fetch", tool_faults).endswith(", most often by slate (30.0%).")


def test_of_one_model_the_sentence_claims_nothing_about_others() -> None:
    tool_faults = faults({"slate": 200}, {"slate": {AS_TEXT: (60, 0)}})
    assert (
        write_tool_answer("fetch", tool_faults)
        == "fetch: max_bytes is sent as text in 30.0% of calls by slate."
    )


def test_without_a_fault_the_sentence_says_what_would_have_shown() -> None:
    answer = write_tool_answer("fetch", faults({"slate": 1165, "heron": 1000}))
    assert answer.startswith(
        "No parameter of fetch fails or needs repair in 2,165 calls; a fault in more than "
    )
    assert answer.endswith("% of calls would show.")


def test_few_calls_are_no_answer_but_are_counted() -> None:
    tool_faults = faults({"slate": 12}, {"slate": {AS_TEXT: (3, 0)}})
    assert write_tool_answer("fetch", tool_faults) == (
        "Not enough data on fetch: 12 judged calls, 30 are needed. "
        "3 of 12 judged calls had a fault, most often because max_bytes is sent as text."
    )
    assert write_tool_answer("fetch", faults({})).startswith("No call of fetch could be judged")


def test_without_a_definition_only_the_json_is_judged() -> None:
    tool_faults = faults({"slate": 400}, {"slate": {BROKEN: (20, 2)}}, checked=False)
    assert write_tool_answer("fetch", tool_faults, defined=False) == (
        "fetch: the arguments are not valid JSON in 5.0% of calls by slate. "
        "Its parameters cannot be checked: no log has its definition."
    )
    assert "could be checked against the definition" in write_tool_answer("fetch", tool_faults)


def test_where_the_json_itself_breaks_most_no_parameter_is_blamed_for_it() -> None:
    tool_faults = faults(
        {"slate": 500, "heron": 500},
        {"slate": {BROKEN: (50, 2), ("url", "missing", None): (9, 9)}, "heron": {BROKEN: (45, 2)}},
    )
    assert write_tool_answer("fetch", tool_faults).startswith(
        "fetch: the arguments are not valid JSON in 9.5% of calls"
    )
    assert "No parameter goes wrong that often: url is missing in 0.90% of calls" in write_tool_answer(
        "fetch", tool_faults
    )


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("a", "missing", None), "a is missing in"),
        (("a", "value", None), "a has a value that is not allowed in"),
        (("a", "undeclared", None), "a is sent although it is not declared in"),
        (("a", "name", None), "a is sent under another spelling in"),
        (("a", "type", "list"), "a is sent as a list in"),
        (("a", "type", None), "a has a value of another type in"),  # the value is hidden
    ],
)
def test_each_kind_of_fault_has_its_words(place: tuple[str, str, str | None], words: str) -> None:
    tool_faults = faults({"slate": 500, "heron": 500}, {"slate": {place: (50, 50)}})
    assert words in write_tool_answer("fetch", tool_faults)


def test_kinds_that_are_rarely_sent_are_not_named() -> None:
    sent: Any = {
        AS_TEXT: (90, 0),
        ("max_bytes", "type", "null"): (4, 0),
        ("max_bytes", "type", "list"): (30, 0),
    }
    [fault, *_] = faults({"slate": 500}, {"slate": sent}).faults
    assert fault.kind is FaultKind.TYPE
    assert list_kinds(fault) == ["text", "list"]


def test_hostile_and_long_names_stay_one_short_line() -> None:
    name = f"{HOSTILE}\n{'x' * 500}\u202e"
    tool_faults = faults({name: 500, "heron": 500}, {name: {(name, "type", "text"): (400, 0)}})
    answer = write_tool_answer(name, tool_faults)
    assert "\n" not in answer
    assert "\u202e" not in answer
    assert len(answer) < 300


def test_wildly_many_parameters_leave_one_sentence() -> None:
    sent: Any = {(f"p{number}", "undeclared", None): (1 + number % 7, 0) for number in range(2_000)}
    tool_faults = faults({"slate": 20_000}, {"slate": sent})
    assert len(tool_faults.parameters) == 2_000
    assert write_tool_answer("fetch", tool_faults).count(".") <= 3


def definition(**properties: Any) -> str:
    return json.dumps({"type": "object", "properties": properties, "required": list(properties)})


def test_a_parameter_within_a_list_is_found() -> None:
    filters = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
    assert describe_type(find_declaration(definition(filters=filters), "filters[]")) == "object"
    assert describe_type(find_declaration(definition(filters=filters), "filters[].name")) == "string"
    assert describe_type({"anyOf": [{"type": "integer"}, {"type": "null"}]}) == "integer or null"


@pytest.mark.parametrize("text", [None, "", "null", "[1", '{"properties": [1]}', "[" * 100_000])
def test_a_definition_that_cannot_be_read_declares_nothing(text: str | None) -> None:
    assert describe_type(find_declaration(text, "a")) == "–"


def test_results_that_report_a_failure_are_said_with_the_field_that_says_so() -> None:
    first: dict[Hashable, Any] = {"field": "success", "calls": 9, "results": 50}
    assert describe_reported_failures([]) is None
    assert describe_reported_failures([first]) == "18% of results say `success: false`; counted as failed."
    several: list[dict[Hashable, Any]] = [
        first,
        {"field": "status", "calls": 2, "results": 50},
        {"field": None, "calls": 1, "results": 50},
    ]
    assert describe_reported_failures(several) == (
        "18% of results say `success: false`, 4.0% say `status: error` and 2.0% say so; counted as failed."
    )
