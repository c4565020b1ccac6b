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
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.slices import (
    MEASURED_ENOUGH,
    Slice,
    SliceComparison,
    compare_with_reference,
    rank_slices,
)
from callgauge.stats import ENOUGH


def draw_ranking(
    by: str,
    rate: RateDefinition,
    several: Sequence[Slice],
    reference: Slice,
    shown: Sequence[str],
    chosen: Mapping[str, Any],
) -> None:
    """Draw the card of the ranking; `shown` holds the names that get a row, the others are only counted."""
    rows = [one for one in order_slices(several) if one.name in shown or one is reference]
    held = compare_with_reference(rows, reference)
    judged = sum(one.p is not None for one in held)
    label = wording.in_markdown(filters.value_label(by, reference.name), 60)
    better = {"low": "the lowest rate first", "high": "the highest rate first", None: "neither end is better"}
    with cards.draw_card(
        f"{rate.title} by {DIMENSIONS[by].lower()}, {better[rate.better]}",
        "slices",
        caption=f"Share of {rate.noun}s that {rate.hit}. Each is held against {label}; the verdict is "
        f"corrected for {wording.plural(judged, 'difference')} looked at together (Holm).",
        take=cards.Download(
            f"{rate.name}_by_{by}", store_queries.ask_later("slices", rates=(rate.name,), by=by, **chosen)
        ),
        height=420,
    ):
        _draw_table(by, rate, held, reference)
        left = len(several) - len(rows)
        more = (
            f" {len(rows)} of {len(several)} are shown, the most used; a filter brings up the others."
            if left
            else ""
        )
        st.caption(
            f"Not ranked: fewer than {ENOUGH} observed, or less than {100 * MEASURED_ENOUGH:.0f}% measured."
            + more
        )


def order_slices(several: Sequence[Slice]) -> list[Slice]:
    """Return the slices, the best first; then those too small or too little measured to get a rank."""
    best = rank_slices(several)
    return [
        *(one for one in best if one.is_solid),
        *(one for one in best if one.is_rankable and not one.is_solid),
        *(one for one in best if not one.is_rankable),
    ]


def _draw_table(by: str, rate: RateDefinition, held: Sequence[SliceComparison], reference: Slice) -> None:
    scale = make_scale([one.slice.share for one in held])
    reach = track_reach(held)
    columns = [
        Column(DIMENSIONS[by], "name"),
        Column("Rank", "number"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        difference_column("Difference", reach),
        Column("Verdict", "tight", "Against the reference, all rows considered together (Holm)"),
        Column("Sessions", "number", "In which the rate was observed; what the interval rests on"),
    ]
    rows = [_build_row(by, place, one, reference, scale, reach) for place, one in enumerate(held, start=1)]
    draw_table("ranking", f"{rate.title} by {DIMENSIONS[by].lower()}", columns, rows)


def _build_row(
    by: str, place: int, held: SliceComparison, reference: Slice, scale: IntervalScale, reach: float
) -> list[Cell]:
    one = held.slice
    is_reference = one is reference
    return [
        name_cell(by, one.name),
        _rank_cell(place, one),
        rate_cell(one, scale, calls_link(one.rate, {by: one.name})),
        difference_cell(held, reach, none="reference" if is_reference else "–"),
        Cell("Reference", tone="info") if is_reference else verdict_cell(held, reference),
        Cell(f"{one.share.sessions or 0:,}", order=one.share.sessions or 0),
    ]


def _rank_cell(place: int, one: Slice) -> Cell:
    if one.is_solid:
        return Cell(f"{place}", order=-place)
    few = one.share.n and one.is_rankable
    measured = f"{wording.rate(one.share.n, one.total)} measured" if one.share.n else "unmeasured"
    return Cell(f"n < {ENOUGH}" if few else measured, tone="calm" if few else "warn")
