"""The Retries page: the funnel, kinds of retries, cost, recovery, lost neighbours, verdicts that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callgauge.dashboard.pages.retries.losses import describe_blast, lost_beside
from callgauge.stats import Share
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
        ("identical arguments", "0.0%"),
    ]
    assert "it takes first retries with changed and with identical arguments" in said(app)


def first_retries(kind: str, worked: int, failed: int, sessions: int) -> list[dict[str, Any]]:
    """Return chains of two attempts, the second of this kind, spread over so many sessions."""
    made = []
    for number in range(worked + failed):
        name = f"{kind}{number}"
        chain = {
            "chain_id": name,
            "chain_outcome": "recovered" if number < worked else "abandoned",
            "session_id": f"{kind}-s{number % sessions}",
            "turn_id": f"{name}:1",
        }
        fault = {} if number < worked else {"fault_layer": "execution"}
        made += [
            a_call(2 * number, call_id=name, fault_layer="schema", attempt=1, **chain),
            a_call(2 * number + 1, call_id=f"{name}b", attempt=2, retry_kind=kind, **chain, **fault),
        ]
    return made


@pytest.mark.parametrize(
    ("identical", "sessions", "words"),
    [
        ((4, 40), 44, "A changed retry works more often: difference +65.9 points (+"),
        ((30, 10), 40, "Not decided: difference 0 points (−"),
        ((4, 40), 7, "Too few to judge: difference +65.9 points (+"),
        ((2, 20), 22, "Too few to judge: difference +65.9 points (+"),
    ],
)
def test_whether_changing_the_call_helps_is_told_where_both_kinds_have_enough(
    store: Path, identical: tuple[int, int], sessions: int, words: str
) -> None:
    made = [*first_retries("changed", 60, 20, 80), *first_retries("identical", *identical, sessions)]
    publish(store, {"tool_calls": made})
    answer = said(opened(PAGE))
    assert words in answer
    assert ("It takes 30 observed and 10 sessions of both kinds." in answer) == words.startswith("Too few")


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


_OF_GROUPS = ("calls", "bad", "lost", "others", "others_lost")


def a_model(*, groups: int = 25, **said: int) -> dict[Any, Any]:
    """Return a row of the metric `parallel`; its calls are spread evenly over so many groups of sessions."""
    row: dict[Any, Any] = {
        "model": "m",
        "steps": 100,
        "calls": 400,
        "bad": 0,
        "lost": 3,
        "others": 0,
        "others_lost": 0,
    } | said
    by_group = {
        f"group_{name}": [row[name] * (n + 1) // groups - row[name] * n // groups for n in range(groups)]
        for name in _OF_GROUPS
    }
    return row | {"group_ids": list(range(groups))} | by_group


def test_the_blast_of_a_bad_call_is_told_against_steps_without_one() -> None:
    told = describe_blast([a_model(bad_steps=40, bad=40, lost=63, others=100, others_lost=60)])
    assert told.startswith(
        "60.0% (60 / 100) of the good calls beside a bad one were lost, 1.15% (3 / 260) where none was bad: "
        "difference +58.8 points (+"
    )
    assert told.endswith("), 95%.")


def test_good_calls_of_several_models_are_added_up_by_group() -> None:
    one, other = (
        a_model(bad_steps=20, bad=20, lost=33, others=50, others_lost=30, calls=200),
        a_model(bad_steps=20, bad=20, lost=30, others=50, others_lost=30, calls=200),
    )
    near, far = lost_beside([one, other])
    assert (near, far) == (Share(60, 100), Share(3, 260))
    assert near.by_group is not None
    assert near.by_group.sum(axis=1).tolist() == [60, 100]
    assert (near.by_group[1] > 0).sum() == 25


def test_what_is_lost_in_few_sessions_is_not_judged() -> None:
    told = describe_blast([a_model(groups=5, bad_steps=40, bad=40, lost=63, others=100, others_lost=60)])
    assert told.endswith(" Too few to judge: it takes 30 observed and 10 sessions of both.")


def test_a_difference_that_may_be_chance_is_not_decided() -> None:
    told = describe_blast([a_model(bad_steps=40, bad=40, lost=24, others=100, others_lost=8)])
    assert told.startswith("8.00% (8 / 100) of the good calls beside a bad one were lost, 6.15% (16 / 260)")
    assert told.endswith("95%. Not decided.")


def test_without_a_bad_step_there_is_nothing_to_tell() -> None:
    assert "nothing to tell" in describe_blast([a_model(bad_steps=0)])
