"""Draws a table of slices ranked by one rate. The table also shows the leading rates and the cost."""

from __future__ import annotations

from collections.abc import Sequence

from callgauge.analysis.comparisons.rankings import JudgedRanking, SlicesByRate
from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.measures.rates import LEADING, RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.difference_cells import place_cell, rank_column
from callgauge.dashboard.components.money.cells import MONEY_COLUMNS, make_cells
from callgauge.dashboard.components.slice_table import calls_link, compact_rate_cell, name_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table


def draw_leading_rates(
    key: str,
    ranking: JudgedRanking,
    rows: Sequence[Slice],
    slices: SlicesByRate,
    costs: Sequence[Cost],
) -> None:
    """Draw one row for each of `rows`, with rank, ranking rate, leading rates and cost.

    `slices` holds the slices of each rate. Without `costs`, the cost column is omitted.
    """
    by, rate = ranking.dimension, ranking.rate
    names = [rate.name]
    names += [name for name in reversed(LEADING) if name not in (rate.name, ranking.requested_rate.name)]
    by_rate = {name: {slice_.name: slice_ for slice_ in slices.get(name, ())} for name in names}
    columns = [Column(DIMENSIONS[by], "name"), rank_column()]
    columns += [Column(RATES[name].title, "cell", RATES[name].meaning) for name in names]
    money = {cost.slice: cost for cost in costs}
    priced = [money[slice_.name] for slice_ in rows if slice_.name in money]
    head, make = MONEY_COLUMNS["cost_per_completed"]
    prices = dict(zip((cost.slice for cost in priced), make_cells(priced, make), strict=True))
    if priced:
        columns.append(head)
    draw_table(
        key,
        f"{DIMENSIONS[by]}s by the leading rates",
        columns,
        [
            [
                name_cell(by, slice_.name),
                place_cell(slice_, ranking.table),
                *(
                    compact_rate_cell(
                        by_rate[name].get(slice_.name), calls_link(RATES[name], {by: slice_.name})
                    )
                    for name in names
                ),
                *([prices.get(slice_.name, Cell("–", pale=True))] if priced else []),
            ]
            for slice_ in rows
        ],
    )
