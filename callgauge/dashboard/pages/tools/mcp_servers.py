"""Draws a table of MCP servers: calls, errors, rejections, latency, and the cost of the definitions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.latency import read_latencies
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.latency_cells import latency_cells
from callgauge.dashboard.components.slice_table import judged_rate_cell, make_scale
from callgauge.dashboard.components.table import Cell, Column, draw_table

NO_SERVER = "none"
"""The value of the dimension for tools that belong to no MCP server."""
_RATES = ("parse_error", "tool_rejected", "execution", "refused")
_MOST = 50
_NAMED = 20  # tools that a tooltip lists

Row = Mapping[Hashable, Any]


def has_servers(offered: pd.DataFrame) -> bool:
    """Return whether a row of the metric `offered_tools` belongs to an MCP server."""
    return bool(offered.mcp_server.notna().any())


def draw_servers(offered: pd.DataFrame, chosen: Mapping[str, Any]) -> None:
    """Draw one row per server, the most called server first. Tools without a server come last."""
    grouping: dict[str, Any] = {"rates": _RATES, "by": filters.MCP_SERVER}
    rows = store_queries.ask("slices", **grouping, **chosen)
    slices: dict[str, dict[str, Slice]] = {name: {} for name in _RATES}
    for slice_ in make_slices(rows):
        slices[slice_.rate.name][slice_.name] = slice_
    tools: dict[str, list[Row]] = {}
    for row in offered.to_dict("records"):
        tools.setdefault(row["mcp_server"] or NO_SERVER, []).append(row)
    calls = {name: slice_.total for each in _RATES for name, slice_ in slices[each].items()}
    names = sorted({*calls, *tools}, key=lambda name: (name == NO_SERVER, -calls.get(name, 0), name))
    times = {
        each.slice: each
        for each in read_latencies(store_queries.ask("latency", by=filters.MCP_SERVER, **chosen))
        if each.kind == "tool"
    }
    scales = {name: make_scale([slice_.share for slice_ in own.values()]) for name, own in slices.items()}
    heads = [
        Column("MCP server", "name"),
        Column("Calls", "number"),
        Column("Never called", "number", "Tools that a log lists as offered and no session called"),
        Column(
            "Tokens / step",
            "number",
            "Of the definitions of its tools, in the steps that were offered them, at four bytes per token",
        ),
        *(Column(RATES[name].title, "rate", scale=scales[name].ends()) for name in _RATES),
        Column("Latency p50", "number", "Half of the server's calls took at most this long"),
        Column("Latency p95", "number"),
    ]
    cells = [
        [
            _name_cell(name),
            Cell(
                f"{calls.get(name, 0):,}",
                href=filters.page_link("calls", {filters.MCP_SERVER: name}, {}) if name in calls else None,
                order=calls.get(name, 0),
            ),
            *_definition_cells(tools.get(name, ()), is_server=name != NO_SERVER),
            *(
                judged_rate_cell(slices[rate][name], scales[rate]) if name in slices[rate] else Cell("–")
                for rate in _RATES
            ),
            *latency_cells(times.get(name)),
        ]
        for name in names[:_MOST]
    ]
    servers = sum(name != NO_SERVER for name in names)
    take = cards.Download("mcp_servers", store_queries.ask_later("slices", **grouping, **chosen))
    with cards.draw_card(
        wording.plural(servers, "MCP server"),
        "slices",
        "offered_tools",
        "latency",
        take=take,
        caption="Most calls first. Open a server to see its tools.",
    ):
        draw_table("mcp_servers", "MCP servers by calls", heads, cells)
        if len(names) > _MOST:
            st.caption(f"The first {_MOST} of {len(names):,}.")


def _name_cell(name: str) -> Cell:
    return Cell(
        "no MCP server" if name == NO_SERVER else wording.one_line(name, 60),
        href=filters.page_link("tools", {filters.MCP_SERVER: name}, {}),
        title=wording.one_line(name, 400),
        order=name,
    )


def _definition_cells(tools: Sequence[Row], *, is_server: bool) -> list[Cell]:
    """Return two cells: how many of a server's tools were never called, and the definition tokens per step.

    The number of steps is that of the tool that was offered most often.
    """
    listed = [row for row in tools if row["steps"]]
    if not listed:
        return [Cell("–", sub="no log lists its tools"), Cell("–")]
    unused = [str(row["tool"]) for row in listed if not row["calls"]]
    steps = max(row["steps" if is_server else "all_steps"] for row in listed)
    spent = sum(row["spent"] for row in listed)
    tokens = round(spent / steps)
    return [
        Cell(
            f"{len(unused):,}",
            sub=f"of {wording.plural(len(listed), 'tool')}",
            title=wording.one_line(", ".join(unused[:_NAMED]), 400) or None,
            order=len(unused),
        ),
        Cell(f"{tokens:,}", sub=f"{spent:,} in all", order=tokens, values={"": tokens, "in all": spent}),
    ]
