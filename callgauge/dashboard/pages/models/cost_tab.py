"""Draws the Cost tab: cost against success, costs by model, and the prices in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import DIMENSIONS as TURNS_BY
from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import make_slices
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.verdicts.sentences import LESS, RULE
from callgauge.dashboard import charts, filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.chart import draw_chart
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.money.cells import make_money_columns
from callgauge.dashboard.components.money.cost_chart import CostPoint, draw_cost_chart, find_front
from callgauge.dashboard.components.money.page_costs import (
    ask_costs,
    match_shown_models,
    read_prices,
    shown_parameters,
)
from callgauge.dashboard.components.money.price_table import draw_no_price, draw_prices
from callgauge.dashboard.components.slice_table import name_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

_SHOWN = 12  # rows before "Show all"
_NAMED = 3  # models on the Pareto front that the sentence names


def draw_cost(by: str, chosen: Mapping[str, Any]) -> None:
    """Draw the chart, the table and the prices for the values of the dimension `by`."""
    if by not in TURNS_BY:
        st.caption(f"Turns have no single {DIMENSIONS[by].lower()}: rank by model, host or source.")
        return
    try:
        costs = ask_costs(by, **chosen)
    except MetricError as problem:
        st.error(wording.in_markdown(str(problem), 600))
        return
    if any(cost.total is not None for cost in costs):
        _draw_chart(by, costs, chosen)
        _draw_table(by, costs, chosen)
    else:
        with st.container(border=True):
            draw_no_price()
    fold = draw_fold("Prices", "price_list")
    if fold is not None:
        with fold:
            prices = read_prices()
            draw_prices(prices, match_shown_models(prices))


def _draw_chart(by: str, costs: Sequence[Cost], chosen: Mapping[str, Any]) -> None:
    with cards.draw_card("Cost against success", "costs", "slices", height=460):
        points = _make_points(by, costs, chosen)
        drawn = [point for point in points if point.is_solid]
        hardly = sum(cost.per_turn is not None and not cost.is_priced_enough for cost in costs)
        left_out = f" With under a fifth of the model calls priced: {hardly}." if hardly else ""
        if not drawn:
            st.caption(
                f"Too little to draw: no {DIMENSIONS[by].lower()} has {RULE} with a known cost and end."
                + left_out
            )
            return
        front = find_front(drawn)
        unpriced = sum(cost.per_turn is None for cost in costs)
        with st.container(key="cost_answer"):
            st.markdown(f"**{wording.in_markdown(_describe_front(front, costs[0].currency), 400)}**")
        title = RATES["turn_success"].title
        draw_chart(
            draw_cost_chart(drawn, front, costs[0].currency, title),
            config=charts.CONFIG,
            key="cost_chart",
            alt=f"{title} by cost per turn, a point for each {DIMENSIONS[by].lower()}",
        )
        st.caption(
            "Up and to the left is better. Whiskers: 95% intervals over sessions. Two whose whiskers overlap "
            "can still differ: the page Compare judges the pair."
            + (f" Not drawn: {len(points) - len(drawn)} with {LESS}." if len(points) > len(drawn) else "")
            + (f" Without a priced turn: {unpriced}." if unpriced else "")
            + left_out
        )


def _make_points(by: str, costs: Sequence[Cost], chosen: Mapping[str, Any]) -> list[CostPoint]:
    rows = store_queries.ask("slices", rates=("turn_success",), by=by, **chosen)
    success = {slice_.name: slice_.share for slice_ in make_slices(rows) if slice_.share.n}
    priced = {cost.slice: cost.per_turn for cost in costs if cost.per_turn and cost.is_priced_enough}
    return [
        CostPoint(filters.value_label(by, name), mean, success[name])
        for name, mean in priced.items()
        if name in success
    ]


def _describe_front(front: Sequence[CostPoint], currency: str) -> str:
    places = wording.money_places(front[0].cost.amount)
    named = [
        f"{wording.one_line(point.name, 60)} ({wording.money(point.cost.amount, currency, places)} a turn, "
        f"{wording.rate(point.success.k, point.success.n)})"
        for point in front[:_NAMED]
    ]
    more = f" and {len(front) - _NAMED} more" if len(front) > _NAMED else ""
    if len(front) == 1:
        return f"Cheapest, and none succeeds more often: {named[0]}."
    return f"Best value, from the cheapest to the most successful: {', '.join(named)}{more}."


def _draw_table(by: str, costs: Sequence[Cost], chosen: Mapping[str, Any]) -> None:
    parameters = shown_parameters(by, chosen)
    take = cards.Download(f"costs_by_{by}", store_queries.ask_later("costs", **parameters))
    title = f"What turns cost, by {DIMENSIONS[by].lower()}"
    with cards.draw_card(title, "costs", take=take, height=320):
        heads, drawn = make_money_columns(costs)
        columns = [Column(DIMENSIONS[by], "name"), Column("Turns", "number"), *heads]
        rows = [
            [name_cell(by, cost.slice), Cell(f"{cost.turns:,}", order=cost.turns), *cells]
            for cost, cells in zip(costs, drawn, strict=True)
        ]
        draw_table("costs", title, columns, rows, shown=_SHOWN)
        st.caption(
            "Intervals: 95%, over sessions. Pale: fewer than 30 turns, or too few sessions for an interval. "
            "A log that does not tell of a cache: all input counts as ordinary input."
        )
