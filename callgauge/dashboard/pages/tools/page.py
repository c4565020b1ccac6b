"""The page Tools: the worst tool in a sentence, then tools by their failures; `?tool_open=` opens one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import LISTED, RATES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.tools import estimate_failures, judge_tools, sort_by_failures, write_tools
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import draw_pager
from callgauge.dashboard.components.controls.rate_choice import choose_rate
from callgauge.dashboard.components.controls.url_widgets import draw_fold, reset_page_number
from callgauge.dashboard.components.definition_note import draw_measured_note
from callgauge.dashboard.components.slice_table import (
    READING,
    IntervalScale,
    judged_rate_cell,
    make_scale,
    rate_cell,
    rate_column,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.tools import invented_tools, one_tool

PER_PAGE = 25
SHOWN = ("parse_error", "tool_rejected", "execution", "mended", "recovered")

Columns = Mapping[str, Mapping[str, Slice]]  # the slices by tool, by rate


def show() -> None:
    name = st.query_params.get("tool_open")
    if name is not None:
        one_tool.show(name)
        return
    st.title("Tools", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rate = choose_rate(among=tuple(name for name in LISTED if RATES[name].better))
    rates = tuple(dict.fromkeys((rate.name, *SHOWN)))
    rows = store_queries.ask("slices", rates=(*rates, invented_tools.RATE, "defined"), by="tool", **chosen)
    if rows.empty:
        cards.show_no_matches("calls")
        return
    found: dict[str, dict[str, Slice]] = {name: {} for name in (*rates, invented_tools.RATE, "defined")}
    for one in make_slices(rows):
        found[one.rate.name][one.name] = one
    invented = invented_tools.find_invented(found[invented_tools.RATE])
    columns = {name: found[name] for name in rates}
    nameless = found[invented_tools.RATE].get(invented_tools.NAMELESS)
    apart = {invented_tools.NAMELESS, *invented}
    names = dict.fromkeys(name for several in columns.values() for name in several if name not in apart)
    ordered = sort_by_failures(columns[rate.name], list(names))
    solid = [name for name in ordered if name in columns[rate.name] and columns[rate.name][name].is_solid]
    few = [name for name in ordered if name not in set(solid)]
    _draw_answer(rate.name, names, found, chosen)
    several = columns[rate.name].values()
    draw_measured_note(rate, [*several, *found["defined"].values()])
    take = cards.Download("tools", store_queries.ask_later("slices", rates=rates, by="tool", **chosen))
    if solid:
        _draw_solid(solid, rate.name, columns, chosen, take)
    unknown = [found[invented_tools.RATE][name] for name in invented]
    invented_tools.draw_list(unknown, nameless.total if nameless else 0, chosen)
    if not few:
        return
    title = f"{wording.plural(len(few), 'tool')} with too few sessions to rank"
    fold = draw_fold(title, "few") if solid else cards.draw_card(title)
    if fold is not None:
        with fold:
            _draw_page("few_tools", "few_page", few, rate.name, columns, chosen, few=True)


def _draw_answer(rate: str, names: Iterable[str], columns: Columns, chosen: Mapping[str, Any]) -> None:
    several = columns[rate]
    measured = [each for name in ("parse_error", "defined") for each in columns[name].values()]
    verdict = judge_tools([several[name] for name in names if name in several], measured)
    culprits, faults = [], {}
    if named := verdict.named:
        faults = {each: columns[each][named.name] for each in columns if named.name in columns[each]}
        if rate == "parse_error":
            asked = {**chosen, "tools": (named.name,)}
            culprits = store_queries.ask("culprits", **asked).to_dict("records")
    cards.draw_answer(write_tools(verdict, faults, culprits), 400)


def _draw_solid(
    names: Sequence[str], rate: str, columns: Columns, chosen: Mapping[str, Any], take: cards.Download
) -> None:
    with cards.draw_card(
        f"{wording.plural(len(names), 'tool')} with enough sessions",
        "slices",
        take=take,
        height=600,
        verdict="worst",
        caption=f"By failures: {RATES[rate].phrase} × all {RATES[rate].noun}s. "
        f"Open a tool to see what its calls get wrong. {READING}",
    ):
        _draw_page("tools", "tool_page", names, rate, columns, chosen)


def _draw_page(
    key: str,
    page_key: str,
    names: Sequence[str],
    rate: str,
    columns: Columns,
    chosen: Mapping[str, Any],
    *,
    few: bool = False,
) -> None:
    """Draw one page of a list of tools; the URL key `page_key` holds its number.

    `few`: True where too little is known of each tool. Then a rate has its counts and no interval, as long as
    too little is known of it.
    """
    reset_page_number(page_key, {"rate": rate, **chosen})
    text = st.query_params.get(page_key)
    pages = -(-len(names) // PER_PAGE)
    page = min(pages, max(1, int(text))) if text and text.isdecimal() else 1
    shown = names[PER_PAGE * (page - 1) : PER_PAGE * page]
    scales = {
        name: make_scale([several[tool].share for tool in shown if tool in several])
        for name, several in columns.items()
    }
    noun, title = RATES[rate].noun, RATES[rate].title
    heads = [
        Column("Tool", "name"),
        Column(f"{noun.capitalize()}s", "number"),
        Column(
            f"Failed {noun}s",
            "number",
            f"{title} × all {noun}s, as if those not measured were like the others",
        ),
        *(_rate_column(name, scales[name], columns, shown, few) for name in columns),
    ]
    draw_table(
        key, "Tools by failures", heads, [_build_row(one, rate, columns, scales, few) for one in shown]
    )
    draw_pager(page_key, pages)


def _build_row(
    tool: str, rate: str, columns: Columns, scales: Mapping[str, IntervalScale], few: bool
) -> list[Cell]:
    one = columns[rate].get(tool)
    failures, total = estimate_failures(one), one.total if one else 0
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
            f"{failures:,.1f}" if measured else "–",
            sub=None if measured and one is not None and one.is_rankable else "hardly measured",
            order=failures if measured else None,
        ),
        *(_rate_cell(columns[name].get(tool), scales[name], few) for name in columns),
    ]


def _rate_column(
    name: str, scale: IntervalScale, columns: Columns, tools: Sequence[str], few: bool
) -> Column:
    """Return the head of a rate; without a scale where no tool has an interval."""
    column = rate_column(name, scale)
    drawn = not few or any(columns[name][tool].is_solid for tool in tools if tool in columns[name])
    return column if drawn else replace(column, scale=None)


def _rate_cell(one: Slice | None, scale: IntervalScale, few: bool) -> Cell:
    return judged_rate_cell(one, scale) if few and one else rate_cell(one, scale)


show()
