"""Slices of one rate in, their ranking out: the best first, each held against a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.rates import Rate
from dashboard.slices import MEASURED_ENOUGH, Against, Slice, against, ranked
from dashboard.statistics import ENOUGH
from dashboard.widgets import cards
from dashboard.widgets.difference_cells import difference_cell, difference_column, reach_of, verdict_cell
from dashboard.widgets.rate_choice import DIMENSIONS
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import Scale, calls_of, name_cell, rate_cell, scale_of


def ranking(
    by: str,
    rate: Rate,
    several: Sequence[Slice],
    reference: Slice,
    shown: Sequence[str],
    chosen: Mapping[str, Any],
) -> None:
    """The card. `shown`: the names that get a row; the others are counted in a sentence."""
    rows = [one for one in in_order(several) if one.name in shown or one is reference]
    held = against(rows, reference)
    judged = sum(one.p is not None for one in held)
    label = wording.in_markdown(filters.label(by, reference.name), 60)
    better = {"low": "the lowest rate first", "high": "the highest rate first", None: "neither end is better"}
    with cards.card(
        f"{rate.title} by {DIMENSIONS[by].lower()}, {better[rate.better]}",
        "slices",
        caption=f"Share of {rate.noun}s that {rate.hit}. Each is held against {label}; the verdict is "
        f"corrected for {wording.plural(judged, 'difference')} looked at together (Holm).",
        take=cards.Take(f"{rate.name}_by_{by}", answers.later("slices", rates=(rate.name,), by=by, **chosen)),
        height=420,
    ):
        _table(by, rate, held, reference)
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


def in_order(several: Sequence[Slice]) -> list[Slice]:
    """The best first; then, without a rank, those of which too few were observed, or too little measured."""
    best = ranked(several)
    return [
        *(one for one in best if one.solid),
        *(one for one in best if one.rankable and not one.solid),
        *(one for one in best if not one.rankable),
    ]


def _table(by: str, rate: Rate, held: Sequence[Against], reference: Slice) -> None:
    scale = scale_of([one.slice.share for one in held])
    reach = reach_of(held)
    columns = [
        Column(DIMENSIONS[by], "name"),
        Column("Rank", "number"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        difference_column("Difference", reach),
        Column("Verdict", "tight", "Against the reference, all rows considered together (Holm)"),
        Column("Sessions", "number", "In which the rate was observed; what the interval rests on"),
    ]
    rows = [_row(by, place, one, reference, scale, reach) for place, one in enumerate(held, start=1)]
    sheet("ranking", f"{rate.title} by {DIMENSIONS[by].lower()}", columns, rows)


def _row(by: str, place: int, held: Against, reference: Slice, scale: Scale, reach: float) -> list[Cell]:
    one = held.slice
    is_reference = one is reference
    return [
        name_cell(by, one.name),
        _rank(place, one),
        rate_cell(one, scale, calls_of(one.rate, {by: one.name})),
        difference_cell(held, reach, none="reference" if is_reference else "–"),
        Cell("Reference", tone="info") if is_reference else verdict_cell(held, reference),
        Cell(f"{one.share.sessions or 0:,}", order=one.share.sessions or 0),
    ]


def _rank(place: int, one: Slice) -> Cell:
    if one.solid:
        return Cell(f"{place}", order=-place)
    few = one.share.n and one.rankable
    measured = f"{wording.rate(one.share.n, one.total)} measured" if one.share.n else "unmeasured"
    return Cell(f"n < {ENOUGH}" if few else measured, tone="calm" if few else "warn")
