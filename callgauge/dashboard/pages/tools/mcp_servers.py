"""Draws a table of MCP servers: calls, errors, rejections, latency, and the cost of the definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.mcp_servers import (
    RATE_NAMES,
    ServerComparison,
    ServerScore,
    ServerTool,
    compare_servers,
)
from callgauge.analysis.measures.latency import Latency
from callgauge.analysis.measures.rates import RATES
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.slice_table import judged_rate_cell, make_scale
from callgauge.dashboard.components.table import Cell, Column, draw_table

_MOST = 50
_NAMED = 20  # tools that a tooltip lists
_VIEW = {"view": "server"}


def has_servers(offered: pd.DataFrame) -> bool:
    """Return whether a row of the metric `offered_tools` belongs to an MCP server."""
    return bool(offered.mcp_server.notna().any())


def read_servers(chosen: Mapping[str, Any]) -> ServerComparison:
    """Return the MCP servers of the shown store side by side. Raises MetricError."""
    return store_queries.derive(lambda ask: compare_servers(ask, chosen), "MCP servers", chosen)


def draw_servers(comparison: ServerComparison, chosen: Mapping[str, Any]) -> None:
    """Draw one row per server, the most called server first. Tools without a server come last.

    If the filters choose one server, a second table lists the tools of this server.
    """
    shown = comparison.servers[:_MOST]
    scales = {
        name: make_scale([score.slices[name].share for score in comparison.servers if name in score.slices])
        for name in RATE_NAMES
    }
    heads = [
        Column("MCP server", "name"),
        Column("Calls", "number"),
        Column("Never called", "number", "Tools that a log lists as offered and no session called"),
        Column(
            "Tokens / step",
            "number",
            "Of the definitions of its tools, in the steps that were offered them, at four bytes per token",
        ),
        *(Column(RATES[name].title, "rate", scale=scales[name].ends()) for name in RATE_NAMES),
        Column("Latency", "number", "Half of the server's calls took at most this long; p95: 95% of them"),
    ]
    cells = [
        [
            _name_cell(score),
            Cell(
                f"{score.calls:,}",
                href=filters.page_link("calls", {filters.MCP_SERVER: score.name}, {})
                if score.calls
                else None,
                order=score.calls,
            ),
            *_definition_cells(score),
            *(
                judged_rate_cell(score.slices[rate], scales[rate]) if rate in score.slices else Cell("–")
                for rate in RATE_NAMES
            ),
            _latency_cell(score.latency),
        ]
        for score in shown
    ]
    servers = sum(score.is_server for score in comparison.servers)
    grouping: dict[str, Any] = {"rates": RATE_NAMES, "by": filters.MCP_SERVER}
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
        if len(comparison.servers) > _MOST:
            st.caption(f"The first {_MOST} of {len(comparison.servers):,}.")
        for note in comparison.notes:
            st.caption(wording.in_markdown(note, 400))
    if chosen["mcp_servers"] and len(chosen["mcp_servers"]) == 1:
        for score in comparison.servers:
            _draw_tools(score)


def _name_cell(score: ServerScore) -> Cell:
    return Cell(
        wording.one_line(score.name, 60) if score.is_server else "no MCP server",
        href=filters.page_link("tools", {filters.MCP_SERVER: score.name}, _VIEW),
        title=wording.one_line(score.name, 400),
        order=score.name,
    )


def _definition_cells(score: ServerScore) -> list[Cell]:
    """Return two cells: how many of a server's tools were never called, and the definition tokens per
    step.
    """
    if score.tokens_per_step is None:
        return [Cell("–", sub="not listed", title="No log lists the tools of this server"), Cell("–")]
    unused, tokens = [tool.name for tool in score.unused], score.tokens_per_step
    unused_cell = Cell(
        f"{len(unused):,}",
        sub=f"of {wording.plural(len(score.offered), 'tool')}",
        title=wording.one_line(", ".join(unused[:_NAMED]), 400) or None,
        order=len(unused),
    )
    cost = f"{score.unused_tokens_per_step:,} never called" if unused else f"{score.spent:,} in all"
    values = {"": tokens, "never called": score.unused_tokens_per_step, "in all": score.spent}
    return [unused_cell, Cell(f"{tokens:,}", sub=cost, order=tokens, values=values)]


def _latency_cell(latency: Latency | None) -> Cell:
    """Return a cell with the median latency, and below it the 95th percentile and the measured calls."""
    if latency is None or latency.p50 is None or latency.p95 is None:
        return Cell("–", sub="not measured")
    p50, p95 = (wording.duration(each / 1000) for each in (latency.p50, latency.p95))
    return Cell(
        p50,
        sub=f"p95 {p95}\n{wording.fraction(latency.n, latency.total)}",
        title=latency.basis,
        order=latency.p50,
        values={"p50 ms": latency.p50, "p95 ms": latency.p95, "n": latency.n},
    )


def _draw_tools(score: ServerScore) -> None:
    """Draw the tools of one server, the largest definition first, each with a link to fix its definition."""
    tools = sorted(score.tools, key=lambda tool: (-tool.spent, -tool.calls, tool.name))
    title = f"Tools of {wording.one_line(score.name, 60)}"
    heads = [
        Column("Tool", "name"),
        Column("Calls", "number"),
        Column("Steps", "number", "Steps whose turn was offered the tool"),
        Column("Tokens / step", "number", "Of its definition, estimated at four bytes per token"),
        Column("Next step", "tight"),
    ]
    rows: Sequence[list[Cell]] = [
        [
            Cell(wording.one_line(tool.name, 60), title=wording.one_line(tool.name, 400)),
            Cell(f"{tool.calls:,}" if tool.calls else "never called", order=tool.calls),
            Cell(f"{tool.steps:,}", order=tool.steps),
            Cell("–" if tool.tokens is None else f"{tool.tokens:,}", order=tool.tokens or 0),
            _next_step_cell(tool),
        ]
        for tool in tools[:_MOST]
    ]
    caption = "In the chosen days. Each definition is sent with every step that offers it."
    with cards.draw_card(wording.in_markdown(title, 80), "offered_tools", caption=caption):
        draw_table("server_tools", "Tools of the MCP server", heads, rows)
        if len(tools) > _MOST:
            st.caption(f"The first {_MOST} of {len(tools):,}.")


def _next_step_cell(tool: ServerTool) -> Cell:
    if tool.is_unused:
        return Cell("Stop offering it", title="No session called the tool on these days")
    return Cell("Fix the definition", href=filters.page_link("tools", {}, {"tool_open": tool.name}))
