"""The page Matrix: one rate for each pair of model, prompt and tool, as a shaded table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import (
    DIMENSIONS,
    choose_one,
    choose_rate,
    choose_smallest,
)
from callgauge.dashboard.components.difference_cells import verdict_cell
from callgauge.dashboard.components.strata_queries import read_strata
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.comparisons import (
    RankedTable,
    SliceComparison,
    Standing,
    choose_reference,
    rank_table,
)
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.slices import Slice, make_slices
from callgauge.dashboard.measures.verdicts import RULE, describe_top
from callgauge.dashboard.pages.matrix.heat_map import HeatMap, build_heat_map

_PAIRS = {"model.prompt": "Model × prompt", "model.tool": "Model × tool", "tool.prompt": "Tool × prompt"}
_ROWS, _COLUMNS = 40, 14
_STEPS = 5  # of the legend


def show() -> None:
    st.title("Matrix", anchor=False)
    chosen = filters.chosen_filters().parameters()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        pair = choose_one("Cells", "cells", list(_PAIRS), "model.prompt", _PAIRS.__getitem__, width=180)
        rate = choose_rate()
        smallest = choose_smallest()
    by, also = pair.split(".")
    asked = {"rates": (rate.name,), "by": by, "also": also}
    found = make_slices(store_queries.ask("slices", **asked, **chosen))
    if not found:
        cards.show_no_matches(f"{rate.noun}s for this rate")
        return
    totals = make_slices(store_queries.ask("slices", rates=(rate.name,), by=by, **chosen))
    take = cards.Download(
        f"{rate.name}_by_{by}_and_{also}", store_queries.ask_later("slices", **asked, **chosen)
    )
    with cards.draw_card(
        f"{rate.title} by {DIMENSIONS[by].lower()} and {DIMENSIONS[also].lower()}",
        "slices",
        "strata",
        take=take,
        caption=f"Share of {rate.noun}s that {rate.hit}. The most observed first; a cell leads to its calls.",
        height=480,
    ):
        shown = build_heat_map(found, _ROWS, _COLUMNS)
        judged = _judge_rows(shown, totals, rate, by, chosen, smallest)
        _draw_answer(judged, by)
        _draw(shown, {one.name: one for one in totals}, judged, rate, by, also, smallest)
        _draw_legend(shown, rate)
        _draw_bounds(shown, by, also)


def _judge_rows(
    shown: HeatMap,
    totals: Sequence[Slice],
    rate: RateDefinition,
    by: str,
    chosen: Mapping[str, Any],
    smallest: float,
) -> RankedTable:
    """Return the totals of the rows, ranked: each held against that with most sessions, at the same mix."""
    rows = [one for one in totals if one.name in shown.rows]
    solid = [one.name for one in rows if one.is_solid]
    strata = read_strata(rate, by, chosen, arms=solid) if len(solid) > 1 else None
    return rank_table(rows, choose_reference(rows), strata, smallest)


def _draw_answer(judged: RankedTable, by: str) -> None:
    names = {
        row.slice.name: wording.one_line(filters.value_label(by, row.slice.name), 60) for row in judged.rows
    }
    answer = describe_top(judged, names, DIMENSIONS[by].lower())
    st.subheader(wording.in_markdown(answer, 600), anchor=False)
    reference = wording.in_markdown(names[judged.reference.name], 60)
    st.caption(
        f"Verdict: each row as a whole against {reference}, at the same mix of work where that matters."
    )


def _draw(
    shown: HeatMap,
    totals: Mapping[str, Slice],
    judged: RankedTable,
    rate: RateDefinition,
    by: str,
    also: str,
    smallest: float,
) -> None:
    held = {row.slice.name: row for row in judged.rows}
    columns = [
        Column(DIMENSIONS[by], "name", width="180px"),
        Column("All", "cell", f"All of the {DIMENSIONS[by].lower()}"),
        Column("Verdict", "tight", "On the row as a whole; the sentence shows on hover"),
        *(
            Column(
                wording.one_line(filters.value_label(also, name), 18),
                "cell",
                wording.one_line(filters.value_label(also, name), 200),
            )
            for name in shown.columns
        ),
    ]
    rows = [
        [
            Cell(
                wording.one_line(filters.value_label(by, row), 50),
                href=filters.page_link("calls", {by: row}, {}),
                title=wording.one_line(filters.value_label(by, row), 200),
                order=filters.value_label(by, row),
            ),
            _build_cell(shown, totals.get(row), rate, {by: row}),
            _verdict_cell(held.get(row), smallest),
            *(
                _build_cell(shown, shown.cells.get((row, column)), rate, {by: row, also: column})
                for column in shown.columns
            ),
        ]
        for row in shown.rows
    ]
    draw_table("matrix", f"{rate.title} by {by} and {also}", columns, rows)


def _verdict_cell(held: SliceComparison | None, smallest: float) -> Cell:
    if held is None:
        return Cell("–")
    if held.standing() is Standing.REFERENCE:
        return Cell("Reference", tone="info")
    return verdict_cell(held, smallest)


def _build_cell(shown: HeatMap, one: Slice | None, rate: RateDefinition, narrowed: Mapping[str, str]) -> Cell:
    """Return the cell of one pair: the rate, with its interval and unmeasured share on hover.

    The cell is empty when the pair has no call.
    """
    if one is None:
        return Cell("")
    share = one.share
    if share.rate is None:
        return Cell("–", sub="unmeasured", pale=True, href=None)
    missing = f"; {wording.unmeasured_share(share.n, one.total)}"
    return Cell(
        wording.rate(share.k, share.n),
        sub=f"{share.k:,} / {share.n:,}",
        href=filters.page_link("calls", narrowed, rate.calls if rate.calls and share.k else {}),
        pale=not one.is_solid,
        heat=shown.cell_heat(one),
        title=f"{wording.interval(share.interval)}, {share.method_name}; "
        f"{wording.plural(share.sessions or 0, 'session')}{missing}",
        order=share.rate,
    )


def _draw_legend(shown: HeatMap, rate: RateDefinition) -> None:
    """Draw the legend: a row of shaded cells and the rates for which the shades stand."""
    if not shown.worst:
        st.caption(f"No shades: no cell with {RULE} has anything wrong. Pale: fewer.")
        return
    shades = [(heat, 1 - bad if rate.is_good else bad) for heat, bad in shown.legend_shades(_STEPS)]
    columns = [Column("Shade", "tight"), *(Column(wording.percent(value), "cell") for _, value in shades)]
    cells = [Cell(rate.title, pale=True), *(Cell("", heat=heat) for heat, _ in shades)]
    with st.container(width=640):
        draw_table("matrix_legend", "What the shades stand for", columns, [cells])
    st.caption(
        f"The deepest shade is the worst cell with {RULE}. Pale, unshaded: fewer. "
        "Empty: the pair does not occur. The interval shows on hover and is in the export's counts."
    )


def _draw_bounds(shown: HeatMap, by: str, also: str) -> None:
    parts = [
        f"{len(names)} of {in_all:,} {DIMENSIONS[dimension].lower()}s"
        for names, in_all, dimension in (
            (shown.rows, shown.rows_in_all, by),
            (shown.columns, shown.columns_in_all, also),
        )
        if in_all > len(names)
    ]
    if parts:
        st.caption(f"Shown are {' and '.join(parts)}, the most observed; the filters bring up the others.")


show()
