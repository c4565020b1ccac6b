"""Tests the tab Retries of the page Errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.metrics.published_store import published_generation
from callgauge.dashboard.pages.errors.losses import describe_blast, lost_beside
from callgauge.serving.moved_pages import find_page
from callgauge.stats import Share
from ingest.pipeline.load import load
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheet_of, sheets, texts

CAPTIONS = {"tool": "tool", "model": "model", "layer": "stage", "attempt": "attempt"}
SAMPLES = Path(__file__).parents[2] / "sample_data" / "logs"
PAGE = "callgauge/dashboard/pages/errors/page.py"


def opened_tab(**query: str) -> AppTest:
    return opened(PAGE, tab="retries", **query)


def headings(app: AppTest) -> list[str]:
    """Return the headings as plain text. The first heading is the main sentence."""
    return [str(header.value).replace("\\", "") for header in app.header]


@pytest.fixture
def retried(store: Path) -> Path:
    """Return a store with two retry sequences. One recovers at the third attempt. The other is given up after
    the first attempt.
    """
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


def test_few_data_name_no_tool_and_say_what_a_retry_fixed_and_took(retried: Path) -> None:
    assert headings(opened_tab())[0] == (
        "Not enough data to say which tool is given up on most: it takes retry sequences with "
        "30 observations and 10 sessions. Overall, a retry fixed 50% of failures (1 of 2 retry sequences). "
        "Retries took 2 model calls and 240 tokens."
    )


def test_the_funnel_shows_who_got_how_far(retried: Path) -> None:
    table = sheets(opened_tab(by="attempt"))["Retry sequences by attempt"]
    assert texts(table, 1) == ["2", "1", "1"]
    assert texts(table, 2) == ["0", "0", "1"]
    assert texts(table, 3) == ["1", "0", "0"]


def test_the_funnel_of_one_layer(retried: Path) -> None:
    table = sheets(opened_tab(by="attempt", layer="execution"))["Retry sequences by attempt"]
    assert texts(table, 1) == ["1"]


def test_identical_and_changed_retries_are_held_against_each_other(retried: Path) -> None:
    app = opened_tab(costs="1")
    table = sheets(app)["Retries that worked, by kind"]
    assert [(row[0]["text"], row[1]["text"]) for row in table["rows"]] == [
        ("changed arguments", "–"),
        ("identical arguments", "0.0%"),
    ]
    assert "Changed and identical retries cannot be compared: one kind does not occur." in page_text(app)


def first_retries(kind: str, worked: int, failed: int, sessions: int) -> list[dict[str, Any]]:
    """Return retry sequences of two attempts. `kind` is the kind of the second attempt. The sequences are
    spread over this number of sessions.
    """
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
        ((4, 40), 7, "Not enough data to say whether changed arguments help: 75% against 9.1% worked."),
        ((2, 20), 22, "Not enough data to say whether changed arguments help: 75% against 9.1% worked."),
    ],
)
def test_whether_changing_the_call_helps_is_told_where_both_kinds_have_enough(
    store: Path, identical: tuple[int, int], sessions: int, words: str
) -> None:
    made = [*first_retries("changed", 60, 20, 80), *first_retries("identical", *identical, sessions)]
    publish(store, {"tool_calls": made})
    answer = page_text(opened_tab(costs="1"))
    assert words in answer
    assert "The difference is " in answer
    assert "A verdict takes 30 observations and 10 sessions of both kinds." in answer


def test_cost_says_of_how_many_it_is_known(retried: Path) -> None:
    table = sheets(opened_tab(costs="1"))["Cost of retries"]
    assert [(row[1]["text"], row[3]["text"]) for row in table["rows"]] == [
        ("2.0", "1 / 1"),
        ("240", "1 / 1"),
        ("–", "0 / 1"),
    ]


def test_a_tools_row_leads_to_the_tool_and_to_its_sequences(retried: Path) -> None:
    first, second = sheet_of(opened_tab(), "Retry sequences by tool")
    assert first["Given up"]["href"].startswith("calls?tool=%3Cimg")
    assert first["Given up"]["href"].endswith("&attempt=first&chain=abandoned")
    assert second["Tool"]["href"] == "tools?tool_open=read_file"
    assert (second["Given up"]["text"], second["Given up"]["href"]) == ("0%", None)
    assert second["Recovered"]["href"] == "calls?tool=read_file&attempt=first&chain=recovered"
    assert (second["Attempts each"]["text"], second["Tokens each"]["text"]) == ("3.00", "240")
    assert texts(sheets(opened_tab(by="model"))["Retry sequences by model"], 1) == ["50%"]


def sequences(tool: str, recovered: int, given_up: int) -> list[dict[str, Any]]:
    """Return the retry sequences of one tool, each in its own session. Sequences that were given up have
    three attempts.
    """
    made = []
    for number in range(recovered + given_up):
        name = f"{tool}{number}"
        attempts = 2 if number < recovered else 3
        chain = {
            "tool": tool,
            "chain_id": f"{name}-1",
            "chain_outcome": "recovered" if number < recovered else "abandoned",
            "session_id": name,
            "turn_id": f"{name}:1",
        }
        made += [
            a_call(
                10 * number + attempt,
                call_id=f"{name}-{attempt}",
                attempt=attempt,
                step=attempt,
                ts=f"2026-11-20T10:{number % 60:02}:{attempt:02}",
                retry_kind="changed" if attempt > 1 else None,
                fault_layer=None if attempt == 2 and number < recovered else "schema",
                **chain,
            )
            for attempt in range(1, attempts + 1)
        ]
    return made


def test_the_tool_given_up_on_most_is_named_leads_the_table_and_has_three_examples(store: Path) -> None:
    made = [
        *sequences("search", recovered=170, given_up=80),
        *sequences("write", recovered=20, given_up=40),
        *sequences("rare", recovered=0, given_up=3),
    ]
    publish(store, {"tool_calls": made})
    app = opened_tab()
    assert (
        app.header[0]
        .value.replace("\\", "")
        .startswith(
            "write is given up on most: in 67% of its retry sequences (40 of 60; the other tool 32%). "
            "Overall, a retry fixed 60.7% of failures (190 of 313 retry sequences)."
        )
    )
    table = sheets(app)["Retry sequences by tool"]
    # "rare" was given up in 3 of 3 sequences. This is too little data for the first row.
    assert texts(table, 0) == ["write", "search", "rare"]
    assert "Given up: write" in headings(app)
    examples = sheet_of(app, "Examples of sequences given up")
    newest = ["write59", "write58", "write57"]
    assert [row["Attempt 3"]["href"] for row in examples] == [f"calls?call={name}-3" for name in newest]
    assert [row["Attempt 1"]["text"] for row in examples] == ["Schema"] * 3
    assert examples[0]["Session"]["href"] == "sessions?session=write59&call=write59-1"


@pytest.mark.thorough
def test_without_a_clear_tool_the_examples_are_of_any(store: Path) -> None:
    publish(store, {"tool_calls": [*sequences("a", 60, 40), *sequences("b", 58, 42)]})
    app = opened_tab()
    assert headings(app)[0].startswith("No tool is clearly given up on most")
    assert "Given up: newest examples" in headings(app)
    assert len(sheet_of(app, "Examples of sequences given up")) == 3


def test_where_nothing_was_given_up_there_are_no_examples(store: Path) -> None:
    publish(store, {"tool_calls": [*sequences("a", 60, 0), *sequences("b", 50, 0)]})
    app = opened_tab()
    assert headings(app)[0].startswith(
        "None of the 2 tools with enough data was given up on: all 110 retry sequences recovered."
    )
    assert "Examples of sequences given up" not in sheets(app)


@pytest.mark.parametrize("query", [[], [("days", "All days"), ("by", "model")]])
def test_an_old_address_opens_the_tab(query: list[tuple[str, str]]) -> None:
    assert find_page("retries", query) == ("errors", [*query, ("tab", "retries")])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "store"
    load([SAMPLES], folder)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("by", ["tool", "model", "layer", "attempt"])
def test_each_number_is_the_number_of_calls_in_the_list_behind_its_link(
    sample: Path, monkeypatch: pytest.MonkeyPatch, by: str, runs_all: bool
) -> None:
    """Ordinary tests follow every fourth link."""
    monkeypatch.setenv("CALLGAUGE_STORE", str(sample))
    drawn = sheets(opened_tab(by=by, days="All days", costs="1"))
    cells = [
        (cell["href"], leading_number(cell))
        for caption in (
            f"Retry sequences by {CAPTIONS[by]}",
            "Retries that worked, by kind",
            "Cost of retries",
        )
        for row in drawn[caption]["rows"]
        for cell in row
        if (cell["href"] or "").startswith("calls")
    ]
    assert len(cells) > 20
    followed = cells if runs_all else cells[::4]
    with duckdb.connect(str(published_generation(str(sample))), read_only=True) as store:
        listed = {href: count_listed(store, href) for href, _ in followed}
    assert followed == [(href, listed[href]) for href, _ in followed]


def leading_number(cell: dict[str, Any]) -> int:
    """Return the count in a cell. If the cell shows a rate k / n, the count is k."""
    text = cell["sub"] if "%" in cell["text"] else cell["text"]
    return int(text.split()[0].replace(",", ""))


def count_listed(store: duckdb.DuckDBPyConnection, href: str) -> int:
    """Follow a link to the list of calls. Return the number of calls in the list."""
    keys = dict(parse_qsl(href.partition("?")[2]))
    first, more, last = keys.get("attempts", "").partition("-")
    query = {
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
    rows = answer_metric(store, "calls", query | {"limit": 1, "offset": 0})
    return int(rows.found.iloc[0]) if len(rows) else 0


def test_a_store_without_faults_says_which_filter_to_widen_or_what_to_load(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)], "turns": [a_turn(1)]})
    assert "No failed calls here" in page_text(opened_tab())


_OF_GROUPS = ("calls", "bad", "lost", "others", "others_lost")


def a_model(*, groups: int = 25, **fields: int) -> dict[Any, Any]:
    """Return a row of the metric `parallel`, with calls spread evenly over this number of session groups."""
    row: dict[Any, Any] = {
        "model": "m",
        "steps": 100,
        "calls": 400,
        "bad": 0,
        "lost": 3,
        "others": 0,
        "others_lost": 0,
    } | fields
    by_group = {
        f"group_{name}": [row[name] * (n + 1) // groups - row[name] * n // groups for n in range(groups)]
        for name in _OF_GROUPS
    }
    return row | {"group_ids": list(range(groups))} | by_group


def test_calls_lost_next_to_a_failed_one_are_compared_with_other_steps() -> None:
    sentences = describe_blast([a_model(bad_steps=40, bad=40, lost=63, others=100, others_lost=60)])
    assert sentences.startswith(
        "60.0% (60 / 100) of the valid calls next to a failed one were lost, 1.2% (3 / 260) where no call "
        "failed. The difference is +58.8 points (+"
    )
    assert sentences.endswith("), 95%.")


def test_good_calls_of_several_models_are_added_up_by_group() -> None:
    first, other = (
        a_model(bad_steps=20, bad=20, lost=33, others=50, others_lost=30, calls=200),
        a_model(bad_steps=20, bad=20, lost=30, others=50, others_lost=30, calls=200),
    )
    near, far = lost_beside([first, other])
    assert (near, far) == (Share(60, 100), Share(3, 260))
    assert near.by_group is not None
    assert near.by_group.sum(axis=1).tolist() == [60, 100]
    assert (near.by_group[1] > 0).sum() == 25


def test_what_is_lost_in_few_sessions_is_not_judged() -> None:
    text = describe_blast([a_model(groups=5, bad_steps=40, bad=40, lost=63, others=100, others_lost=60)])
    assert text.endswith(" Not enough data for a verdict: it takes 30 observations and 10 sessions of both.")


def test_a_difference_that_may_be_chance_is_not_decided() -> None:
    text = describe_blast([a_model(bad_steps=40, bad=40, lost=24, others=100, others_lost=8)])
    assert text.startswith(
        "8.0% (8 / 100) of the valid calls next to a failed one were lost, 6.2% (16 / 260)"
    )
    assert text.endswith("95%. No clear difference.")


def test_without_a_bad_step_there_is_nothing_to_tell() -> None:
    assert describe_blast([a_model(bad_steps=0)]) == "No call failed in the 100 steps with several calls."
