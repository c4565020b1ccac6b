"""Tests the cost of turns on the pages Models and Compare."""

from __future__ import annotations

import json
from collections.abc import Hashable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from callgauge.analysis.measures.costs import Cost, MeanCost, make_cost, write_parameter
from callgauge.analysis.wording import money, money_places
from callgauge.dashboard.components.money.cells import (
    make_cells,
    per_completed_cell,
    per_turn_cell,
    retries_cell,
    total_cell,
)
from callgauge.dashboard.components.money.cost_chart import CostPoint, draw_cost_chart, find_front
from callgauge.memory.memory_file import FILE
from callgauge.memory.records import ModelPrice
from callgauge.memory.team_memory import TeamMemory
from callgauge.prices import PriceList
from callgauge.stats import Interval, Share
from tests.analysis.store_fixture import HOSTILE, a_turn, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls, sheet_of

MODELS = "callgauge/dashboard/pages/models/page.py"
COMPARE = "callgauge/dashboard/pages/compare/page.py"
TABLE = "What turns cost, by model"
NOTHING = np.zeros(50)


def turns(model: str, size: int, completed: int, **fields: Any) -> list[dict[str, Any]]:
    """Return turns, each in its own session. A turn has one call, 1,000,000 input tokens and 100,000 output
    tokens.
    """
    defaults = {
        "steps": 1, "counted_steps": 1, "counted_input": 1_000_000, "counted_cached": 0,
        "counted_cache_write": 0, "counted_output": 100_000,
    }  # fmt: skip
    return [
        a_turn(
            number,
            **{**defaults, **fields},
            model=model,
            session_id=f"{model}{number}",
            turn_id=f"{model}{number}",
            recorded_ok=number < completed,
            derived_ok=None,
        )
        for number in range(size)
    ]


def price(model: str, amount: float, day: date = date(2026, 1, 1), currency: str = "USD") -> ModelPrice:
    return ModelPrice(model, day, amount, 10 * amount, currency=currency)


@pytest.fixture
def priced(store: Path) -> Path:
    rows = [
        *turns("falcon", 40, 20),
        *turns(HOSTILE, 40, 40),
        *turns("heron", 40, 40, counted_steps=0, counted_input=0, counted_output=0),
        *turns("new", 3, 3),
    ]
    made = [call for model in ("falcon", HOSTILE, "heron") for call in calls(40, 0, model=model)]
    publish(store, {"tool_calls": made, "turns": rows})
    TeamMemory(store).replace_prices([price("falcon", 1), price(HOSTILE, 3), price("heron", 1)])
    return store


def cost(**fields: Any) -> Cost:
    row: dict[Hashable, Any] = {
        "slice": "owl", "turns": 4, "calls": 9, "told_calls": 6, "priced_calls": 5, "amount": 5.0,
        "reported": 3, "judged": 3, "retry_calls": 0, "retry_priced": 0, "retry_amount": None,
        "group_ids": [3, 9], "group_priced_turns": [2, 2], "group_turns_amount": [1.0, 3.0],
        "group_completed": [1, 1], "group_judged_amount": [1.0, 3.0],
    }  # fmt: skip
    return make_cost(row | fields, "USD")


def test_the_models_page_tells_cost_per_turn_and_per_successful_turn_beside_what_is_unpriced(
    priced: Path,
) -> None:
    rows = {row["Model"]["text"]: row for row in sheet_of(opened(MODELS, tab="cost"), TABLE)}
    falcon = rows["falcon"]
    assert (falcon["Cost / turn"]["text"], falcon["Cost / success"]["text"]) == ("$2.00", "$4.00")
    assert falcon["Cost / success"]["title"] == "20 / 40 priced turns succeeded; reported by the log"
    assert (falcon["Cost"]["text"], falcon["Cost"]["sub"]) == ("$80.00", None)
    assert falcon["Of retries"]["text"] == "none"
    heron = rows["heron"]
    assert [heron[name]["text"] for name in ("Cost", "Cost / turn", "Cost / success")] == ["–"] * 3
    assert heron["Cost"]["sub"] == "unpriced 40 of 40 model calls"
    assert heron["Cost / turn"]["title"] == "Unpriced of 40 model calls: 40 without tokens in the log"
    assert rows["new"]["Cost / turn"]["title"] == "Unpriced of 3 model calls: 3 without a price on their day"


@pytest.mark.thorough
def test_a_hardly_priced_model_is_not_in_the_chart_of_cost_against_success(store: Path) -> None:
    untold = a_turn(
        99, model="falcon", steps=1000, counted_steps=0, session_id="long", turn_id="long", recorded_ok=True
    )
    publish(store, {"tool_calls": calls(9, 0, model="owl"), "turns": [*turns("falcon", 40, 20), untold]})
    TeamMemory(store).replace_prices([price("falcon", 1)])
    app = opened(MODELS, tab="cost")
    assert "With under a fifth of the model calls priced: 1." in page_text(app)
    assert "Too little to draw" in page_text(app)
    (row,) = (row for row in sheet_of(app, TABLE) if row["Model"]["text"] == "falcon")
    assert (row["Cost / turn"]["text"], row["Cost"]["pale"]) == ("–", True)


def test_the_ranking_has_the_same_amounts(priced: Path) -> None:
    rows = {row["Model"]["text"]: row for row in sheet_of(opened(MODELS), "Parse errors by model")}
    assert rows["falcon"]["Cost / success"]["text"] == "$4.00"
    assert rows["heron"]["Cost / success"]["text"] == "–"


def test_one_sentence_says_which_models_succeed_most_for_their_money(priced: Path) -> None:
    text = page_text(opened(MODELS, tab="cost")).replace("\\", "")
    assert "Best value, from the cheapest to the most successful: falcon ($2.00 a turn, 50%), <img" in text
    assert "($6.00 a turn, 100%)" in text


@pytest.mark.thorough
def test_the_price_of_a_day_is_that_of_the_turns_day(store: Path) -> None:
    publish(store, {"tool_calls": calls(40, 0, model="falcon"), "turns": [
        *turns("falcon", 10, 10),
        *turns("falcon", 10, 10, day="2026-11-21"),
        *turns("falcon", 10, 10, day=None),
    ]})  # fmt: skip
    TeamMemory(store).replace_prices(
        [price("falcon", 1, date(2026, 11, 20)), price("falcon", 5, date(2026, 11, 21))]
    )
    (row,) = sheet_of(opened(MODELS, tab="cost", days="all"), TABLE)
    assert (row["Cost"]["text"], row["Cost"]["sub"]) == ("$120.00", "unpriced 10 of 30 model calls")


@pytest.mark.thorough
def test_without_a_price_the_command_is_said(store: Path) -> None:
    publish(store, {"tool_calls": calls(40, 0, model="falcon"), "turns": turns("falcon", 40, 40)})
    app = opened(MODELS, tab="cost")
    assert "callgauge prices FILE --store DIR" in page_text(app)
    (row,) = sheet_of(opened(MODELS), "Parse errors by model")
    assert row["Cost / success"]["text"] == "–"


def test_the_prices_in_use_say_whose_they_are_and_how_they_were_matched(store: Path) -> None:
    models = ("acme/falcon-20261101", "gpt-4o", "heron")
    publish(store, {"tool_calls": [call for model in models for call in calls(5, 0, model=model)]})
    TeamMemory(store).replace_prices([price("falcon", 1)])
    app = opened(MODELS, tab="cost", price_list="1")
    rows = sheet_of(app, "Prices of the models in the store")
    prices = [(row["Model"]["text"], row["Whose"]["text"], row["Matched by"]["text"]) for row in rows]
    assert prices == [
        ("acme/falcon-20261101", "the team's", "without provider and date"),
        ("gpt-4o", "ours", "exact name"),
        ("gpt-4o", "ours", "exact name"),
        ("heron", "no price", "–"),
    ]


@pytest.mark.thorough
def test_another_currency_leaves_ours_out_and_is_written_everywhere(store: Path) -> None:
    both = ("falcon", "gpt-4o")
    publish(store, {
        "tool_calls": [call for model in both for call in calls(40, 0, model=model)],
        "turns": [turn for model in both for turn in turns(model, 40, 40)],
    })  # fmt: skip
    TeamMemory(store).replace_prices([price("falcon", 1, currency="CHF")])
    rows = {row["Model"]["text"]: row for row in sheet_of(opened(MODELS, tab="cost"), TABLE)}
    assert rows["falcon"]["Cost"]["text"] == "CHF 80.00"
    assert rows["gpt-4o"]["Cost"]["sub"] == "unpriced 40 of 40 model calls"


def test_a_broken_memory_is_said_in_the_card(priced: Path) -> None:
    (priced / FILE).write_bytes(b"no database" * 1000)
    app = opened(MODELS, tab="cost")
    assert "cannot be read or written" in "".join(str(error.value) for error in app.error)


def test_the_parameter_of_the_metric_holds_each_price_with_its_days() -> None:
    price_list = PriceList([price("owl", 2), ModelPrice("owl", date(2026, 6, 1), 1, 5, 0.1, 1.25)])
    first, second = json.loads(write_parameter([price_list.match("acme/owl"), None]))
    assert (first["model"], first["from_day"], first["to_day"]) == ("acme/owl", "2026-01-01", "2026-06-01")
    # cached input has the same price as other input
    assert (first["cached_input"], first["cache_write"]) == (2, 2)
    assert (second["to_day"], second["cached_input"], second["cache_write"]) == (None, 0.1, 1.25)


def test_a_mean_is_over_turns_that_are_priced_and_without_an_interval_from_few_sessions() -> None:
    mean_cost = cost()
    assert mean_cost.per_turn is not None
    assert mean_cost.per_completed is not None
    assert (mean_cost.per_turn.amount, mean_cost.per_turn.turns, mean_cost.per_turn.interval) == (
        1.0,
        4,
        None,
    )
    assert (mean_cost.per_completed.amount, mean_cost.per_completed.turns) == (2.0, 2)
    cell = per_turn_cell(mean_cost, 2)
    assert (cell.text, cell.sub, cell.pale) == ("$1.00", "no interval", True)


def test_no_successful_turn_has_no_cost_of_one() -> None:
    cell = per_completed_cell(cost(group_completed=[0, 0]), 2)
    assert (cell.text, cell.order, cell.title) == (
        "none succeeded",
        None,
        "0 / 3 priced turns succeeded; reported by the log",
    )


def test_of_hardly_priced_calls_no_mean_is_shown_and_the_sum_is_pale() -> None:
    hardly = cost(priced_calls=1)
    assert not hardly.is_priced_enough
    for make in (per_turn_cell, per_completed_cell):
        cell = make(hardly, 2)
        assert (cell.text, cell.sub, cell.order, cell.pale) == ("–", "too few priced", None, True)
    assert total_cell(hardly, 2).pale
    assert not total_cell(cost(priced_calls=2), 2).pale


def test_both_ends_of_an_interval_have_the_same_decimals_and_none_is_zero() -> None:
    groups = list(range(20))
    amounts = [0.0001, 0.0006] * 10
    counts = {"group_ids": groups, "group_priced_turns": [2] * 20, "group_turns_amount": amounts}
    judged = {"group_completed": [1] * 20, "group_judged_amount": amounts}
    low, high = (per_turn_cell(cost(**counts, **judged), 3).sub or "").split("–")
    assert not low.startswith("<")
    assert len(low.removeprefix("$")) == len(high)
    assert float(low.removeprefix("$")) > 0 < float(high)


def test_retries_are_told_with_their_share_and_what_of_them_is_unpriced() -> None:
    assert retries_cell(cost(), 2).text == "none"
    cell = retries_cell(cost(retry_calls=4, retry_priced=3, retry_amount=1.0), 2)
    assert (cell.text, cell.sub) == ("$1.00", "20% of the cost\nunpriced 1 of 4 model calls")
    assert (retries_cell(cost(retry_calls=4), 2).text, retries_cell(cost(retry_calls=4), 2).order) == (
        "–",
        None,
    )


def test_a_files_row_holds_the_amount_and_what_is_unpriced_as_numbers() -> None:
    assert total_cell(cost(), 2).values == {"": 5.0, "unpriced calls": 4, "calls": 9}
    assert total_cell(cost(amount=None, priced_calls=0), 2).values == {
        "": None,
        "unpriced calls": 9,
        "calls": 9,
    }


def test_amounts_of_a_column_have_the_same_decimals() -> None:
    several = [cost(amount=amount) for amount in (3.64182, 0.1421, 0.0005)]
    assert [cell.text for cell in make_cells(several, total_cell)] == ["$3.64", "$0.14", "<$0.01"]


@pytest.mark.parametrize(
    ("amount", "places"), [(0.0, 2), (12.0, 2), (0.5, 2), (0.03, 3), (0.0012, 4), (0.00004, 5), (1e-9, 5)]
)
def test_two_digits_of_an_amount_are_shown(amount: float, places: int) -> None:
    assert money_places(amount) == places


def test_an_amount_is_written_in_its_currency() -> None:
    assert money(1234.5, "USD", 2) == "$1,234.50"
    assert money(0.0004, "EUR", 2) == "<€0.01"
    assert money(0.0, "XYZ", 2) == "XYZ 0.00"


def point(name: str, amount: float, k: int, n: int = 100) -> CostPoint:
    return CostPoint(
        name, MeanCost(amount, n, Interval(amount / 2, 2 * amount), (NOTHING, NOTHING)), Share(k, n)
    )


def test_the_front_has_the_points_than_which_none_is_cheaper_and_succeeds_more() -> None:
    points = [
        point("dear", 9, 99),
        point("cheap", 1, 50),
        point("worse", 2, 40),
        point("twin", 1, 45),
        point("even", 9, 98),
    ]
    assert [point.name for point in find_front(points)] == ["cheap", "dear"]


def test_the_chart_is_logarithmic_where_amounts_are_far_apart_and_log_text_stays_text() -> None:
    points = [point(HOSTILE, 0.001, 50), point("dear", 1.0, 99)]
    figure = draw_cost_chart(points, find_front(points), "EUR", "Turn success")
    axis = figure["layout"]["xaxis"]
    assert (axis["type"], axis["title"]["text"]) == ("log", "Cost per turn, EUR, logarithmic")
    assert "<img" not in json.dumps(figure)
    near = draw_cost_chart([point("a", 1, 50), point("b", 2, 40)], [], "EUR", "Turn success")
    assert "type" not in near["layout"]["xaxis"]


def test_compare_says_how_many_times_as_much_a_successful_turn_costs(priced: Path) -> None:
    query = {"a_model": "falcon", "b_model": HOSTILE, "show": "rates", "group": "cost"}
    app = opened(COMPARE, **query)
    assert "A successful turn costs 1.50 times as much in B as in A (1." in page_text(app)
    first, second = sheet_of(app, "What turns cost in both slices, in money")
    assert (first["Cost / success"]["text"], second["Cost / success"]["text"]) == ("$4.00", "$6.00")


def test_compare_says_that_nothing_is_priced(priced: Path) -> None:
    TeamMemory(priced).replace_prices([])
    app = opened(COMPARE, a_model="falcon", b_model=HOSTILE, show="rates", group="cost")
    assert "callgauge prices FILE --store DIR" in page_text(app)
