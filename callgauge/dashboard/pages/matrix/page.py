"""The page Matrix: one rate for each pair of model, prompt and tool, as a shaded table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import JudgedRanking, judge_ranking, read_ranked_slices
from callgauge.analysis.measures.comparisons import RankedTable
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import (
    DIMENSIONS,
    choose_baseline,
    choose_one,
    choose_rate,
    choose_smallest,
)
from callgauge.dashboard.components.difference_cells import place_cell, rank_column, verdict_cell
from callgauge.dashboard.components.money.page_costs import ask_ranked_costs
from callgauge.dashboard.components.slice_table import (
    compact_rate_cell,
    draw_thin_slices,
    name_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.matrix.heat_map import HeatMap, build_heat_map

_PAIRS = {
    "model.prompt": "Model × prompt",
    "model.tool": "Model × tool",
    "tool.prompt": "Tool × prompt",
    "model.provider": "Model × host",
}
_ROWS, _COLUMNS = 40, 14
_STEPS = 5  # of the legend


@dataclass(frozen=True, slots=True)
class _Matrix:
    """One rate by two dimensions: a row for each value of `by`, a column for each value of `also`.

    `cells` have a name of each. `ranking`: that of the totals of the rows.
    """

    rate: RateDefinition
    by: str
    also: str
    cells: Sequence[Slice]
    ranking: JudgedRanking

    @property
    def judged(self) -> RankedTable:
        return self.ranking.table

    @property
    def noun(self) -> str:
        return DIMENSIONS[self.by].lower()

    @property
    def totals(self) -> dict[str, Slice]:
        """The whole of each row of which enough is known, by name, the best first."""
        rows = [row.slice for row in self.judged.rows if row.slice.is_solid]
        return {one.name: one for one in rows[:_ROWS]}

    @property
    def thin(self) -> list[Slice]:
        return [row.slice for row in self.judged.rows if not row.slice.is_solid]


def show() -> None:
    st.title("Matrix", anchor=False)
    chosen = filters.chosen_filters().parameters()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        pair = choose_one("Cells", "cells", list(_PAIRS), "model.prompt", _PAIRS.__getitem__, width=180)
        rate = choose_rate()
        by, also = pair.split(".")
        slices = read_ranked_slices(store_queries.ask, rate, by, chosen)
        totals = slices[rate.name]
        baseline = choose_baseline(by, totals) if totals else None
        smallest = choose_smallest()
    if baseline is None:
        cards.show_no_matches(f"{rate.noun}s for this rate")
        return
    asked = {"rates": (rate.name,), "by": by, "also": also}
    cells = make_slices(store_queries.ask("slices", **asked, **chosen))
    ranking = judge_ranking(
        store_queries.ask,
        slices,
        rate,
        by,
        chosen,
        baseline=baseline.name,
        smallest=smallest,
        costs=ask_ranked_costs(by, chosen),
    )
    it = _Matrix(rate, by, also, cells, ranking)
    _draw_answer(it)
    take = cards.Download(
        f"{rate.name}_by_{by}_and_{also}", store_queries.ask_later("slices", **asked, **chosen)
    )
    with cards.draw_card(
        f"{rate.title} by {it.noun} and {DIMENSIONS[also].lower()}",
        "slices",
        "strata",
        take=take,
        height=480,
        verdict="rank",
    ):
        if it.totals:
            shown = build_heat_map(it.cells, list(it.totals), _COLUMNS)
            _draw_table(it, shown, smallest)
            _draw_legend(shown, rate)
            _draw_bounds(it, shown, sum(one.is_solid for one in totals))
        draw_thin_slices(by, {rate.name: it.thin}, key="matrix")


def _draw_answer(it: _Matrix) -> None:
    names = {row.slice.name: filters.short_label(it.by, row.slice.name) for row in it.judged.rows}
    cards.draw_answer(it.ranking.write_sentence(names), 900)
    baseline = wording.in_markdown(names[it.judged.reference.name], 60)
    compared = f" Verdict: each row as a whole against {baseline}." if it.judged.pairs else ""
    st.caption(f"{it.rate.meaning}. Each cell leads to its calls.{compared}")


def _draw_table(it: _Matrix, shown: HeatMap, smallest: float) -> None:
    held = {row.slice.name: row for row in it.judged.rows}
    compared = sum(one.is_named for one in it.totals.values()) > 1
    columns = [Column(DIMENSIONS[it.by], "name", width="180px")]
    if it.judged.places:
        columns.append(rank_column())
    if compared:
        columns.append(
            Column("Verdict", "tight", "On the row as a whole; hover, focus or tap for the sentence")
        )
    columns.append(Column("All", "cell", f"All of the {it.noun}"))
    for name in shown.columns:
        label = filters.value_label(it.also, name)
        title, full = wording.one_line(label, 18), wording.one_line(label, 200)
        columns.append(Column(title, "cell", full if full != title else None, full=full))
    rows = [
        [
            name_cell(it.by, row),
            *([place_cell(it.totals[row], it.judged)] if it.judged.places else []),
            *([verdict_cell(held[row], smallest)] if compared else []),
            _build_cell(shown, it.totals[row], {it.by: row}),
            *(
                _build_cell(shown, shown.cells.get((row, column)), {it.by: row, it.also: column})
                for column in shown.columns
            ),
        ]
        for row in shown.rows
    ]
    draw_table("matrix", f"{it.rate.title} by {it.by} and {wording.dimension(it.also)}", columns, rows)


def _build_cell(shown: HeatMap, one: Slice | None, narrowed: Mapping[str, str]) -> Cell:
    """Return the cell of a pair: its rate, or its counts where too little is known; empty without a call."""
    if one is None:
        return Cell("")
    href = filters.page_link("calls", narrowed, one.rate.calls if one.rate.calls and one.share.k else {})
    return compact_rate_cell(one, href, heat=shown.cell_heat(one))


def _draw_legend(shown: HeatMap, rate: RateDefinition) -> None:
    """Draw the legend: a row of shaded cells and the rates for which the shades stand."""
    if not shown.worst:
        st.caption(f"No shades: no cell with {RULE} has anything wrong. Counts alone: fewer.")
        return
    shades = [(heat, 1 - bad if rate.is_good else bad) for heat, bad in shown.legend_shades(_STEPS)]
    columns = [
        Column("Shade", "tight"),
        *(Column(wording.fixed_percent(value, 1), "cell") for _, value in shades),
    ]
    cells = [Cell(rate.title, pale=True), *(Cell("", heat=heat) for heat, _ in shades)]
    with st.container(width=640):
        draw_table("matrix_legend", "What the shades stand for", columns, [cells])
    st.caption(
        f"The deepest shade is the worst cell with {RULE}. Counts alone: fewer. "
        "Empty: the pair does not occur. Hover, focus or tap a cell for its interval."
    )


def _draw_bounds(it: _Matrix, shown: HeatMap, rows: int) -> None:
    """Draw how many of the rows and columns are shown. `rows`: those with enough sessions, in all."""
    parts = [
        f"{seen} of {in_all:,} {wording.plural_of(DIMENSIONS[dimension].lower())}"
        for seen, in_all, dimension in (
            (len(shown.rows), rows, it.by),
            (len(shown.columns), shown.columns_in_all, it.also),
        )
        if in_all > seen
    ]
    if parts:
        st.caption(f"Shown are {' and '.join(parts)}, the most observed; the filters bring up the others.")


show()
