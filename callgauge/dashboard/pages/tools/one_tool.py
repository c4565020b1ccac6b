"""Draws one tool: its findings by parameter, its definitions, its rates by model and its trend."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices, rank_slices, sum_groups
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link, draw_replay_link
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.slice_table import READING, IntervalScale, draw_slice_table, make_scale
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.tools import definitions, parameter, trend
from callgauge.dashboard.pages.tools.parameter import judged_cell, judged_share
from callgauge.stats import Share

RATES_SHOWN = ("parse_error", "mended", "tool_rejected", "execution", "recovered")
_MODELS = 40


def show(tool: str) -> None:
    draw_link("all_tools", "← All tools", filters.page_link("tools", {}, {}))
    st.title(wording.in_markdown(tool), anchor=False)
    chosen = filters.chosen_filters().parameters() | {"tools": (tool,)}
    rows = store_queries.ask("slices", rates=RATES_SHOWN, by="model", **chosen)
    if rows.empty:
        cards.show_no_matches("calls of this tool")
        return
    draw_replay_link(tool)
    draw_notes("tool", tool)
    culprits = store_queries.ask("culprits", **chosen).to_dict("records")
    _draw_culprits(tool, culprits, chosen)
    parameter.show(tool, chosen)
    definitions.show(tool, chosen, culprits)
    trend.show(chosen)
    _draw_models(tool, make_slices(rows), chosen)


def _draw_models(tool: str, found: list[Slice], chosen: Mapping[str, Any]) -> None:
    by_rate = {
        name: [one for one in found if one.rate.name == name]
        for name in RATES_SHOWN
        if any(one.rate.name == name for one in found)
    }
    first = "parse_error" if "parse_error" in by_rate else next(iter(by_rate))
    best = rank_slices(by_rate[first])
    names = {one.name for one in best[:_MODELS]}
    left_out = f" The first {_MODELS} of {len(best)}." if len(best) > _MODELS else ""
    with cards.draw_card(
        "Rates by model",
        "slices",
        caption=f"The best by {RATES[first].phrase} first.{left_out} {READING}",
        take=cards.Download(
            "tool_by_model", store_queries.ask_later("slices", rates=RATES_SHOWN, by="model", **chosen)
        ),
    ):
        draw_slice_table(
            "model",
            {name: [one for one in several if one.name in names] for name, several in by_rate.items()},
            key="tool_models",
            ranked_by=first,
            leads=lambda model: filters.page_link("calls", {"model": model, "tool": tool}, {}),
        )


def _draw_culprits(tool: str, rows: list[dict[Hashable, Any]], chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "What calls get wrong, by parameter",
        "culprits",
        take=cards.Download("culprits", store_queries.ask_later("culprits", **chosen)),
        caption="Open a parameter to see who gets it wrong."
        if rows
        else "Nothing was found in the arguments of the calls that could be judged.",
    ):
        if not rows:
            return
        shares = [
            judged_share(row["calls"], row["judged"], sum_groups([row], "calls", "judged")) for row in rows
        ]
        scale = make_scale([share for share in shares if share])
        heads = [
            Column("Parameter", "name"),
            Column("Finding", "tight"),
            Column("Calls", "number"),
            Column("Share of judged calls", "rate", "With its 95% interval", scale=scale.ends()),
            Column("Newest", "tight"),
            Column("Meaning"),
        ]
        drawn = [_build_culprit_row(tool, row, share, scale) for row, share in zip(rows, shares, strict=True)]
        draw_table("culprits", "What calls get wrong by parameter", heads, drawn)


def _build_culprit_row(
    tool: str, row: Mapping[Hashable, Any], share: Share | None, scale: IntervalScale
) -> list[Cell]:
    return [
        Cell(
            wording.one_line(row["parameter"], 80) or "the arguments as a whole",
            mono=bool(row["parameter"]),
            href=parameter.parameter_link(tool, row),
            order=row["parameter"],
        ),
        Cell(
            row["severity"] or "–",
            tone=SEVERITY_TONES.get(row["severity"]),
            sub=row["code"],
            order=row["code"],
        ),
        Cell(
            f"{row['calls']:,}",
            href=filters.page_link("calls", {"tool": tool}, {"code": row["code"]}),
            order=row["calls"],
        ),
        judged_cell(share, scale),
        Cell("open", href=filters.page_link("calls", {}, {"call": row["example"]})),
        Cell(row["summary"] or "–"),
    ]
