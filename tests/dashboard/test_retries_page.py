"""The Retries page: the funnel, kinds of retries, cost, recovery, lost neighbours, verdicts that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callgauge.dashboard.pages.retries.losses import describe_blast
from tests.dashboard.conftest import opened, said
from tests.dashboard.sheets import sheets, texts
from tests.dashboard.store_fixture import HOSTILE, a_call, a_turn, publish

PAGE = "callgauge/dashboard/pages/retries/page.py"


@pytest.fixture
def retried(store: Path) -> Path:
    """A chain that recovers at the third attempt, and one that is given up at once."""
    chain = {"chain_id": "c1", "chain_outcome": "recovered"}
    spent = {"input_tokens": 100, "output_tokens": 20}
    publish(
        store,
        {
            "tool_calls": [
                a_call(1, fault_layer="schema", attempt=1, **chain),
                a_call(2, fault_layer="schema", attempt=2, retry_kind="identical", **chain, **spent),
                a_call(3, attempt=3, retry_kind="changed", **chain, **spent),
                a_call(
                    4,
                    fault_layer="execution",
                    attempt=1,
                    chain_id="c4",
                    chain_outcome="abandoned",
                    tool=HOSTILE,
                ),
            ],
            "turns": [a_turn(1, recorded_status=HOSTILE, derived_ok=False, derived_reason="chain_abandoned")],
        },
    )
    return store


def test_the_funnel_shows_who_got_how_far(retried: Path) -> None:
    table = sheets(opened(PAGE))["Chains by attempt"]
    assert texts(table, 1) == ["2", "1", "1"]
    assert texts(table, 2) == ["0", "0", "1"]
    assert texts(table, 3) == ["1", "0", "0"]


def test_the_funnel_of_one_layer(retried: Path) -> None:
    table = sheets(opened(PAGE, layer="execution"))["Chains by attempt"]
    assert texts(table, 1) == ["1"]


def test_identical_and_changed_retries_are_held_against_each_other(retried: Path) -> None:
    app = opened(PAGE)
    table = sheets(app)["Retries that worked, by kind"]
    assert [(row[0]["text"], row[1]["text"]) for row in table["rows"]] == [
        ("changed arguments", "–"),
        ("identical arguments", "0%"),
    ]
    assert "it takes first retries with changed and with identical arguments" in said(app)


def test_cost_says_of_how_many_it_is_known(retried: Path) -> None:
    table = sheets(opened(PAGE))["Cost of retries"]
    assert [(row[1]["text"], row[3]["text"]) for row in table["rows"]] == [
        ("2.0", "1 / 1"),
        ("240", "1 / 1"),
        ("–", "0 / 1"),
    ]


def test_recovery_by_tool_leads_to_the_tool(retried: Path) -> None:
    found = sheets(opened(PAGE))
    table = found["Rates by tool"]
    assert texts(table, 0)[0] == "read_file"
    assert table["rows"][0][0]["href"] == "tools?tool_open=read_file"
    assert texts(found["Rates by model"], 1) == ["50%"]


def test_turns_with_two_verdicts_lead_to_their_session(retried: Path) -> None:
    [row] = sheets(opened(PAGE))["Turns with two verdicts"]["rows"]
    assert [row[2]["text"], row[3]["text"], row[3]["sub"]] == [
        "ok",
        "not ok",
        "a chain of attempts was abandoned",
    ]
    assert row[6]["href"] == "sessions?session=s1&turn=1"


def test_a_store_without_faults_says_which_filter_to_widen_or_what_to_load(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)], "turns": [a_turn(1)]})
    assert "No calls that went wrong here" in said(opened(PAGE))


def a_model(**said: int) -> dict[Any, Any]:
    return {
        "model": "m",
        "steps": 100,
        "calls": 400,
        "bad": 0,
        "lost": 3,
        "others": 0,
        "others_lost": 0,
    } | said


def test_the_blast_of_a_bad_call_is_told_against_steps_without_one() -> None:
    told = describe_blast([a_model(bad_steps=40, bad=40, lost=63, others=100, others_lost=60)])
    assert told.startswith(
        "60.0% (60 / 100) of the good calls beside a bad one were lost, 1.15% (3 / 260) where"
    )
    assert "Not decisive" not in told


def test_without_a_bad_step_there_is_nothing_to_tell() -> None:
    assert "nothing to tell" in describe_blast([a_model(bad_steps=0)])
