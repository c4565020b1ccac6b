"""Draws the table of models: rank, chosen rate, difference from the reference, and the leading rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import RANKED, JudgedRanking, SlicesByRate
from callgauge.analysis.measures.comparisons import RankedTable, SliceComparison
from callgauge.analysis.measures.rates import LEADING, RATES, RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import (
    difference_column,
    place_cell,
    rank_column,
    tagged_difference_cell,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.money.cells import MONEY_COLUMNS, make_cells
from callgauge.dashboard.components.slice_table import (
    calls_link,
    compact_rate_cell,
    draw_thin_slices,
    make_scale,
    name_cell,
    rate_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table

_BEFORE_ALL = 15


@dataclass(frozen=True, slots=True)
class SliceRanking:
    """The ranked slices of one rate. `slices` holds the slices of each leading rate."""

    judged: JudgedRanking
    slices: SlicesByRate

    @property
    def dimension(self) -> str:
        return self.judged.dimension

    @property
    def rate(self) -> RateDefinition:
        return self.judged.rate

    @property
    def table(self) -> RankedTable:
        return self.judged.table

    @property
    def noun(self) -> str:
        return wording.dimension(self.dimension)

    @property
    def rows(self) -> list[SliceComparison]:
        """The slices with enough data, best first."""
        return [row for row in self.table.rows if row.slice.is_solid]

    @property
    def is_compared(self) -> bool:
        """True when at least two named slices have enough data."""
        return sum(row.slice.is_named for row in self.rows) > 1

    @property
    def thin(self) -> list[Slice]:
        return [row.slice for row in self.table.rows if not row.slice.is_solid]

    def describe_reading(self) -> str:
        """Return a sentence that names the reference slice and says how the verdicts are corrected."""
        if not self.table.reference.is_solid and self.is_compared:
            return f"What is compared with has too few sessions: it takes {RULE}. Choose another."
        if not self.table.pairs:
            return ""
        reference = wording.in_markdown(filters.short_label(self.dimension, self.table.reference.name), 60)
        parts = [f"Differences are from {reference}."]
        if len(self.table.pairs) > 1:
            parts.append(f"Verdicts are corrected for all {len(self.table.pairs)} pairs.")
        return " ".join(parts)


def draw_ranking(ranking: SliceRanking, chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw the ranking as a table, and one expander for slices with too little data."""
    by, rate = ranking.dimension, ranking.rate
    with cards.draw_card(
        f"{rate.title} by {ranking.noun}",
        "slices",
        "strata",
        take=cards.Download(
            f"{rate.name}_by_{by}", store_queries.ask_later("slices", rates=(rate.name,), by=by, **chosen)
        ),
        height=420,
        verdict="rank",
    ):
        if ranking.rows:
            _draw_table(ranking, smallest)
            if reading := ranking.describe_reading():
                st.caption(reading)
        draw_thin_slices(by, {rate.name: ranking.thin}, key="ranking", opens=not ranking.is_compared)
        if ranking.judged.left_out:
            st.caption(
                f"Ranked are the {RANKED} with most calls; {ranking.judged.left_out} more are not. "
                "A filter brings them up."
            )


def _draw_table(ranking: SliceRanking, smallest: float) -> None:
    """Draw the table. The columns that decide come first, because a phone shows only the first columns."""
    by, rate, table, rows = ranking.dimension, ranking.rate, ranking.table, ranking.rows
    scale, reach = make_scale([row.slice.share for row in rows]), track_reach(rows)
    columns = [Column(wording.dimension(by).capitalize(), "name")]
    cells = [[name_cell(by, row.slice.name)] for row in rows]

    def add(column: Column, drawn: Sequence[Cell]) -> None:
        columns.append(column)
        for line, cell in zip(cells, drawn, strict=True):
            line.append(cell)

    if table.places:
        add(rank_column(), [place_cell(row.slice, table) for row in rows])
    links = [calls_link(rate, {by: row.slice.name}) for row in rows]
    add(
        Column(rate.title, "rate", rate.meaning, scale=scale.ends()),
        [rate_cell(row.slice, scale, link) for row, link in zip(rows, links, strict=True)],
    )
    if ranking.is_compared:
        add(difference_column("Difference", reach), [tagged_difference_cell(row, reach) for row in rows])
        add(Column("Verdict", "tight"), [verdict_cell(row, smallest) for row in rows])
    for name in reversed(LEADING):
        # If another rate replaces the chosen rate, the chosen rate is left out, because its slices were
        # measured differently.
        if name not in (rate.name, ranking.judged.requested_rate.name):
            add(Column(RATES[name].title, "cell", RATES[name].meaning), _rate_cells(ranking, name))
    if costs := ranking.judged.context.costs:
        priced = [costs[row.slice.name] for row in rows if row.slice.name in costs]
        head, make = MONEY_COLUMNS["cost_per_completed"]
        prices = dict(zip((cost.slice for cost in priced), make_cells(priced, make), strict=True))
        add(head, [prices.get(row.slice.name, Cell("–", title="no price")) for row in rows])
    add(
        Column("Sessions", "number"),
        [Cell(f"{number:,}", order=number) for number in (row.slice.share.sessions or 0 for row in rows)],
    )
    draw_table("ranking", f"{rate.title} by {ranking.noun}", columns, cells, shown=_BEFORE_ALL)


def _rate_cells(ranking: SliceRanking, name: str) -> list[Cell]:
    by_name = {each.name: each for each in ranking.slices.get(name, ())}
    return [
        compact_rate_cell(
            by_name.get(row.slice.name), calls_link(RATES[name], {ranking.dimension: row.slice.name})
        )
        for row in ranking.rows
    ]
