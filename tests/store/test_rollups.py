"""Tests daily sums of retry sequences, parallel calls, traits, parameters and trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.store_fixture import a_call, a_turn, publish
from tests.store.night import ask
from tests.store.recount import Row

COSTS = "attempts, ended, chains, retries, identical, steps, tokens, tokens_known, us, ms_known"


def begun(number: int, *, layer: str = "syntax", **fields: Any) -> Row:
    return a_call(
        number, fault_layer=layer, chain_id=f"c{number}", attempt=1, chain_outcome="recovered", **fields
    )


def again(number: int, chain: int, attempt: int = 2, **fields: Any) -> Row:
    shared = {
        "chain_id": f"c{chain}",
        "attempt": attempt,
        "retry_kind": "changed",
        "chain_outcome": "recovered",
    }
    return a_call(number, **{**shared, **fields})


COST: Row = {"input_tokens": 100, "output_tokens": 20, "model_latency_ms": 1_000.0, "latency_ms": 5.0}


def chains(store: Path, columns: str = COSTS) -> list[tuple[Any, ...]]:
    return ask(store, f"SELECT {columns} FROM daily_chains ORDER BY ALL")  # noqa: S608 - our own columns


def test_a_chain_costs_what_the_steps_after_its_first_call_cost(tmp_path: Path) -> None:
    calls = [
        begun(1, **COST),
        again(2, 1, fault_layer="schema", retry_kind="identical", **COST),
        again(3, 1, attempt=3, input_tokens=200, output_tokens=30, latency_ms=7.0),
    ]
    publish(tmp_path, {"tool_calls": calls})
    assert chains(tmp_path) == [(3, "recovered", 1, 2, 1, 2, 350, 1, 1_012_000, 1)]


def test_a_step_that_tries_several_chains_again_is_paid_once(tmp_path: Path) -> None:
    """Two calls fail, and one step retries both. The step's 120 tokens and one second must count once."""
    calls = [
        begun(1, step=0),
        begun(2, step=0, ordinal=1),
        again(3, 1, step=1, **COST),
        again(4, 2, step=1, ordinal=1, **COST),
    ]
    publish(tmp_path, {"tool_calls": calls})
    assert chains(tmp_path) == [(2, "recovered", 2, 2, 0, 1, 120, 2, 1_010_000, 2)]


def test_a_chain_counts_where_and_when_it_began(tmp_path: Path) -> None:
    calls = [
        begun(1, tool="read", day="2026-11-20"),
        again(2, 1, tool="read_file", day="2026-11-21", model="owl-1"),
    ]
    publish(tmp_path, {"tool_calls": calls})
    assert chains(tmp_path, "day::VARCHAR, model, tool, fault_layer, attempts") == [
        ("2026-11-20", "falcon-3", "read", "syntax", 2)
    ]


def test_what_a_step_cost_is_unknown_where_one_of_them_does_not_tell(tmp_path: Path) -> None:
    calls = [begun(1), again(2, 1, **COST), again(3, 1, attempt=3, input_tokens=100)]
    publish(tmp_path, {"tool_calls": calls})
    assert chains(tmp_path, "steps, tokens, tokens_known, us, ms_known") == [(2, 0, 0, 1_005_000, 1)]


def test_chains_without_a_retry_of_many_and_open_ones(tmp_path: Path) -> None:
    calls = [
        begun(1) | {"chain_outcome": "abandoned"},
        begun(20) | {"chain_outcome": None, "day": None},
        begun(40),
        *(again(40 + at, 40, attempt=at + 1) for at in range(1, 15)),
        a_call(90),
    ]
    publish(tmp_path, {"tool_calls": [*calls, calls[0] | {"duplicate": True}]})
    assert chains(tmp_path, "attempts, ended, chains, retries") == [
        (1, "abandoned", 1, 0),
        (1, "open", 1, 0),
        (10, "recovered", 1, 14),
    ]


# --- steps that made several calls ----------------------------------------------------------------

STEPS = "steps, calls, lost, bad_steps, others, others_lost"


def parallel(store: Path) -> list[tuple[Any, ...]]:
    return ask(store, f"SELECT {STEPS} FROM daily_parallel ORDER BY ALL")  # noqa: S608 - our own columns


def step(number: int, *calls: Row, **shared: Any) -> list[Row]:
    return [
        a_call(10 * number + at, step=number, ordinal=at, **{**call, **shared})
        for at, call in enumerate(calls)
    ]


OK: Row = {}
BAD: Row = {"fault_layer": "syntax", "result_status": "error"}
LOST: Row = {"result_status": "missing"}
DENIED: Row = {"result_status": "denied", "fault_layer": "refused"}
SHOWN = a_turn(1, results_expected=True)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([[OK]], []),
        ([[OK, OK]], [(1, 2, 0, 0, 0, 0)]),
        ([[BAD, OK, LOST, DENIED]], [(1, 4, 2, 1, 3, 2)]),
        ([[BAD, LOST], [OK, OK, LOST]], [(2, 5, 2, 1, 1, 1)]),
        ([[BAD, BAD]], [(1, 2, 0, 1, 0, 0)]),
        ([[{"fault_layer": "execution", "result_status": "error"}, OK]], [(1, 2, 0, 0, 0, 0)]),
        ([[{"fault_layer": "emission", "result_status": "missing"}, OK]], [(1, 2, 0, 1, 1, 0)]),
    ],
)
def test_a_bad_call_and_what_became_of_those_beside_it(
    tmp_path: Path, steps: list[list[Row]], expected: list[tuple[int, ...]]
) -> None:
    calls = [call for number, step_calls in enumerate(steps) for call in step(number, *step_calls)]
    publish(tmp_path, {"tool_calls": calls, "turns": [SHOWN]})
    assert parallel(tmp_path) == expected


def test_nothing_is_lost_where_a_session_shows_no_results(tmp_path: Path) -> None:
    publish(tmp_path, {"tool_calls": step(0, BAD, LOST), "turns": [a_turn(1, results_expected=False)]})
    assert parallel(tmp_path) == []


def test_results_of_the_last_step_may_be_on_their_way(tmp_path: Path) -> None:
    calls = [*step(0, BAD, LOST), *step(1, LOST, LOST)]
    open_turn = SHOWN | {"derived_reason": "not_ended", "derived_ok": None}
    publish(tmp_path / "open", {"tool_calls": calls, "turns": [open_turn]})
    assert parallel(tmp_path / "open") == [(1, 2, 1, 1, 1, 1)]
    publish(tmp_path / "left", {"tool_calls": calls, "turns": [open_turn | {"derived_ok": False}]})
    assert parallel(tmp_path / "left") == [(2, 4, 3, 1, 1, 1)]


# --- traits and parameters ------------------------------------------------------------------------


def traits(store: Path, trait: str) -> list[tuple[Any, ...]]:
    sums = "class, k, n, sessions"
    return ask(store, f"SELECT {sums} FROM daily_traits WHERE trait = '{trait}' ORDER BY ALL")  # noqa: S608


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("size", "bucket"), [(0, 4), (31, 4), (32, 5), (63, 5), (64, 6), (1_023, 9), (1_024, 10), (300_000, 16)]
)
def test_lengths_are_put_into_powers_of_two(tmp_path: Path, size: int, bucket: int) -> None:
    publish(tmp_path, {"tool_calls": [a_call(1, raw_arguments="x" * size)]})
    assert traits(tmp_path, "length") == [(bucket, 0, 1, 1)]


def test_arguments_that_are_not_there_have_no_length_and_no_depth(tmp_path: Path) -> None:
    call = a_call(1, raw_arguments=None, arguments_depth=None, fault_layer="syntax", turn=None)
    publish(tmp_path, {"tool_calls": [call]})
    assert ask(tmp_path, "SELECT * FROM daily_traits") == []


def test_the_classes_of_the_other_traits(tmp_path: Path) -> None:
    calls = [
        a_call(1, raw_arguments="abcd", arguments_depth=0, turn=3),
        a_call(2, raw_arguments="ä" + "a" * 99, arguments_depth=6, turn=4, turn_id="s1:2"),
        a_call(3, raw_arguments="北京", arguments_depth=9, turn=21, turn_id="s1:3", fault_layer="schema"),
    ]
    turns = [a_turn(1, offered_tools=1), a_turn(2, offered_tools=6), a_turn(3)]
    publish(tmp_path, {"tool_calls": calls, "turns": turns})
    none, hit = (0, 1, 1), (1, 1, 1)
    assert traits(tmp_path, "non_ascii") == [(0, *none), (1, *none), (4, *hit)]
    assert traits(tmp_path, "depth") == [(0, *none), (6, 1, 2, 1)]
    assert traits(tmp_path, "turn") == [(3, *none), (4, *none), (7, *hit)]
    assert traits(tmp_path, "offered") == [(0, *none), (2, *none)]


def test_a_call_counts_once_for_each_parameter_and_code(tmp_path: Path) -> None:
    def finding(number: int, path: str | None, code: str, position: int, **fields: Any) -> Row:
        return {
            "call_id": f"c{number}", "file_id": 1, "position": position, "path": path, "code": code,
            "severity": "error", "stage": "check", **fields,
        }  # fmt: skip

    diagnostics = [
        finding(1, "$.filters[0].name", "wrong_type", 0),
        finding(1, "$.filters[12].name", "wrong_type", 1),
        finding(2, "$.filters[3].name", "wrong_type", 0),
        finding(2, "$", "missing", 1),
        finding(2, None, "missing", 2),
        finding(2, "$[0]", "missing", 3),
        finding(3, "$.filters[3].name", "wrong_type", 0, file_id=2),
    ]
    calls = [a_call(1), a_call(2), a_call(3, file_id=2, duplicate=True), a_call(1, line=9, duplicate=True)]
    publish(tmp_path, {"tool_calls": calls, "diagnostics": diagnostics})
    rows = ask(tmp_path, "SELECT parameter, code, calls, example FROM daily_parameters ORDER BY ALL")
    assert rows == [
        ("", "missing", 1, "c2"),
        ("[]", "missing", 1, "c2"),
        ("filters[].name", "wrong_type", 2, "c2"),
    ]


# --- trials ---------------------------------------------------------------------------------------

ASKED = "Rename the function parse to read everywhere in the project."


def trials(store: Path, columns: str) -> list[tuple[Any, ...]]:
    return ask(store, f"SELECT {columns} FROM task_trials ORDER BY ALL")  # noqa: S608 - our own columns


def a_session(name: str, task: str | None = None, **fields: Any) -> Row:
    return {"session_id": name, "source": "session_history", "task": task, "duplicate": False, **fields}


def test_a_trial_passed_when_none_of_its_judged_turns_failed(tmp_path: Path) -> None:
    turns = [
        a_turn(1, session_id="a", recorded_ok=None, derived_ok=True),
        a_turn(2, session_id="a", recorded_ok=True, derived_ok=None, day="2026-11-21"),
        a_turn(3, session_id="b", recorded_ok=True, derived_ok=False),
        a_turn(4, session_id="b", recorded_ok=False, derived_ok=True),
        a_turn(5, session_id="c", recorded_ok=None, derived_ok=None, day=None),
        a_turn(3, session_id="b", recorded_ok=None, derived_ok=True, duplicate=True, file_id=2),
    ]
    calls = [
        a_call(1, session_id="a", fault_layer="syntax"),
        a_call(2, session_id="a"),
        a_call(3, session_id="b", syntax_seen="none", schema_seen="none"),
    ]
    sessions = [a_session(name, "t") for name in "abc"]
    publish(tmp_path, {"turns": turns, "tool_calls": calls, "sessions": sessions})
    columns = "session_id, day::VARCHAR, task, recorded_ok, derived_ok, turns, calls, parse_k, parse_n"
    task = "session_history:t"
    assert trials(tmp_path, columns) == [
        ("a", "2026-11-20", task, True, True, 2, 2, 1, 2),
        ("b", "2026-11-20", task, False, False, 2, 2, 0, 0),
        ("c", None, task, None, None, 1, 1, 0, 0),
    ]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("task", "first_message", "origin"),
    [
        ("t", None, "log"),
        ("t", ASKED, "log"),
        (None, ASKED, "first message"),
        (None, "x" * 39, None),
        (None, "x" * 2_000, "first message"),
        # the text is cut, so two texts with different ends would look like one task
        (None, "x" * 2_000 + "…", None),
    ],
)
def test_a_task_is_named_by_the_log_or_by_a_first_message_that_can_be_one(
    tmp_path: Path, task: str | None, first_message: str | None, origin: str | None
) -> None:
    turns = [a_turn(1, user_text=first_message), a_turn(2, user_text=ASKED)]
    publish(tmp_path, {"turns": turns, "sessions": [a_session("s1", task)]})
    assert trials(tmp_path, "task_origin") == ([(origin,)] if origin else [])


def test_entries_of_a_score_file_are_no_trials_since_only_failures_are_named(tmp_path: Path) -> None:
    turns = [a_turn(1, source="bfcl_score", recorded_ok=False)]
    publish(tmp_path, {"turns": turns, "sessions": [a_session("s1", "t", source="bfcl_score")]})
    assert trials(tmp_path, "task") == []


def test_the_same_words_are_the_same_task_for_several_models_and_the_same_name_in_two_sources_is_not(
    tmp_path: Path,
) -> None:
    turns = [
        a_turn(1, session_id="a", user_text=ASKED),
        a_turn(2, session_id="b", user_text=ASKED, model="owl-1"),
        a_turn(3, session_id="c"),
        a_turn(4, session_id="d", source="tau_bench"),
    ]
    named = [a_session("c", "7"), a_session("d", "7", source="tau_bench")]
    publish(tmp_path, {"turns": turns, "sessions": named})
    assert len({task for (task,) in trials(tmp_path, "task")}) == 3
    assert sorted(count for (count,) in ask(tmp_path, "SELECT count(*) FROM task_trials GROUP BY task")) == [
        1,
        1,
        2,
    ]
