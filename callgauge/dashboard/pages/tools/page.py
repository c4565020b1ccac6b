"""The page Tools: tools by expected loss, the worst first; with `?tool_open=` in the URL, one tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import draw_pager
from callgauge.dashboard.components.controls.rate_choice import choose_rate
from callgauge.dashboard.components.controls.url_widgets import reset_page_number
from callgauge.dashboard.components.slice_table import READING, IntervalScale, make_scale, rate_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.rates import RATES
from callgauge.dashboard.measures.slices import Slice, make_slices
from callgauge.dashboard.pages.tools import one_tool
from callgauge.dashboard.pages.tools.expected_loss import expected_loss, sort_by_loss

PER_PAGE = 50
SHOWN = ("parse_error", "tool_rejected", "execution", "mended", "recovered")


def show() -> None:
    name = st.query_params.get("tool_open")
    if name is not None:
        one_tool.show(name)
        return
    st.title("Tools", anchor=False)
    chosen = filters.chosen_filters().parameters()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        rate = choose_rate(among=tuple(name for name in RATES if RATES[name].better))
    rates = tuple(dict.fromkeys((rate.name, *SHOWN)))
    rows = store_queries.ask("slices", rates=rates, by="tool", **chosen)
    if rows.empty:
        cards.show_no_matches("calls")
        return
    columns: dict[str, dict[str, Slice]] = {name: {} for name in rates}
    for one in make_slices(rows):
        columns[one.rate.name][one.name] = one
    _draw_table(rate.name, columns, chosen)


def _draw_table(rate: str, columns: Mapping[str, Mapping[str, Slice]], chosen: Mapping[str, Any]) -> None:
    names = sort_by_loss(columns[rate], list(dict.fromkeys(name for one in columns.values() for name in one)))
    reset_page_number("tool_page", {"rate": rate, **chosen})
    text = st.query_params.get("tool_page")
    pages = -(-len(names) // PER_PAGE)
    page = min(pages, max(1, int(text))) if text and text.isdecimal() else 1
    shown = names[PER_PAGE * (page - 1) : PER_PAGE * page]
    title = RATES[rate].title
    take = cards.Download(
        "tools", store_queries.ask_later("slices", rates=tuple(columns), by="tool", **chosen)
    )
    with cards.draw_card(
        wording.plural(len(names), "tool"),
        "slices",
        take=take,
        height=600,
        caption=f"By expected loss: {title.lower()} × all {RATES[rate].noun}s. Open a tool to see what it is "
        f"that calls get wrong. {READING}",
    ):
        scales = {
            name: make_scale([several[tool].share for tool in shown if tool in several])
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
                Column(RATES[name].title, "rate", _describe_rate(name), scale=scales[name].ends())
                for name in columns
            ),
        ]
        draw_table(
            "tools",
            "Tools by expected loss",
            heads,
            [_build_row(tool, rate, columns, scales) for tool in shown],
        )
        draw_pager("tool_page", pages)


def _describe_rate(rate: str) -> str:
    return f"Share of {RATES[rate].noun}s that {RATES[rate].hit}, with its 95% interval"


def _build_row(
    tool: str, rate: str, columns: Mapping[str, Mapping[str, Slice]], scales: Mapping[str, IntervalScale]
) -> list[Cell]:
    one = columns[rate].get(tool)
    loss, total = expected_loss(one), one.total if one else 0
    measured = one is not None and one.share.n > 0
    return [
        Cell(
            wording.one_line(tool, 60),
            href=filters.page_link("tools", {}, {"tool_open": tool}),
            title=wording.one_line(tool, 400),
            order=tool,
        ),
        Cell(f"{total:,}", href=filters.page_link("calls", {"tool": tool}, {}), order=total),
        Cell(
            f"{loss:,.1f}" if measured else "–",
            sub=None if measured and one is not None and one.is_rankable else "hardly measured",
            order=loss if measured else None,
        ),
        *(rate_cell(columns[name].get(tool), scales[name]) for name in columns),
    ]


show()
