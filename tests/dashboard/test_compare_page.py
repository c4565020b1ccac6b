"""Compare: two slices in the URL, the verdict in a sentence, and every way of comparing that can be had."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard.conftest import opened, said
from tests.dashboard.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables

PAGE = "callgauge/dashboard/pages/compare/page.py"
REFUSED = {"outcome": "failed", "fault_layer": "syntax"}
ASKED = "Please bring the numbers of the third quarter together, by region."


def session(number: int, model: str, failed: int, of: int, **said: Any) -> list[dict[str, Any]]:
    return [
        a_call(
            100 * number + n,
            session_id=f"s{number}",
            turn_id=f"s{number}:1",
            model=model,
            ts="2026-11-20T10:00:00",
            **((REFUSED if n < failed else {}) | said),
        )
        for n in range(of)
    ]


def two_models(store: Path, **said: Any) -> None:
    """Forty sessions each, at the same ten tasks: falcon-3 fails once in ten calls, heron five times."""
    calls, turns = [], []
    for number in range(40):
        for model, shift, failed in (("falcon-3", 0, 1), ("heron", 40, 5)):
            calls += session(number + shift, model, failed, 10, **said)
            task = {
                "user_text": f"{ASKED} {number % 10}",
                "recorded_ok": model == "falcon-3" or number % 4 == 0,
            }
            turns.append(
                a_turn(
                    1, turn_id=f"s{number + shift}:1", session_id=f"s{number + shift}", model=model, **task
                )
            )
    publish(store, small_tables() | {"tool_calls": calls, "turns": turns, "diagnostics": []})


def compared(store: Path, **query: str) -> AppTest:
    return opened(PAGE, **query)


def verdict(app: AppTest) -> str:
    """As it reads, without the signs that keep Markdown from reading anything in it."""
    return re.sub(r"\\(.)", r"\1", str(app.subheader[0].value))


def test_without_a_choice_the_two_models_that_were_measured_most_are_compared(store: Path) -> None:
    two_models(store)
    app = compared(store)
    assert app.query_params["a_model"] == "falcon-3"
    assert app.query_params["b_model"] == "heron"
    assert verdict(app).startswith("heron is worse (parse errors): 50.0% vs 10.0%")
    assert "80 sessions" in verdict(app)
    assert "Newcombe over sessions, 95 %" in said(app)


def test_swapping_turns_the_sentence_round(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", a_tool="read_file")
    app.button(key="swap").click().run()
    assert not app.exception
    assert app.query_params["a_model"] == "heron"
    assert app.query_params["b_tool"] == "read_file"
    assert "a_tool" not in app.query_params
    assert verdict(app).startswith("falcon-3")
    assert "is better" in verdict(app)


def test_what_the_url_says_that_the_store_does_not_know_is_dropped(store: Path) -> None:
    two_models(store)
    app = compared(
        store, a_model="nobody", a_days="yesterday", b_strategy="' OR 1", rate="nonsense", anew="maybe"
    )
    assert not app.error
    assert app.multiselect(key="a_model").value == []
    assert app.selectbox(key="rate").value == "parse_error"


def test_slices_that_hold_the_same_calls_are_said_to_overlap(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_tool="read_file")
    assert any("The slices overlap" in warning.value for warning in app.warning)


def test_a_mix_that_turns_the_order_round_is_warned_of(store: Path) -> None:
    """The kidney stones of Charig et al. (1986), a tenth of them: better on both tools, worse in the sum."""
    counts = {("falcon-3", "edit"): (23, 27), ("falcon-3", "read"): (6, 8), ("heron", "edit"): (8, 9)}
    counts |= {("heron", "read"): (19, 26)}
    calls = []
    for number, ((model, tool), (good, of)) in enumerate(counts.items()):
        for n in range(of):
            calls += session(100 * number + n, model, int(n >= good), 1, tool=tool)
    publish(store, small_tables() | {"tool_calls": calls})
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert any("The mix turns the order round" in warning.value for warning in app.warning)


def test_slices_of_which_little_could_be_judged_are_warned_of(store: Path) -> None:
    two_models(store)
    blind = {"syntax_seen": "none", "schema_seen": "none", "outcome": "unmeasured", "fault_layer": None}
    calls = [
        *session(1, "falcon-3", 1, 20),
        *session(2, "heron", 0, 90, **blind),
        *session(3, "heron", 1, 10),
    ]
    publish(store, small_tables() | {"tool_calls": calls}, number=2)
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert any("Less than 20% of the calls of B could be judged" in warning.value for warning in app.warning)


def test_drawing_sessions_anew_is_one_click_away_and_in_the_url(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron")
    app.toggle(key="anew").set_value(True).run()
    assert not app.exception
    assert app.query_params["anew"] == "yes"
    assert "The interval of the draws and the one above should be alike." in said(app)


def test_a_rate_that_tasks_do_not_keep_says_which_ones_they_do(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", rate="execution")
    assert "Task by task: parse errors and the two verdicts on turns only." in said(app)
    app = compared(store, a_model="falcon-3", b_model="heron", b_tool="read_file")
    assert "a task is tried by a whole session, which has no one tool" in said(app)


@pytest.mark.parametrize("rate", ["derived_ok", "recovered", "retried", "salvaged"])
def test_every_kind_of_rate_can_be_compared(store: Path, rate: str) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", rate=rate, anew="yes")
    assert not app.error


def test_nothing_to_compare_says_whose_calls_could_not_be_judged(store: Path) -> None:
    calls = [
        *session(1, "falcon-3", 1, 20),
        *session(2, HOSTILE, 0, 5, syntax_seen="none", schema_seen="none"),
    ]
    publish(store, small_tables() | {"tool_calls": calls})
    app = compared(store)
    assert verdict(app).startswith("Nothing to compare: no call of <img")
    assert "\\<img" in app.subheader[0].value
    assert "Choose another rate, or widen what narrows that slice." in said(app)


def test_reset_takes_the_slices_out_of_the_url(store: Path) -> None:
    two_models(store)
    app = compared(store, a_tool="read_file", b_model="heron", success="derived_ok")
    app.button(key="reset").click().run()
    assert not app.exception
    assert "a_tool" not in app.query_params
    assert "success" not in app.query_params
    assert app.query_params["a_model"] == "falcon-3"
