"""Compares daily sums with a count of the rows in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline.load import load
from tests.analysis.store_fixture import a_call, a_turn, publish
from tests.store.night import ask, session
from tests.store.recount import ROLLUPS, Facts, Row, sorted_rows

SAMPLES = Path(__file__).parents[2] / "sample_data" / "logs"
SUMS = "k, n, total, sessions"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    store = tmp_path_factory.mktemp("samples") / "store"
    load([SAMPLES], store)
    return Facts(store)


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """Load two files of sessions, one after the other. The second file continues session s1. Some sessions
    have broken arguments or no end.
    """
    folder = tmp_path_factory.mktemp("nights")
    broken, wrong = '{"path": "a.py"', '{"path": 7, "path": 8}'
    (folder / "a.jsonl").write_text(
        session("s1", turns=(2, 3)) + session("s2", raw=broken, ended=False) + session("s3", day=2, raw=wrong)
    )
    (folder / "b.jsonl").write_text(session("s1", turns=(2, 3, 1)) + session("s4", day=2, raw=broken))
    load([folder / "a.jsonl"], folder / "store")
    load([folder], folder / "store")
    return Facts(folder / "store")


@pytest.mark.thorough
@pytest.mark.parametrize("table", ROLLUPS)
@pytest.mark.parametrize("store", ["samples", "nights"])
def test_a_rollup_is_what_a_count_of_the_facts_gives(
    table: str, store: str, request: pytest.FixtureRequest
) -> None:
    facts: Facts = request.getfixturevalue(store)
    rows, counted = facts.tables[table], list(ROLLUPS[table](facts))
    columns = sorted(counted[0]) if counted else []
    assert counted or store == "nights"
    assert not rows or set(rows[0]) == set(columns)
    assert sorted_rows(rows, columns) == sorted_rows(counted, columns)


@pytest.mark.thorough
def test_the_samples_have_every_rate(samples: Facts) -> None:
    """If no sample had values for a rate, this rate would not be tested."""
    hit = {row["rate"] for row in samples.tables["daily_rates"] if row["k"]}
    assert {row["rate"] for row in samples.tables["daily_rates"]} - hit <= {
        "emission",
        "refused",
        "truncated",
    }


# --- by hand -------------------------------------------------------------------------------------


def sums(store: Path, rate: str, cut: str = "all", columns: str = "") -> list[tuple[Any, ...]]:
    return ask(
        store,
        f"SELECT {columns}{SUMS} FROM daily_rates WHERE rate = '{rate}' AND cut = '{cut}' ORDER BY ALL",  # noqa: S608
    )


FAULTS: Row = {
    "fault_layer": "syntax",
    "outcome": "failed",
    "parse_error": "json_parse_error:expected a comma",
}


def test_sessions_count_where_they_have_an_observation(tmp_path: Path) -> None:
    """Session a has 2 failures in 3 calls, b has 0 in 2, and c has one call that is not measured."""
    calls = [
        a_call(1, session_id="a", **FAULTS),
        a_call(2, session_id="a", **FAULTS),
        a_call(3, session_id="a"),
        a_call(4, session_id="b"),
        a_call(5, session_id="b"),
        a_call(6, session_id="c", syntax_seen="none", schema_seen="none", outcome="unmeasured"),
    ]
    publish(tmp_path, {"tool_calls": calls})
    assert sums(tmp_path, "parse_error") == [(2, 5, 6, 2)]
    assert sums(tmp_path, "strict_failure") == [(2, 5, 6, 2)]
    assert sums(tmp_path, "salvaged") == [(0, 2, 2, 1)]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("syntax", "schema", "layer", "expected"),
    [
        ("full", "full", None, ((0, 1), (0, 1), (0, 1))),
        ("full", "full", "syntax", ((1, 1), (1, 1), (0, 1))),
        ("full", "full", "schema", ((1, 1), (0, 1), (1, 1))),
        ("full", "none", None, ((0, 1), (0, 1), (0, 0))),
        ("full", "failures", "schema", ((0, 1), (0, 1), (0, 0))),
        ("failures", "failures", None, ((0, 1), (0, 1), (0, 0))),
        ("failures", "none", None, ((0, 1), (0, 1), (0, 0))),
        ("failures", "none", "syntax", ((1, 1), (1, 1), (0, 0))),
        ("none", "none", "schema", ((0, 0), (0, 0), (0, 0))),
        ("none", "full", "schema", ((0, 0), (0, 0), (1, 1))),
        (None, None, None, ((0, 0), (0, 0), (0, 0))),
        (None, None, "syntax", ((1, 1), (1, 1), (0, 0))),
        (None, None, "schema", ((0, 0), (0, 0), (0, 0))),
    ],
)
def test_a_stage_that_could_not_be_seen_is_not_measured_whatever_the_result_says(
    tmp_path: Path,
    syntax: str | None,
    schema: str | None,
    layer: str | None,
    expected: tuple[tuple[int, int], ...],
) -> None:
    call = a_call(1, syntax_seen=syntax, schema_seen=schema, fault_layer=layer)
    publish(tmp_path, {"tool_calls": [call]})
    rates = ("parse_error", "syntax_error", "schema_error")
    assert tuple(sums(tmp_path, rate)[0][:2] for rate in rates) == expected


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("syntax", "schema", "outcome", "expected"),
    [
        ("full", "full", "repaired", {"mended": (1, 1), "repaired": (1, 1), "coerced": (0, 1)}),
        ("full", "full", "coerced", {"mended": (1, 1), "repaired": (0, 1), "coerced": (1, 1)}),
        ("full", "none", "repaired", {"mended": (0, 0), "repaired": (1, 1), "coerced": (0, 0)}),
        ("full", "none", "coerced", {"mended": (0, 0), "repaired": (0, 1), "coerced": (0, 0)}),
        ("failures", "full", "coerced", {"mended": (0, 0), "repaired": (0, 0), "coerced": (1, 1)}),
    ],
)
def test_repairs_need_the_text_and_coercions_a_definition(
    tmp_path: Path, syntax: str, schema: str, outcome: str, expected: dict[str, tuple[int, int]]
) -> None:
    publish(tmp_path, {"tool_calls": [a_call(1, syntax_seen=syntax, schema_seen=schema, outcome=outcome)]})
    assert {rate: sums(tmp_path, rate)[0][:2] for rate in expected} == expected
    both = expected["mended"]
    assert sums(tmp_path, "strict_failure")[0][:2] == both
    assert sums(tmp_path, "salvaged")[0][:3] == (*both, 1)


def test_the_calls_with_a_definition_are_those_of_which_both_stages_were_measured(tmp_path: Path) -> None:
    calls = [
        a_call(1),
        a_call(2, schema_seen="failures"),
        a_call(3, syntax_seen="failures"),
        a_call(4, syntax_seen="none"),
        a_call(5, syntax_seen="failures", schema_seen="failures"),
    ]
    publish(tmp_path, {"tool_calls": calls})
    assert sums(tmp_path, "defined")[0][:3] == (2, 4, 5)
    assert sums(tmp_path, "parse_error")[0][:3] == (0, 4, 5)


def test_copies_count_nowhere(tmp_path: Path) -> None:
    calls = [a_call(1, **FAULTS), a_call(1, **FAULTS, duplicate=True, file_id=2)]
    turns = [a_turn(1, recorded_ok=False), a_turn(1, recorded_ok=False, duplicate=True, file_id=2)]
    publish(tmp_path, {"tool_calls": calls, "turns": turns})
    assert sums(tmp_path, "parse_error") == [(1, 1, 1, 1)]
    assert sums(tmp_path, "recorded_ok") == [(0, 1, 1, 1)]


def test_a_session_over_midnight_counts_on_each_side(tmp_path: Path) -> None:
    calls = [a_call(1, **FAULTS), a_call(2), a_call(3, day="2026-11-21"), a_call(4, day=None, ts=None)]
    publish(tmp_path, {"tool_calls": calls})
    rows = sums(tmp_path, "parse_error", columns="day::VARCHAR, ")
    assert rows == [
        ("2026-11-20", 1, 2, 2, 1),
        ("2026-11-21", 0, 1, 1, 1),
        (None, 0, 1, 1, 1),
    ]


def test_a_session_counts_once_in_all_and_once_for_each_of_its_tools(tmp_path: Path) -> None:
    calls = [
        a_call(1, tool="read", **FAULTS),
        a_call(2, tool="read"),
        a_call(3, tool="write"),
        a_call(4, tool=None),
    ]
    publish(tmp_path, {"tool_calls": calls, "turns": [a_turn(1, retries=1, calls=4)]})
    assert sums(tmp_path, "parse_error") == [(1, 4, 4, 1)]
    assert sums(tmp_path, "parse_error", "tool", "tool, ") == [
        ("read", 1, 2, 2, 1),
        ("write", 0, 1, 1, 1),
        (None, 0, 1, 1, 1),
    ]
    assert sums(tmp_path, "retried", "tool", "tool, ") == [
        (tool, 1, 1, 1, 1) for tool in ("read", "write", None)
    ]


def test_turns_without_a_verdict_are_in_the_total_only(tmp_path: Path) -> None:
    turns = [
        a_turn(1, recorded_ok=True, derived_ok=False),
        a_turn(2, recorded_ok=None, derived_ok=True),
        a_turn(3, recorded_ok=False, derived_ok=None, calls=0),
    ]
    publish(tmp_path, {"turns": turns})
    assert sums(tmp_path, "recorded_ok") == [(1, 2, 3, 1)]
    assert sums(tmp_path, "derived_ok") == [(1, 2, 3, 1)]
    assert sums(tmp_path, "turn_success") == [(2, 3, 3, 1)]
    assert sums(tmp_path, "disagree") == [(1, 1, 3, 1)]
    assert sums(tmp_path, "retried") == [(0, 2, 3, 1)]


def test_an_unknown_tool_is_told_by_its_code_not_by_a_text_that_says_so(tmp_path: Path) -> None:
    calls = [
        a_call(1, tools_offered=True, fault_layer="schema", parse_error="unknown_tool:frobnicate"),
        a_call(2, tools_offered=True, fault_layer="schema", parse_error="not_in_enum:mode=unknown_tool"),
        a_call(3, tools_offered=False, fault_layer="schema", parse_error="unknown_tool:frobnicate"),
        a_call(4, tools_offered=None),
    ]
    publish(tmp_path, {"tool_calls": calls})
    assert sums(tmp_path, "unknown_tool") == [(1, 2, 4, 1)]


def test_what_became_of_a_call_is_observed_where_its_result_tells(tmp_path: Path) -> None:
    calls: list[Row] = [
        {"result_status": "ok"},
        {"result_status": "error", "fault_layer": "execution"},
        {"result_status": "error", "fault_layer": "tool_rejected"},
        {"result_status": "denied", "fault_layer": "refused"},
        {"result_status": "unknown"},
        {"result_status": "missing"},
        {"result_status": None},
    ]
    publish(tmp_path, {"tool_calls": [a_call(at, **call) for at, call in enumerate(calls)]})
    counts = {rate: sums(tmp_path, rate)[0][:3] for rate in ("execution", "tool_rejected", "refused")}
    assert counts == {"execution": (1, 3, 7), "tool_rejected": (1, 3, 7), "refused": (1, 4, 7)}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("fields", "cut_off"),
    [
        ({"parse_error": "json_parse_error:unexpected end of text"}, True),
        ({"parse_warning": "missing_closer:}"}, True),
        ({"parse_warning": "coerced; unclosed_string"}, True),
        ({"parse_error": "json_parse_error:expected a comma"}, False),
        ({"parse_warning": "the_missing_closer"}, False),
        ({}, False),
    ],
)
def test_a_text_that_was_cut_off_is_told_by_what_was_found(
    tmp_path: Path, fields: Row, cut_off: bool
) -> None:
    publish(tmp_path, {"tool_calls": [a_call(1, **fields), a_call(2, **fields, args_source="reserialised")]})
    assert sums(tmp_path, "truncated")[0][:3] == (int(cut_off), 1, 2)
