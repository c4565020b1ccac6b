"""Draws a table of one rate for each pair of a model and a prompt or tool. Darker cells are worse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import place_cell, rank_column, verdict_cell
from callgauge.dashboard.components.slice_table import compact_rate_cell, draw_thin_slices, name_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.models.ranking import SliceRanking

_ROWS, _COLUMNS = 40, 14
_STEPS = 5
DEEPEST = 0.5  # strongest colour on which text stays legible


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of one rate, with the slice and colour of each cell. Darker colours mean worse rates.

    `cells` maps (row name, column name) to a slice. `columns_in_all` is the number of columns before the
    limit. `worst` is the largest badness (0 to 1) of a cell with enough observations.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Slice]
    columns_in_all: int
    worst: float

    def cell_heat(self, slice_: Slice) -> float | None:
        """Return the strength of the cell's colour: 0 (best) to DEEPEST (as bad as `worst`).

        Returns None when there is too little data for a verdict.
        """
        bad = badness(slice_)
        if bad is None or not slice_.is_solid:
            return None
        return DEEPEST * sqrt(min(1.0, bad / self.worst)) if self.worst else 0.0

    def legend_shades(self, steps: int) -> list[tuple[float, float]]:
        """Return `steps` pairs (strength of a colour, badness) for the legend, best first."""
        places = [step / (steps - 1) for step in range(steps)]
        return [(DEEPEST * place, self.worst * place * place) for place in places]


def badness(slice_: Slice) -> float | None:
    """Return how bad the rate is: the rate itself, or 1 minus the rate when a high rate is good.

    Returns None when nothing was measured.
    """
    rate = slice_.share.rate
    return None if rate is None else 1 - rate if slice_.rate.is_good else rate


def build_heat_map(several: Sequence[Slice], rows: Sequence[str], columns: int) -> HeatMap:
    """Build the heat map from slices.

    The field `name` of a slice gives the row, and the field `also` gives the column. Only the `columns`
    columns with most observations are kept.
    """
    shown = set(rows)
    inside = [slice_ for slice_ in several if slice_.name in shown]
    across = _sort_by_use((slice_.also, slice_) for slice_ in inside)
    drawn = set(across[:columns])
    cells = {(slice_.name, slice_.also): slice_ for slice_ in inside if slice_.also in drawn}
    solid = [bad for slice_ in cells.values() if slice_.is_solid and (bad := badness(slice_)) is not None]
    return HeatMap(rows, across[:columns], cells, len(across), max(solid, default=0.0))


def _sort_by_use(named: Iterable[tuple[str, Slice]]) -> list[str]:
    totals: dict[str, tuple[int, int]] = {}
    for name, slice_ in named:
        n, total = totals.get(name, (0, 0))
        totals[name] = (n + slice_.share.n, total + slice_.total)
    return sorted(totals, key=lambda name: (-totals[name][0], -totals[name][1], name))


def draw_heat_map(ranking: SliceRanking, also: str, chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw a heat map. Its rows are the ranked slices, and its columns the values of the dimension `also`."""
    by, rate = ranking.dimension, ranking.rate
    grouping = {"rates": (rate.name,), "by": by, "also": also}
    take = cards.Download(
        f"{rate.name}_by_{by}_and_{also}", store_queries.ask_later("slices", **grouping, **chosen)
    )
    title = f"{rate.title} by {ranking.noun} and {wording.dimension(also)}"
    with cards.draw_card(title, "slices", "strata", take=take, height=480, verdict="rank"):
        rows = [row.slice.name for row in ranking.rows]
        if rows:
            cells = make_slices(store_queries.ask("slices", **grouping, **chosen))
            shown = build_heat_map(cells, rows[:_ROWS], _COLUMNS)
            _draw_table(ranking, also, shown, smallest)
            _draw_legend(shown, rate)
            _draw_bounds(ranking, also, shown, len(rows))
        draw_thin_slices(by, {rate.name: ranking.thin}, key="heat_map")


def _draw_table(ranking: SliceRanking, also: str, shown: HeatMap, smallest: float) -> None:
    by, table = ranking.dimension, ranking.table
    by_name = {row.slice.name: row for row in ranking.rows}
    columns = [Column(wording.dimension(by).capitalize(), "name", width="180px")]
    if table.places:
        columns.append(rank_column())
    if ranking.is_compared:
        columns.append(Column("Verdict", "tight", "On the row as a whole"))
    columns.append(Column("All", "cell"))
    for name in shown.columns:
        label = filters.value_label(also, name)
        short, full = wording.short_name(label, 18), wording.one_line(label, 200)
        columns.append(Column(short, "cell", full if full != short else None, full=full))
    rows = [
        [
            name_cell(by, row),
            *([place_cell(by_name[row].slice, table)] if table.places else []),
            *([verdict_cell(by_name[row], smallest)] if ranking.is_compared else []),
            _build_cell(shown, by_name[row].slice, {by: row}),
            *(
                _build_cell(shown, shown.cells.get((row, column)), {by: row, also: column})
                for column in shown.columns
            ),
        ]
        for row in shown.rows
    ]
    title = f"{ranking.rate.title} by {ranking.noun} and {wording.dimension(also)}"
    draw_table("heat_map", title, columns, rows)


def _build_cell(shown: HeatMap, slice_: Slice | None, narrowed: Mapping[str, str]) -> Cell:
    """Return a cell with the rate, or with counts if there is too little data."""
    if slice_ is None:
        return Cell("")
    href = filters.page_link(
        "calls", narrowed, slice_.rate.calls if slice_.rate.calls and slice_.share.k else {}
    )
    return compact_rate_cell(slice_, href, heat=shown.cell_heat(slice_))


def _draw_legend(shown: HeatMap, rate: RateDefinition) -> None:
    if not shown.worst:
        st.caption(f"No shades: no cell with {RULE} has anything wrong. Counts alone: fewer.")
        return
    shades = [(heat, 1 - bad if rate.is_good else bad) for heat, bad in shown.legend_shades(_STEPS)]
    columns = [
        Column("Shade", "tight"),
        *(Column(wording.fixed_percent(value, 1), "cell") for _, value in shades),
    ]
    cells = [Cell(rate.title), *(Cell("", heat=heat) for heat, _ in shades)]
    with st.container(width=640):
        draw_table("heat_map_legend", "What the shades mean", columns, [cells], exported=False)
    st.caption(
        f"The deepest shade is the worst cell with {RULE}. Counts alone: fewer. "
        "Empty: no calls. Each cell opens its calls; hover, focus or tap it for its interval."
    )


def _draw_bounds(ranking: SliceRanking, also: str, shown: HeatMap, rows: int) -> None:
    parts = [
        f"{drawn} of {in_all:,} {wording.plural_of(noun)}"
        for drawn, in_all, noun in (
            (len(shown.rows), rows, ranking.noun),
            (len(shown.columns), shown.columns_in_all, wording.dimension(also)),
        )
        if in_all > drawn
    ]
    if parts:
        st.caption(f"Shown are {' and '.join(parts)}, those with most calls. A filter brings up the others.")
