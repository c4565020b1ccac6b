"""The page Tools: a sentence on the worst tool, then the tools, those with most failures first.

With `?tool_open=` in the URL, the page shows one tool.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.latency import read_latencies
from callgauge.analysis.measures.rates import LISTED, RATES, RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.tools import judge_tools, sort_by_failures, write_tools
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import draw_pager
from callgauge.dashboard.components.controls.rate_choice import choose_rate, choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_fold, reset_page_number
from callgauge.dashboard.components.definition_note import draw_measured_note
from callgauge.dashboard.components.latency_cells import latency_cells
from callgauge.dashboard.components.slice_table import (
    IntervalScale,
    judged_rate_cell,
    make_scale,
    rate_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.tools import (
    definition_fix,
    invented_tools,
    mcp_servers,
    one_tool,
    unused_tools,
)

PER_PAGE = 25
_VIEWS = {"tool": "By tool", "server": "By MCP server"}
SHOWN = ("parse_error", "retried", "turn_success")
OTHERS = ("mended", "tool_rejected", "execution", "refused", "truncated")
GIVEN_UP = RateDefinition(
    "given_up",
    "Given up",
    "retry sequence",
    "ended with a failed attempt",
    calls={"attempt": "first", "chain": "abandoned"},
)
_RECOVERED = "recovered"
_EXPLAINED = ("parse_error", GIVEN_UP.name)  # rates whose header has a tooltip
_MOST = 50

Columns = Mapping[str, Mapping[str, Slice]]  # for each rate, the slices by tool


def show() -> None:
    name = st.query_params.get("tool_open")
    if name is not None:
        one_tool.show(name)
        return
    st.title("Tools", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rate = choose_rate(among=tuple(name for name in LISTED if RATES[name].better))
    rates = tuple(dict.fromkeys((rate.name, *SHOWN, _RECOVERED, "parse_error")))
    rows = store_queries.ask("slices", rates=(*rates, invented_tools.RATE, "defined"), by="tool", **chosen)
    if rows.empty:
        cards.show_no_matches("calls")
        return
    by_rate = _group_by_rate(rows, (*rates, invented_tools.RATE, "defined"))
    invented = invented_tools.find_invented(by_rate[invented_tools.RATE])
    nameless = by_rate[invented_tools.RATE].get(invented_tools.NAMELESS)
    apart = {invented_tools.NAMELESS, *invented}
    names = dict.fromkeys(name for each in rates for name in by_rate[each] if name not in apart)
    columns = {name: by_rate[name] for name in dict.fromkeys((rate.name, *SHOWN))}
    columns[GIVEN_UP.name] = {name: _count_given_up(slice_) for name, slice_ in by_rate[_RECOVERED].items()}
    ordered = sort_by_failures(columns[rate.name], list(names))
    solid = [name for name in ordered if name in columns[rate.name] and columns[rate.name][name].is_solid]
    few = [name for name in ordered if name not in set(solid)]
    answer = st.container()
    several = columns[rate.name].values()
    offered = store_queries.ask("offered_tools", **chosen)
    views = list(_VIEWS) if mcp_servers.has_servers(offered) else []
    if views and choose_segment("Table", "view", views, _VIEWS.__getitem__) == "server":
        comparison = mcp_servers.read_servers(chosen)
        with answer:
            cards.draw_answer(comparison.sentence, 900)
        mcp_servers.draw_servers(comparison, chosen)
        unused_tools.draw_unused(offered)
        return
    with answer:
        _draw_answer(rate.name, names, by_rate, chosen)
        draw_measured_note(rate, [*several, *by_rate["defined"].values()])
    take = cards.Download("tools", store_queries.ask_later("slices", rates=rates, by="tool", **chosen))
    if solid:
        _draw_solid(solid, rate.name, columns, chosen, take)
        _draw_all_rates(solid, chosen)
    unknown = [by_rate[invented_tools.RATE][name] for name in invented]
    invented_tools.draw_list(unknown, nameless.total if nameless else 0, chosen)
    unused_tools.draw_unused(offered)
    if not few:
        return
    title = f"{wording.plural(len(few), 'tool')} with too few sessions to rank"
    fold = draw_fold(title, "few") if solid else cards.draw_card(title)
    if fold is not None:
        with fold:
            _draw_page("few_tools", "few_page", few, rate.name, columns, chosen, few=True)


def _group_by_rate(rows: pd.DataFrame, rates: Iterable[str]) -> dict[str, dict[str, Slice]]:
    by_rate: dict[str, dict[str, Slice]] = {name: {} for name in rates}
    for tool in make_slices(rows):
        by_rate[tool.rate.name][tool.name] = tool
    return by_rate


def _count_given_up(recovered: Slice) -> Slice:
    return replace(recovered, rate=GIVEN_UP, share=recovered.share.complement)


def _draw_answer(rate: str, names: Iterable[str], columns: Columns, chosen: Mapping[str, Any]) -> None:
    several = columns[rate]
    measured = [each for name in ("parse_error", "defined") for each in columns[name].values()]
    verdict = judge_tools([several[name] for name in names if name in several], measured)
    culprits, faults = [], {}
    if named := verdict.named:
        faults = {each: columns[each][named.name] for each in columns if named.name in columns[each]}
        if rate == "parse_error":
            parameters = {**chosen, "tools": (named.name,)}
            culprits = store_queries.ask("culprits", **parameters).to_dict("records")
    cards.draw_answer(write_tools(verdict, faults, culprits), 400)
    if rate in ("parse_error", "mended"):
        definition_fix.draw_fix_links(store_queries.ask("worst_parameters", **chosen).to_dict("records"))


def _draw_solid(
    names: Sequence[str], rate: str, columns: Columns, chosen: Mapping[str, Any], take: cards.Download
) -> None:
    with cards.draw_card(
        f"{wording.plural(len(names), 'tool')} with enough sessions",
        "slices",
        take=take,
        height=600,
        verdict="worst",
        caption="Most failures first. Open a tool to see what its calls get wrong.",
    ):
        _draw_page("tools", "tool_page", names, rate, columns, chosen)


def _draw_all_rates(names: Sequence[str], chosen: Mapping[str, Any]) -> None:
    fold = draw_fold("All rates", "all_rates")
    if fold is None:
        return
    listed = names[:_MOST]
    by_rate = _group_by_rate(store_queries.ask("slices", rates=OTHERS, by="tool", **chosen), OTHERS)
    times = {
        each.slice: each
        for each in read_latencies(store_queries.ask("latency", by="tool", **chosen))
        if each.kind == "tool"
    }
    scales = {
        name: make_scale([several[tool].share for tool in listed if tool in several])
        for name, several in by_rate.items()
    }
    heads = [
        Column("Tool", "name"),
        *(Column(RATES[name].title, "rate", scale=scales[name].ends()) for name in OTHERS),
        Column("Latency p50", "number", "Half of the tool's calls took at most this long"),
        Column("Latency p95", "number"),
    ]
    with fold, cards.draw_card("All rates", "slices", "latency", framed=False):
        cells = [
            [
                _name_cell(tool),
                *(rate_cell(by_rate[name].get(tool), scales[name]) for name in OTHERS),
                *latency_cells(times.get(tool)),
            ]
            for tool in listed
        ]
        draw_table("tools_all_rates", "All rates of tools", heads, cells)
        if len(names) > len(listed):
            st.caption(f"The first {len(listed)} of {len(names):,}.")


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
    """Draw one page of a list of tools. The URL key `page_key` contains the page number.

    With `few`, every tool has too little data, and rates show counts without an interval.
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
    heads = [
        Column("Tool", "name"),
        Column("Calls", "number"),
        *(_rate_column(name, scales[name], columns, shown, few) for name in columns),
        Column("Worst parameter", "short"),
    ]
    rows = store_queries.ask("worst_parameters", **chosen).to_dict("records")
    worst = {row["tool"]: row for row in rows}
    cells = [[*_build_row(tool, columns, scales, few), _worst_cell(tool, worst.get(tool))] for tool in shown]
    draw_table(key, "Tools by failures", heads, cells)
    draw_pager(page_key, pages)


def _build_row(tool: str, columns: Columns, scales: Mapping[str, IntervalScale], few: bool) -> list[Cell]:
    of_calls = columns["parse_error"].get(tool)
    calls = of_calls.total if of_calls else 0
    return [
        _name_cell(tool),
        Cell(f"{calls:,}", href=filters.page_link("calls", {"tool": tool}, {}), order=calls),
        *(_rate_cell(columns[name].get(tool), scales[name], few) for name in columns),
    ]


def _worst_cell(tool: str, row: Mapping[Hashable, Any] | None) -> Cell:
    """Return a cell with the parameter that fails most.

    The cell links to the parameter on the page of the tool.
    """
    if row is None:
        return Cell("–")
    return Cell(
        wording.short_name(row["parameter"], 40),
        sub=wording.fraction(row["calls"], row["judged"]),
        mono=True,
        title=f"{row['code']} in {wording.rate(row['calls'], row['judged'])} of calls",
        href=filters.page_link("tools", {}, {"tool_open": tool, "parameter": row["parameter"]}),
        order=row["calls"] / row["judged"] if row["judged"] else 0.0,
        values={"": row["parameter"], "code": row["code"], "k": row["calls"], "n": row["judged"]},
    )


def _name_cell(tool: str) -> Cell:
    return Cell(
        wording.one_line(tool, 60),
        href=filters.page_link("tools", {}, {"tool_open": tool}),
        title=wording.one_line(tool, 400),
        order=tool,
    )


def _rate_column(
    name: str, scale: IntervalScale, columns: Columns, tools: Sequence[str], few: bool
) -> Column:
    definition = GIVEN_UP if name == GIVEN_UP.name else RATES[name]
    drawn = not few or any(columns[name][tool].is_solid for tool in tools if tool in columns[name])
    explained = f"{definition.meaning}, with its 95% interval" if name in _EXPLAINED else None
    return Column(definition.title, "rate", explained, scale=scale.ends() if drawn else None)


def _rate_cell(slice_: Slice | None, scale: IntervalScale, few: bool) -> Cell:
    return judged_rate_cell(slice_, scale) if few and slice_ else rate_cell(slice_, scale)


show()
