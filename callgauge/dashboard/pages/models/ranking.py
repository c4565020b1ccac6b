"""Ranks slices by one rate, the best first, each compared with a reference slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    plain_cell,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.slice_table import (
    IntervalScale,
    calls_link,
    make_scale,
    name_cell,
    rate_cell,
)
from callgauge.dashboard.components.strata_queries import read_strata
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.comparisons import RankedTable, SliceComparison, Standing, rank_table
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.slices import Slice, rank_slices
from callgauge.dashboard.measures.verdicts import LESS, RULE, describe_top


def draw_ranking(
    by: str,
    rate: RateDefinition,
    several: Sequence[Slice],
    reference: Slice,
    shown: Sequence[str],
    chosen: Mapping[str, Any],
    smallest: float,
) -> None:
    """Draw the card of the ranking; `shown` holds the names that get a row, the others are only counted.

    `smallest`: the smallest difference worth knowing, a share.
    """
    rows = [one for one in several if one.name in shown or one is reference]
    solid = [one.name for one in rows if one.is_solid]
    strata = read_strata(rate, by, chosen, arms=solid) if len(solid) > 1 else None
    table = rank_table(rows, reference, strata, smallest)
    better = {"low": "the lowest rate first", "high": "the highest rate first", None: "neither end is better"}
    with cards.draw_card(
        f"{rate.title} by {DIMENSIONS[by].lower()}, {better[rate.better]}",
        "slices",
        "strata",
        take=cards.Download(
            f"{rate.name}_by_{by}", store_queries.ask_later("slices", rates=(rate.name,), by=by, **chosen)
        ),
        height=420,
    ):
        names = {one.name: wording.one_line(filters.value_label(by, one.name), 60) for one in rows}
        st.subheader(
            wording.in_markdown(describe_top(table, names, DIMENSIONS[by].lower()), 600), anchor=False
        )
        st.caption(_describe_reading(rate, table, names[reference.name]))
        _draw_table(by, rate, table, smallest)
        left = len(several) - len(rows)
        more = (
            f" {len(rows)} of {len(several)} are shown, the most used; a filter brings up the others."
            if left
            else ""
        )
        st.caption(f"Not ranked: {LESS}, or less than a fifth measured.{more}")


def _describe_reading(rate: RateDefinition, table: RankedTable, reference: str) -> str:
    parts = [
        f"Share of {rate.noun}s that {rate.hit}. Each is held against {wording.in_markdown(reference, 60)}.",
    ]
    if rate.better is not None:
        parts.append("Rank: the ranks that it may have with 95% confidence, all together.")
    if table.pairs:
        parts.append(f"Corrected for {wording.plural(table.pairs, 'difference')} looked at together (Holm).")
    if table.is_by_mix:
        parts.append(
            "Same mix: where two got different work, each kind is compared with itself, and that decides."
        )
    return " ".join(parts)


def order_slices(several: Sequence[Slice]) -> list[Slice]:
    """Return the slices, the best first; then those too small or too little measured to get a rank."""
    best = rank_slices(several)
    return [
        *(one for one in best if one.is_solid),
        *(one for one in best if one.is_rankable and not one.is_solid),
        *(one for one in best if not one.is_rankable),
    ]


def _draw_table(by: str, rate: RateDefinition, table: RankedTable, smallest: float) -> None:
    held = table.rows
    scale = make_scale([one.slice.share for one in held])
    by_mix = table.is_by_mix
    reach = track_reach([*held, *(one.as_plain for one in held)])
    columns = [
        Column(DIMENSIONS[by], "name"),
        Column("Rank", "number", "The ranks that it may have, all together with 95% confidence"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        *([difference_column("As they are", reach)] if by_mix else []),
        difference_column("At the same mix" if by_mix else "Difference", reach),
        Column("Verdict", "tight", "Against the reference, all pairs considered together (Holm)"),
        Column("Sessions", "number", "In which the rate was observed; what the interval rests on"),
    ]
    rows = [_build_row(by, one, table, scale, reach, smallest) for one in held]
    draw_table("ranking", f"{rate.title} by {DIMENSIONS[by].lower()}", columns, rows)


def _build_row(
    by: str, held: SliceComparison, table: RankedTable, scale: IntervalScale, reach: float, smallest: float
) -> list[Cell]:
    one = held.slice
    is_reference = held.standing() is Standing.REFERENCE
    none = "reference" if is_reference else "–"
    return [
        name_cell(by, one.name),
        _rank_cell(one, table),
        rate_cell(one, scale, calls_link(one.rate, {by: one.name})),
        *([plain_cell(held, reach, none=none)] if table.is_by_mix else []),
        difference_cell(held, reach, none=none),
        Cell("Reference", tone="info") if is_reference else verdict_cell(held, smallest),
        Cell(f"{one.share.sessions or 0:,}", order=one.share.sessions or 0),
    ]


def _rank_cell(one: Slice, table: RankedTable) -> Cell:
    if one.rate.better is None:
        return Cell("–")
    if one.name in table.ranks:
        first, last = table.ranks[one.name]
        return Cell(f"{first}" if first == last else f"{first}–{last}", order=-first - last / 1000)
    if one.is_solid and one.name == "unknown":
        return Cell("not named", tone="calm", title="The logs do not name it: it may be several things.")
    if one.is_solid:
        return Cell("other work", tone="calm", title="It has too little work in common with any other.")
    if one.share.n and one.is_rankable:
        return Cell("too few", tone="calm", title=f"It takes {RULE}.")
    measured = f"{wording.rate(one.share.n, one.total)} measured" if one.share.n else "unmeasured"
    return Cell(measured, tone="warn")
