"""Lists the tools that were offered but never called, and what their definitions cost."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table

_LISTED = 50


def draw_unused(offered: pd.DataFrame) -> None:
    """Draw the expander with the unused tools. Draw nothing if there are no such tools."""
    unused = offered[(offered.steps > 0) & (offered.calls == 0)].to_dict("records")
    if not unused:
        return
    per_step = round(sum(row["spent"] for row in unused) / unused[0]["all_steps"])
    were = "tool was" if len(unused) == 1 else "tools were"
    title = f"{len(unused):,} offered {were} never called · about {per_step:,} tokens per step"
    fold = draw_fold(title, "unused")
    if fold is None:
        return
    with (
        fold,
        cards.draw_card(
            "Offered tools that no session called",
            "offered_tools",
            caption="In the chosen days. Each definition is sent with every step that offers it.",
        ),
    ):
        heads = [
            Column("Tool", "name"),
            Column("MCP server", "name"),
            Column("Steps", "number", "Steps whose turn was offered the tool"),
            Column("Tokens / step", "number", "Of its definition, estimated at four bytes per token"),
            Column("Tokens in all", "number"),
        ]
        rows = [
            [
                Cell(wording.one_line(row["tool"], 60), title=wording.one_line(row["tool"], 400)),
                _server_cell(row["mcp_server"]),
                *(Cell(f"{row[name]:,}", order=row[name]) for name in ("steps", "tokens", "spent")),
            ]
            for row in unused[:_LISTED]
        ]
        draw_table("unused_tools", "Offered tools that no session called", heads, rows)
        if len(unused) > _LISTED:
            st.caption(f"The first {_LISTED} of {len(unused):,}.")


def _server_cell(server: str | None) -> Cell:
    if server is None:
        return Cell("–")
    return Cell(
        wording.one_line(server, 60), href=filters.page_link("tools", {filters.MCP_SERVER: server}, {})
    )
