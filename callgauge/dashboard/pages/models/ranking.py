"""The table of models: a place, the chosen rate, the verdict against the baseline, and chosen columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import RANKED, JudgedRanking
from callgauge.analysis.measures.comparisons import RankedTable, SliceComparison
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    place_cell,
    plain_cell,
    rank_column,
    track_reach,
    verdict_cell,
    verdict_with_difference_cell,
)
from callgauge.dashboard.components.slice_table import (
    calls_link,
    draw_thin_slices,
    make_scale,
    name_cell,
    rate_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.models.added_column import AddedColumn
from callgauge.dashboard.pages.models.columns import choose_columns, read_columns

_BEFORE_ALL = 15  # rows before a person asks for all


@dataclass(frozen=True, slots=True)
class SliceRanking:
    """The slices of one rate, ranked, as the page draws them."""

    judged: JudgedRanking

    @property
    def by(self) -> str:
        return self.judged.by

    @property
    def rate(self) -> RateDefinition:
        return self.judged.rate

    @property
    def table(self) -> RankedTable:
        return self.judged.table

    @property
    def noun(self) -> str:
        return DIMENSIONS[self.by].lower()

    @property
    def rows(self) -> list[SliceComparison]:
        """The slices of which enough is known, the best first."""
        return [row for row in self.table.rows if row.slice.is_solid]

    @property
    def is_compared(self) -> bool:
        """True when enough is known of two slices that the logs name."""
        return sum(row.slice.is_named for row in self.rows) > 1

    @property
    def thin(self) -> list[Slice]:
        return [row.slice for row in self.table.rows if not row.slice.is_solid]


def draw_answer(ranking: SliceRanking) -> None:
    """Draw the sentence that says which slices are the best, and how to read the table below it."""
    by, table = ranking.by, ranking.table
    names = {row.slice.name: filters.short_label(by, row.slice.name) for row in table.rows}
    cards.draw_answer(ranking.judged.write_sentence(names), 900)
    if not table.reference.is_solid and ranking.is_compared:
        st.caption(f"The baseline has too few sessions to compare with: it takes {RULE}. Choose another.")
    elif table.pairs:
        st.caption(_describe_reading(table, names[table.reference.name]))


def _describe_reading(table: RankedTable, baseline: str) -> str:
    parts = [f"Differences are from {wording.in_markdown(baseline, 60)}, the baseline."]
    if len(table.pairs) > 1:
        parts.append(f"Verdicts are corrected for all {len(table.pairs)} pairs.")
    if table.is_by_mix:
        parts.append("Where two did different work, the difference is mix-adjusted.")
    return " ".join(parts)


def draw_ranking(ranking: SliceRanking, chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw the card with the table, and one folded line of the slices of which too little is known."""
    by, rate = ranking.by, ranking.rate
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
            # Next to the rate that stands in for it, the asked one would compare what was not measured alike.
            names = [
                name for name in choose_columns(by) if name not in (rate.name, ranking.judged.asked.name)
            ]
            _draw_table(ranking, read_columns(by, names, chosen), smallest)
        draw_thin_slices(by, {rate.name: ranking.thin}, key="ranking", opens=not ranking.is_compared)
        if ranking.judged.left_out:
            st.caption(
                f"Ranked are the {RANKED} with most calls; {ranking.judged.left_out} more are not. "
                "A filter brings them up."
            )


def _draw_table(ranking: SliceRanking, added: Sequence[AddedColumn], smallest: float) -> None:
    """Draw the table: what decides comes first, since a phone shows the first columns first.

    Beside added columns there is no room for drawn differences: they stand below the verdicts.
    """
    by, rate, table, rows = ranking.by, ranking.rate, ranking.table, ranking.rows
    compared = ranking.is_compared
    has_places = bool(table.places)
    has_differences = compared and not added
    has_plain = has_differences and table.is_by_mix
    verdict = verdict_with_difference_cell if added else verdict_cell
    scale = make_scale([row.slice.share for row in rows])
    reach = track_reach([*rows, *(row.as_plain for row in rows if has_plain)])
    columns = [Column(DIMENSIONS[by], "name")]
    if has_places:
        columns.append(rank_column())
    if compared:
        columns.append(Column("Verdict", "tight", "Against the baseline, corrected for all pairs (Holm)"))
    columns.append(Column(rate.title, "rate", rate.meaning, scale=scale.ends()))
    if has_plain:
        columns.append(difference_column("As they are", reach))
    if has_differences:
        columns.append(difference_column("Mix-adjusted" if table.is_by_mix else "Difference", reach))
    columns += [
        Column("Sessions", "number", "In which the rate was observed; what the interval rests on"),
        Column("Measured", "number", f"Share of the {rate.noun}s on which it was measured"),
        *(one.head for one in added),
    ]
    cells = [
        [
            name_cell(by, (one := row.slice).name),
            *([place_cell(one, table)] if has_places else []),
            *([verdict(row, smallest)] if compared else []),
            rate_cell(one, scale, calls_link(rate, {by: one.name}), unmeasured=False),
            *([plain_cell(row, reach)] if has_plain else []),
            *([difference_cell(row, reach)] if has_differences else []),
            Cell(f"{one.share.sessions or 0:,}", order=one.share.sessions or 0),
            _known_cell(one),
            *(column.cells.get(one.name, Cell("–", pale=True)) for column in added),
        ]
        for row in rows
    ]
    draw_table("ranking", f"{rate.title} by {ranking.noun}", columns, cells, shown=_BEFORE_ALL)


def _known_cell(one: Slice) -> Cell:
    return Cell(
        wording.fixed_percent(one.measured_share, 0),
        order=one.measured_share,
        title=f"measured on {wording.fraction(one.share.n, one.total)} {one.rate.noun}s",
    )
