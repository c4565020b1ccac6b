"""The Retries page: the funnel, kinds of retries, cost, recovery, lost neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import duckdb
import pytest

from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.metrics.published_store import published_generation
from callgauge.dashboard.pages.retries.losses import describe_blast, lost_beside
from callgauge.stats import Share
from ingest.pipeline.load import load
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish
from tests.dashboard.conftest import opened, said
from tests.dashboard.sheets import sheet_of, sheets, texts

SAMPLES = Path(__file__).parents[2] / "sample_data" / "logs"
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


def test_the_page_says_first_what_became_of_the_chains_and_whether_changing_helps(retried: Path) -> None:
    app = opened(PAGE)
    assert app.header[0].value == (
        "Of 2 chains, 50% recovered. Changed and identical retries cannot be compared: one kind is missing."
    )


def test_the_funnel_shows_who_got_how_far(retried: Path) -> None:
    table = sheets(opened(PAGE, by="attempt"))["Chains by attempt"]
    assert texts(table, 1) == ["2", "1", "1"]
    assert texts(table, 2) == ["0", "0", "1"]
    assert texts(table, 3) == ["1", "0", "0"]


def test_the_funnel_of_one_layer(retried: Path) -> None:
    table = sheets(opened(PAGE, by="attempt", layer="execution"))["Chains by attempt"]
    assert texts(table, 1) == ["1"]


def test_identical_and_changed_retries_are_held_against_each_other(retried: Path) -> None:
    app = opened(PAGE)
    table = sheets(app)["Retries that worked, by kind"]
    assert [(row[0]["text"], row[1]["text"]) for row in table["rows"]] == [
        ("changed arguments", "–"),
        ("identical arguments", "0.0%"),
    ]
    assert "Changed and identical retries cannot be compared: one kind is missing." in said(app)


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


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("identical", "sessions", "words"),
    [
        (
            (4, 40),
            44,
            "Retries with changed arguments work more often than identical ones: 75% against 9.1%.",
        ),
        ((30, 10), 40, "No clear difference between changed and identical arguments: 75% against 75%"),
        ((4, 40), 7, "Too few to say whether changing the arguments helps: 75% against 9.1% worked."),
        ((2, 20), 22, "Too few to say whether changing the arguments helps: 75% against 9.1% worked."),
    ],
)
def test_whether_changing_the_call_helps_is_told_where_both_kinds_have_enough(
    store: Path, identical: tuple[int, int], sessions: int, words: str
) -> None:
    made = [*first_retries("changed", 60, 20, 80), *first_retries("identical", *identical, sessions)]
    publish(store, {"tool_calls": made})
    answer = said(opened(PAGE))
    assert words in answer
    assert "Changed minus identical: " in answer
    assert "A verdict takes 30 observed and 10 sessions of both kinds." in answer


def test_cost_says_of_how_many_it_is_known(retried: Path) -> None:
    table = sheets(opened(PAGE))["Cost of retries"]
    assert [(row[1]["text"], row[3]["text"]) for row in table["rows"]] == [
        ("2.0", "1 / 1"),
        ("240", "1 / 1"),
        ("–", "0 / 1"),
    ]


def test_a_tools_row_leads_to_the_tool_its_chains_and_the_sessions_of_those_that_were_abandoned(
    retried: Path,
) -> None:
    first, second = sheet_of(opened(PAGE), "Chains by tool")
    assert first["Abandoned in"]["href"].startswith("sessions?tool=%3Cimg")
    assert first["Abandoned in"]["href"].endswith("&chain=abandoned")
    assert second["Tool"]["href"] == "tools?tool_open=read_file"
    assert second["Recovered"]["href"] == "calls?tool=read_file&attempt=first&chain=recovered"
    assert second["Abandoned"]["href"] is None
    assert texts(sheets(opened(PAGE, by="model"))["Chains by model"], 3) == ["50%"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "store"
    load([SAMPLES], folder)
    return folder


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("by", ["tool", "model", "layer", "attempt"])
def test_each_number_is_the_number_of_calls_in_the_list_behind_its_link(
    sample: Path, monkeypatch: pytest.MonkeyPatch, by: str, runs_all: bool
) -> None:
    """The quick tier follows every fourth link."""
    monkeypatch.setenv("CALLGAUGE_STORE", str(sample))
    drawn = sheets(opened(PAGE, by=by, days="All days"))
    told = [
        (cell["href"], leading_number(cell))
        for caption in (f"Chains by {by}", "Retries that worked, by kind", "Cost of retries")
        for row in drawn[caption]["rows"]
        for cell in row
        if (cell["href"] or "").startswith("calls")
    ]
    assert len(told) > 20
    followed = told if runs_all else told[::4]
    with duckdb.connect(str(published_generation(str(sample))), read_only=True) as store:
        listed = {href: count_listed(store, href) for href, _ in followed}
    assert followed == [(href, listed[href]) for href, _ in followed]


def leading_number(cell: dict[str, Any]) -> int:
    """Return the count that a cell tells: its number, or k of a rate."""
    text = cell["sub"] if "%" in cell["text"] else cell["text"]
    return int(text.split()[0].replace(",", ""))


def count_listed(store: duckdb.DuckDBPyConnection, href: str) -> int:
    """Return the number of rows of the list of calls that a link opens, with days that hold all calls."""
    keys = dict(parse_qsl(href.partition("?")[2]))
    first, more, last = keys.get("attempts", "").partition("-")
    asked = {
        "attempt": keys["attempt"],
        "chain": keys.get("chain"),
        "fault": keys.get("fault"),
        "first_retry": keys.get("first_retry"),
        "attempts_from": int(first) if first else None,
        "attempts_to": None if more or not first or first == "10" else int(first),
        "models": [keys["model"]] if "model" in keys else None,
        "tools": [keys["tool"]] if "tool" in keys else None,
    }
    assert not last
    rows = answer_metric(store, "calls", asked | {"limit": 1, "offset": 0})
    return int(rows.found.iloc[0]) if len(rows) else 0


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
        "60.0% (60 / 100) of the good calls beside a bad one were lost, 1.2% (3 / 260) where none was bad: "
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
    assert told.startswith("8.0% (8 / 100) of the good calls beside a bad one were lost, 6.2% (16 / 260)")
    assert told.endswith("95%. No clear difference.")


def test_without_a_bad_step_there_is_nothing_to_tell() -> None:
    assert "nothing to tell" in describe_blast([a_model(bad_steps=0)])
