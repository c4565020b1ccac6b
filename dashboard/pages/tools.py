"""All tools by what they lose, the worst first; or, with `?tool_open=` in the URL, one of them in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.losses import by_loss, expected_loss
from dashboard.pages import tool_view
from dashboard.rates import RATES
from dashboard.slices import Slice, slices
from dashboard.widgets import cards
from dashboard.widgets.paging import pager
from dashboard.widgets.rate_choice import rate_choice
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import READING, Scale, rate_cell, scale_of
from dashboard.widgets.urlstate import begin_again

PER_PAGE = 50
SHOWN = ("parse_error", "tool_rejected", "execution", "mended", "recovered")


def show() -> None:
    name = st.query_params.get("tool_open")
    if name is not None:
        tool_view.show(name)
        return
    st.title("Tools", anchor=False)
    chosen = filters.chosen().parameters()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        rate = rate_choice(among=tuple(name for name in RATES if RATES[name].better))
    rates = tuple(dict.fromkeys((rate.name, *SHOWN)))
    rows = answers.ask("slices", rates=rates, by="tool", **chosen)
    if rows.empty:
        cards.nothing_matches("calls")
        return
    columns: dict[str, dict[str, Slice]] = {name: {} for name in rates}
    for one in slices(rows):
        columns[one.rate.name][one.name] = one
    _table(rate.name, columns, chosen)


def _table(rate: str, columns: Mapping[str, Mapping[str, Slice]], chosen: Mapping[str, Any]) -> None:
    names = by_loss(columns[rate], list(dict.fromkeys(name for one in columns.values() for name in one)))
    begin_again("tool_page", {"rate": rate, **chosen})
    text = st.query_params.get("tool_page")
    pages = -(-len(names) // PER_PAGE)
    page = min(pages, max(1, int(text))) if text and text.isdecimal() else 1
    shown = names[PER_PAGE * (page - 1) : PER_PAGE * page]
    title = RATES[rate].title
    take = cards.Take("tools", answers.later("slices", rates=tuple(columns), by="tool", **chosen))
    with cards.card(
        f"{wording.plural(len(names), 'tool')}, the worst first",
        "slices",
        take=take,
        height=600,
        caption=f"By expected loss: {title.lower()} × all {RATES[rate].noun}s. Open a tool to see what it is "
        f"that calls get wrong. {READING}",
    ):
        scales = {
            name: scale_of([several[tool].share for tool in shown if tool in several])
            for name, several in columns.items()
        }
        heads = [
            Column("Tool", "name"),
            Column(f"{RATES[rate].noun.capitalize()}s", "number"),
            Column(
                "Expected loss",
                "number",
                f"{title} × all {RATES[rate].noun}s, as if the unmeasured were like the others",
            ),
            *(
                Column(RATES[name].title, "rate", _meaning(name), scale=scales[name].ends())
                for name in columns
            ),
        ]
        sheet("tools", "Tools by expected loss", heads, [_row(tool, rate, columns, scales) for tool in shown])
        pager("tool_page", pages)


def _meaning(rate: str) -> str:
    return f"Share of {RATES[rate].noun}s that {RATES[rate].hit}, with its 95% interval"


def _row(
    tool: str, rate: str, columns: Mapping[str, Mapping[str, Slice]], scales: Mapping[str, Scale]
) -> list[Cell]:
    one = columns[rate].get(tool)
    loss, total = expected_loss(one), one.total if one else 0
    measured = one is not None and one.share.n > 0
    return [
        Cell(
            wording.one_line(tool, 60),
            href=filters.link("tools", {}, {"tool_open": tool}),
            title=wording.one_line(tool, 400),
            order=tool,
        ),
        Cell(f"{total:,}", href=filters.link("calls", {"tool": tool}, {}), order=total),
        Cell(
            f"{loss:,.1f}" if measured else "–",
            sub=None if measured and one is not None and one.rankable else "hardly measured",
            order=loss if measured else None,
        ),
        *(rate_cell(columns[name].get(tool), scales[name]) for name in columns),
    ]


show()
