"""Tests that the Overview shows the cost of a successful turn, and says which turns have no price."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.measures.costs import find_costs, summarise_costs
from callgauge.analysis.metrics.published_store import read_store
from callgauge.memory.team_memory import TeamMemory
from callgauge.prices import PriceList
from tests.analysis.store_fixture import publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls
from tests.dashboard.test_costs import price, turns


def cost(app: AppTest) -> str:
    return next(str(metric.value) for metric in app.metric if metric.label == "Cost per successful turn")


@pytest.mark.thorough
def test_without_a_price_the_card_names_the_command(small: Path) -> None:
    app = opened()
    assert cost(app) == "–"
    text = page_text(app).replace("\\", "")
    assert "No turn has a price. Load yours: callgauge prices FILE --store DIR" in text


def test_a_memory_that_cannot_be_read_costs_only_the_card(store: Path) -> None:
    publish(store, small_tables())
    (store / "memory.sqlite").write_bytes(b"no database, but as long as one may be" * 100)
    assert not [metric for metric in opened().metric if metric.label == "Cost per successful turn"]


def test_a_successful_turn_costs_what_the_failed_ones_cost_too(store: Path) -> None:
    """Twelve turns cost $2 each, and six of them succeeded. So one successful turn costs $4."""
    publish(
        store,
        small_tables() | {"turns": turns("falcon-3", 12, 6), "tool_calls": calls(9, 3, model="falcon-3")},
    )
    TeamMemory(store).replace_prices([price("falcon-3", 1.0)])
    app = opened()
    assert cost(app).replace("\\", "") == "$4.00"
    assert "6 successful" in page_text(app)


@pytest.mark.thorough
def test_what_is_unpriced_is_counted_in_model_calls(store: Path) -> None:
    untold = turns("heron", 3, 3, counted_steps=0, counted_input=0, counted_output=0)
    rows = [*turns("falcon-3", 12, 6), *untold]
    publish(store, small_tables() | {"turns": rows, "tool_calls": calls(9, 3, model="falcon-3")})
    TeamMemory(store).replace_prices([price("falcon-3", 1.0)])
    assert "unpriced: 3 of 15 steps (model calls)" in page_text(opened()).replace("\\", "")


def test_the_total_cost_is_the_sum_of_the_models(store: Path) -> None:
    """Model B has only failed turns. Their cost counts, but B alone has no cost per successful turn."""
    rows = [*turns("A", 12, 6), *turns("B", 9, 0), *turns("C", 3, 3, counted_steps=0, counted_input=0)]
    publish(store, small_tables() | {"turns": rows, "tool_calls": calls(9, 3, model="A")})
    prices = PriceList((price("A", 1.0), price("B", 2.0)))
    with read_store(store, texts=True) as reader:
        summary = summarise_costs(reader.ask, prices, {})
        (total,) = find_costs(reader.ask, prices)
    assert summary.overall == total
    assert [cost.per_completed is None for cost in summary.by_model] == [True, False, True]
    assert total.per_completed is not None
    assert total.per_completed.amount == (12 * 2 + 9 * 4) / 6
