"""One rate for each pair of model and prompt, model and tool, or tool and prompt, as a table with shades."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.matrices import Matrix, matrix
from dashboard.rates import Rate
from dashboard.slices import Slice, slices
from dashboard.statistics import ENOUGH
from dashboard.widgets import cards
from dashboard.widgets.rate_choice import DIMENSIONS, choice, rate_choice
from dashboard.widgets.sheet import Cell, Column, sheet

_PAIRS = {"model.prompt": "Model × prompt", "model.tool": "Model × tool", "tool.prompt": "Tool × prompt"}
_ROWS, _COLUMNS = 40, 14
_STEPS = 5  # of the legend


def show() -> None:
    st.title("Matrix", anchor=False)
    chosen = filters.chosen().parameters()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        pair = choice("Cells", "cells", list(_PAIRS), "model.prompt", _PAIRS.__getitem__, width=180)
        rate = rate_choice()
    by, also = pair.split(".")
    asked = {"rates": (rate.name,), "by": by, "also": also}
    found = slices(answers.ask("slices", **asked, **chosen))
    if not found:
        cards.nothing_matches(f"{rate.noun}s for this rate")
        return
    totals = {one.name: one for one in slices(answers.ask("slices", rates=(rate.name,), by=by, **chosen))}
    take = cards.Take(f"{rate.name}_by_{by}_and_{also}", answers.later("slices", **asked, **chosen))
    with cards.card(
        f"{rate.title} by {DIMENSIONS[by].lower()} and {DIMENSIONS[also].lower()}",
        "slices",
        take=take,
        caption=f"Share of {rate.noun}s that {rate.hit}. The most observed first; a cell leads to its calls.",
        height=480,
    ):
        shown = matrix(found, _ROWS, _COLUMNS)
        _draw(shown, totals, rate, by, also)
        _legend(shown, rate)
        _bounds(shown, by, also)


def _draw(shown: Matrix, totals: Mapping[str, Slice], rate: Rate, by: str, also: str) -> None:
    columns = [
        Column(DIMENSIONS[by], "name", width="180px"),
        Column("All", "cell", f"All of the {DIMENSIONS[by].lower()}"),
        *(
            Column(
                wording.one_line(filters.label(also, name), 18),
                "cell",
                wording.one_line(filters.label(also, name), 200),
            )
            for name in shown.columns
        ),
    ]
    rows = [
        [
            Cell(
                wording.one_line(filters.label(by, row), 50),
                href=filters.link("calls", {by: row}, {}),
                title=wording.one_line(filters.label(by, row), 200),
                order=filters.label(by, row),
            ),
            _cell(shown, totals.get(row), rate, {by: row}),
            *(
                _cell(shown, shown.cells.get((row, column)), rate, {by: row, also: column})
                for column in shown.columns
            ),
        ]
        for row in shown.rows
    ]
    sheet("matrix", f"{rate.title} by {by} and {also}", columns, rows)


def _cell(shown: Matrix, one: Slice | None, rate: Rate, narrowed: Mapping[str, str]) -> Cell:
    """The rate; on hover its interval and what is unmeasured. Without a call of the pair: empty."""
    if one is None:
        return Cell("")
    share = one.share
    if share.rate is None:
        return Cell("–", sub="unmeasured", pale=True, href=None)
    missing = f"; {wording.unmeasured(share.n, one.total)}"
    return Cell(
        wording.rate(share.k, share.n),
        sub=f"{share.k:,} / {share.n:,}",
        href=filters.link("calls", narrowed, rate.calls if rate.calls and share.k else {}),
        pale=share.n < ENOUGH,
        heat=shown.heat(one),
        title=f"{wording.interval(share.interval)}, {share.method}; "
        f"{wording.plural(share.sessions or 0, 'session')}{missing}",
        order=share.rate,
    )


def _legend(shown: Matrix, rate: Rate) -> None:
    """What the shades stand for, as a row of the same cells."""
    if not shown.worst:
        st.caption(f"No shades: no cell with {ENOUGH} or more {rate.noun}s has anything wrong. Pale: fewer.")
        return
    shades = [(heat, 1 - bad if rate.good else bad) for heat, bad in shown.shades(_STEPS)]
    columns = [Column("Shade", "tight"), *(Column(wording.percent(value), "cell") for _, value in shades)]
    cells = [Cell(rate.title, pale=True), *(Cell("", heat=heat) for heat, _ in shades)]
    with st.container(width=640):
        sheet("matrix_legend", "What the shades stand for", columns, [cells])
    st.caption(
        f"The deepest shade is the worst cell with {ENOUGH} or more {rate.noun}s. Pale, unshaded: fewer. "
        "Empty: the pair does not occur. The interval shows on hover and is in the export's counts."
    )


def _bounds(shown: Matrix, by: str, also: str) -> None:
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
