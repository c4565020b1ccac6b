"""Lists tools that models called although no log offers these tools."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import call_link
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table

RATE = "unknown_tool"
NAMELESS = "unknown"
"""The value of the dimension `tool` for calls without a tool name."""
_LISTED = 50


def find_invented(by_tool: Mapping[str, Slice]) -> list[str]:
    """Return the tools that were not offered in any of their calls.

    `by_tool` holds the slices of the rate `unknown_tool`.
    """
    return [
        name
        for name, slice_ in by_tool.items()
        if name != NAMELESS and slice_.share.k and slice_.share.k == slice_.total
    ]


def draw_list(invented: Sequence[Slice], nameless: int, chosen: Mapping[str, Any]) -> None:
    """Draw the expander with the invented tools. Draw nothing if there are no such tools.

    `nameless` is the number of calls without a tool name.
    """
    counts = []
    if invented:
        calls = wording.plural(sum(slice_.total for slice_ in invented), "call")
        counts.append(f"{calls} to {wording.plural(len(invented), 'tool')} that were not offered")
    if nameless:
        counts.append(f"{wording.plural(nameless, 'call')} without a tool's name")
    if not counts:
        return
    fold = draw_fold(" · ".join(counts), "invented")
    if fold is None:
        return
    with fold:
        names = {slice_.name for slice_ in invented}
        listed = store_queries.ask("invented_tools", **chosen).to_dict("records")
        shown = [row for row in listed if row["tool"] in names][:_LISTED]
        with cards.draw_card(
            "Names that models invented",
            "invented_tools",
            caption="They are not tools, so they are not ranked. Each of these calls counts as failed.",
        ):
            heads = [
                Column("Name", "name"),
                Column("Calls", "number"),
                Column("Probably meant", "name", "The nearest name among the tools offered in such logs"),
                Column("Top model", "short"),
                Column("Newest", "tight"),
            ]
            rows = [_build_row(row) for row in shown]
            if nameless:
                rows.append(_build_nameless_row(nameless))
            draw_table("invented_list", "Tools that were not offered", heads, rows)
            if len(invented) > len(shown):
                st.caption(f"The first {len(shown):,} of {len(invented):,}.")


def _build_nameless_row(calls: int) -> list[Cell]:
    return [
        Cell("no name", sub="lost with the call's text"),
        Cell(f"{calls:,}", href=filters.page_link("calls", {"tool": NAMELESS}, {}), order=calls),
        *(Cell("–") for _ in range(3)),
    ]


def _build_row(row: Mapping[Hashable, Any]) -> list[Cell]:
    name, nearest = row["tool"], row["nearest"]
    others = f"and {wording.plural(row['models'] - 1, 'other model')}" if row["models"] > 1 else None
    return [
        Cell(wording.one_line(name, 60), title=wording.one_line(name, 400), order=name),
        Cell(f"{row['calls']:,}", href=filters.page_link("calls", {"tool": name}, {}), order=row["calls"]),
        Cell(
            wording.one_line(nearest, 60),
            href=filters.page_link("tools", {}, {"tool_open": nearest}),
            order=nearest,
        )
        if nearest
        else Cell("–", sub="none is near"),
        Cell(wording.one_line(row["model"], 60), sub=others, order=row["model"]),
        Cell("open", href=call_link(row["example"])),
    ]
