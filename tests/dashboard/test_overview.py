"""The overview claims no more than the logs can tell, and has a door for every number but zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from callgauge.dashboard.components.slice_table import IntervalScale, make_scale
from callgauge.stats import Share
from tests.dashboard.conftest import opened, said
from tests.dashboard.store_fixture import a_call, a_turn, publish, small_tables

BLIND = {"syntax_seen": "failures", "schema_seen": "failures", "outcome": "unmeasured"}


def overview(store: Path, **tables: Any) -> AppTest:
    publish(store, small_tables() | {"diagnostics": []} | tables)
    return opened()


def doors(app: AppTest) -> list[str]:
    """What links say, but for those to the SQL of each card."""
    labels = [str(link.proto.label) for link in app.get("page_link")]
    return [label for label in labels if "Open in SQL" not in label]


def test_nothing_found_where_nothing_could_be_read_is_not_called_clean(store: Path) -> None:
    words = said(overview(store, tool_calls=[a_call(1, **BLIND)]))
    assert "Not measured: these logs keep neither the model's text nor a tool definition." in words


def test_nothing_found_says_in_how_many_calls_and_how_many_are_unmeasured(store: Path) -> None:
    words = said(overview(store, tool_calls=[a_call(1), *(a_call(number, **BLIND) for number in (2, 3, 4))]))
    assert "No findings in the 1 call that could be judged; 75% unmeasured." in words


def test_recorded_and_derived_success_each_have_their_counts_and_interval(small: Path) -> None:
    """Both turns are of one session, which counts as one observation: Wilson (1927) with n = 1."""
    words = said(opened())
    assert "2 / 2 turns  \n95% interval 20.7–100%  \nall measured by the log" in words
    assert "1 / 2 turns  \n95% interval 5.46–94.5%  \nall measured  \n1 of 2 disagree with the log" in words


def test_without_a_turn_that_has_both_verdicts_nothing_is_compared(store: Path) -> None:
    turns = [a_turn(1, recorded_ok=None), a_turn(2, derived_ok=None)]
    app = overview(store, turns=turns)
    assert "Not comparable: no turn has both verdicts" in said(app)
    assert not [label for label in doors(app) if "these turns" in label]


def test_a_number_that_is_zero_has_no_door(store: Path) -> None:
    app = overview(store, tool_calls=[a_call(1)], turns=[a_turn(1)], rejects=[], files=[])
    assert doors(app) == []


def test_mended_calls_that_the_harness_refused_are_counted(store: Path) -> None:
    calls = [a_call(1, outcome="repaired", fault_layer="syntax"), a_call(2, outcome="repaired")]
    assert "1 of them the harness had refused" in said(overview(store, tool_calls=calls))


def test_layers_are_a_share_of_all_calls(small: Path) -> None:
    assert "Share of all 44 calls; a full bar is 100%." in said(opened())


def test_the_codes_beyond_the_first_twelve_are_one_click_away(store: Path) -> None:
    found = {"file_id": 1, "stage": "repair", "severity": "note", "lossy": False}
    many = [found | {"call_id": "c1", "position": n, "code": f"code_{n}"} for n in range(15)]
    app = overview(store, diagnostics=many)
    assert "12 of 15 codes." in said(app)
    app.toggle(key="all_codes").set_value(True).run()
    assert "15 of 15 codes." in said(app)


def test_the_trend_draws_the_newest_days_with_data(store: Path) -> None:
    days = [f"2026-{month:02d}-{day:02d}" for month in (1, 3, 5) for day in range(1, 21)]
    calls = [a_call(number, day=day, ts=f"{day}T10:00:00") for number, day in enumerate(days)]
    assert "Drawn are the 45 newest days with data" in said(overview(store, tool_calls=calls))


def test_counting_is_told_in_sentences_before_the_sql(small: Path) -> None:
    words = said(opened())
    assert "A retry is the same tool called again in a later step of the same turn after a fault" in words
    assert "Unmeasured is what the log cannot tell." in words


def test_a_scale_of_rates_ends_on_a_round_share_and_says_so() -> None:
    assert make_scale([Share(72, 309), Share(2, 263)]).ends() == ("0%", "30%")
    assert make_scale([Share(2, 263)]).ends() == ("0%", "3%")
    assert make_scale([Share(109, 111), Share(100, 113)]).ends() == ("80%", "100%")


def test_what_lies_beyond_a_scale_is_not_pulled_to_its_end() -> None:
    assert IntervalScale(0.0, 0.4).position_of(0.6) > 1
    assert IntervalScale(0.5, 1.0).position_of(0.4) < 0
