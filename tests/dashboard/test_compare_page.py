"""Tests the page Compare."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of

PAGE = "callgauge/dashboard/pages/compare/page.py"
REFUSED = {"outcome": "failed", "fault_layer": "syntax"}
ASKED = "Please bring the numbers of the third quarter together, by region."


def session(number: int, model: str, failed: int, size: int, **fields: Any) -> list[dict[str, Any]]:
    return [
        a_call(
            100 * number + n,
            session_id=f"s{number}",
            turn_id=f"s{number}:1",
            model=model,
            ts="2026-11-20T10:00:00",
            **((REFUSED if n < failed else {}) | fields),
        )
        for n in range(size)
    ]


def two_models(store: Path, **fields: Any) -> None:
    """Publish forty sessions per model, with the same ten tasks. falcon-3 fails in one of ten tool calls,
    heron in five.
    """
    calls, turns = [], []
    for number in range(40):
        for model, shift, failed in (("falcon-3", 0, 1), ("heron", 40, 5)):
            calls += session(number + shift, model, failed, 10, **fields)
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


def plain(text: str) -> str:
    """Return Markdown without escapes."""
    return re.sub(r"\\(.)", r"\1", text)


def verdict(app: AppTest) -> str:
    """Return the sentence below the selection of the two slices."""
    return plain(str(app.header[0].value))


def test_without_a_choice_the_two_models_that_were_measured_most_are_compared(store: Path) -> None:
    two_models(store)
    app = compared(store)
    assert app.query_params["a_model"] == "falcon-3"
    assert app.query_params["b_model"] == "heron"
    assert app.title[0].value == r"heron against falcon\-3"
    assert verdict(app) == "heron is worse than falcon-3: parse errors 50.0% against 10.0%."
    assert re.search(r"Difference \+40\.0 points \(.*, 95%, 80 sessions\.", plain(page_text(app)))
    (way, *_) = sheet_of(compared(store, show="ways"), "The difference, compared in several ways")
    assert way["Rests on"]["text"] == "Newcombe over sessions, 95 %"


@pytest.mark.thorough
def test_swapping_turns_the_sentence_round(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", a_tool="read_file")
    app.button(key="swap").click().run()
    assert not app.exception
    assert app.query_params["a_model"] == "heron"
    assert app.query_params["b_tool"] == "read_file"
    assert "a_tool" not in app.query_params
    assert verdict(app).startswith("falcon-3 · read_file is better than heron")


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


def kidney_stones(store: Path, times: int) -> None:
    """Publish counts as in Charig et al. (1986). Heron is better with each tool, but worse in total."""
    counts = {("falcon-3", "edit"): (234, 270), ("falcon-3", "read"): (55, 80)}
    counts |= {("heron", "edit"): (81, 87), ("heron", "read"): (192, 263)}
    calls = []
    for number, ((model, tool), (good, size)) in enumerate(counts.items()):
        for n in range(times * size):
            calls += session(10_000 * number + n, model, int(n >= times * good), 1, tool=tool)
    publish(store, small_tables() | {"tool_calls": calls, "diagnostics": []})


@pytest.mark.thorough
def test_a_mix_that_turns_the_order_round_does_not_hide_the_better_one(store: Path) -> None:
    kidney_stones(store, 3)
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert verdict(app) == (
        "heron is better than falcon-3: parse errors 16.6% against 22.0%, mix-adjusted "
        "(unadjusted, the other way round: 22.0% against 17.4%)."
    )
    words = plain(page_text(app))
    assert "Difference −5.4 points (−" in words
    assert "Mix-adjusted by tools, strategies and prompts." in words
    assert "Unadjusted: 22.0% vs 17.4%, difference +4.6 points (" in words
    assert "Mix-adjusted, the order reverses." in words
    first, mixed, *_ = sheet_of(
        compared(store, a_model="falcon-3", b_model="heron", show="ways"),
        "The difference, compared in several ways",
    )
    assert "mix-adjusted over 2 groups (Mantel-Haenszel), Newcombe over" in mixed["Rests on"]["text"]
    assert first["Difference"]["at"] > 0.5 > mixed["Difference"]["at"]
    assert (mixed["falcon-3"]["text"], mixed["heron"]["text"]) == ("22.0%", "16.6%")


@pytest.mark.thorough
def test_no_table_of_the_page_says_the_opposite_of_the_headline(store: Path) -> None:
    kidney_stones(store, 3)
    app = compared(store, a_model="falcon-3", b_model="heron")
    by_tool = {
        row["Tool"]["text"]: row["Verdict"]["text"]
        for row in sheet_of(app, "Parse errors by tool, heron and falcon-3")
    }
    assert by_tool["All tools"] == "Better"
    assert not {"Worse"} & set(by_tool.values())
    rates = {
        row["Rate"]["text"]: row["Verdict on B"]["text"]
        for group in ("arguments", "tool", "turn")
        for row in sheet_of(
            compared(store, a_model="falcon-3", b_model="heron", group=group),
            f"{group.capitalize()}: rates of the two slices",
        )
    }
    assert rates["Parse errors"] == "Better"
    assert len(rates) > 3
    assert not {"Worse", "More", "Less"} & set(rates.values())
    assert rates["Syntax errors"] == "Mix differs", "its plain difference may be that of the work"


@pytest.mark.thorough
def test_of_the_original_numbers_of_patients_nothing_is_decided(store: Path) -> None:
    kidney_stones(store, 1)
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert verdict(app) == (
        "No clear difference between heron and falcon-3: parse errors 16.6% against 22.0%, mix-adjusted "
        "(unadjusted, the other way round: 22.0% against 17.4%); "
        "a difference below about 10 points would not show yet."
    )
    assert re.search(
        r"700 sessions\. About [\d,]+ more sessions on each side would decide a difference as large as "
        r"this one; about [\d,]+ would decide a difference of 2 points\.",
        plain(page_text(app)),
    )


def test_models_without_common_work_get_no_verdict(store: Path) -> None:
    calls = [
        call
        for number in range(40)
        for model, shift, failed, tool in (("falcon-3", 0, 1, "edit"), ("heron", 40, 5, "search"))
        for call in session(number + shift, model, failed, 10, tool=tool)
    ]
    publish(store, small_tables() | {"tool_calls": calls, "diagnostics": []})
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert verdict(app) == (
        "heron against falcon-3: no verdict, they did different work (parse errors 50.0% against 10.0%)."
    )
    assert "They have no kind of work in common." in plain(page_text(app))


@pytest.mark.thorough
def test_six_calls_against_six_are_no_verdict(store: Path) -> None:
    calls = [
        call
        for number in range(6)
        for model, shift, failed in (("falcon-3", 0, 0), ("heron", 40, 1))
        for call in session(number + shift, model, failed, 1)
    ]
    publish(store, small_tables() | {"tool_calls": calls, "diagnostics": []})
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert verdict(app) == ("heron against falcon-3: not enough data (parse errors 100% against 0%).")
    assert "12 sessions. It takes 30 observations and 5 sessions on each side." in plain(page_text(app))


@pytest.mark.thorough
def test_four_sessions_are_too_few_however_many_calls_they_have(store: Path) -> None:
    for sessions, begins in ((4, "heron against falcon-3: not enough data"), (30, "heron is worse")):
        calls = [
            call
            for number in range(sessions)
            for model, shift, failed in (("falcon-3", 0, 1), ("heron", 40, 15))
            for call in session(number + shift, model, failed, 20)
        ]
        publish(store, small_tables() | {"tool_calls": calls, "diagnostics": []}, number=sessions)
        assert verdict(compared(store, a_model="falcon-3", b_model="heron")).startswith(begins)


@pytest.mark.thorough
def test_the_smallest_difference_that_matters_is_in_the_url(store: Path) -> None:
    kidney_stones(store, 3)
    app = compared(store, a_model="falcon-3", b_model="heron")
    assert app.selectbox(key="smallest").value == "2"
    assert verdict(app).startswith("heron is better")
    app.selectbox(key="smallest").set_value("10").run()
    assert not app.exception
    assert app.query_params["smallest"] == "10"
    assert verdict(app).startswith("heron and falcon-3 are equivalent (less than 10 points apart): parse")
    by_tool = sheet_of(app, "Parse errors by tool, heron and falcon-3")
    assert by_tool[0]["Verdict"]["text"] == "Equivalent"
    assert verdict(compared(store, a_model="falcon-3", b_model="heron", smallest="10")) == verdict(app)
    assert verdict(compared(store, a_model="falcon-3", b_model="heron", smallest="3")).startswith("heron is")


@pytest.mark.thorough
def test_one_day_against_another_is_too_little_to_know_how_days_differ(store: Path) -> None:
    calls = [
        call | {"day": day, "ts": f"{day}T10:00:00"}
        for day, shift in (("2026-11-19", 0), ("2026-11-20", 40))
        for number in range(40)
        for call in session(number + shift, "falcon-3", shift // 20, 5)
    ]
    publish(store, small_tables() | {"tool_calls": calls, "diagnostics": []})
    app = compared(store, a_days="2026-11-19", b_days="2026-11-20")
    assert "not enough data, they ran on different days and neither on 5" in verdict(app)


@pytest.mark.thorough
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
    assert any("than 20% of the calls of B" in warning.value for warning in app.warning)


def test_drawing_sessions_anew_is_one_click_away_and_in_the_url(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", show="ways")
    app.toggle(key="anew").set_value(True).run()
    assert not app.exception
    assert app.query_params["anew"] == "yes"
    assert "Where they differ much, trust neither: few sessions decide the result." in page_text(app)


def test_a_rate_that_tasks_do_not_keep_says_which_ones_they_do(store: Path) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", rate="execution", show="ways")
    assert "Task by task: parse errors and the two verdicts on turns only." in page_text(app)
    app = compared(store, a_model="falcon-3", b_model="heron", b_tool="read_file", show="ways")
    assert "a task is tried by a whole session, which has no one tool" in page_text(app)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("rate", ["derived_ok", "recovered", "retried", "salvaged"])
def test_every_kind_of_rate_can_be_compared(store: Path, rate: str) -> None:
    two_models(store)
    app = compared(store, a_model="falcon-3", b_model="heron", rate=rate, show="ways", anew="yes")
    assert not app.error


@pytest.mark.thorough
def test_nothing_to_compare_says_whose_calls_could_not_be_judged(store: Path) -> None:
    calls = [
        *session(1, "falcon-3", 1, 20),
        *session(2, HOSTILE, 0, 5, syntax_seen="none", schema_seen="none"),
    ]
    publish(store, small_tables() | {"tool_calls": calls})
    app = compared(store)
    assert verdict(app).startswith("Nothing to compare: no call of <img")
    assert "\\<img" in app.header[0].value
    assert "Choose another rate, or widen what narrows that slice." in page_text(app)


@pytest.mark.thorough
def test_reset_takes_the_slices_out_of_the_url(store: Path) -> None:
    two_models(store)
    app = compared(store, a_tool="read_file", b_model="heron", success="derived_ok")
    app.button(key="reset").click().run()
    assert not app.exception
    assert "a_tool" not in app.query_params
    assert "success" not in app.query_params
    assert app.query_params["a_model"] == "falcon-3"
