"""Draws one tool: its failures and how to fix them, then its models, trend and definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import oldest_of_newest
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices, rank_slices
from callgauge.analysis.verdicts.parameter_faults import read_tool_faults
from callgauge.analysis.verdicts.tool_answers import describe_reported_failures, write_tool_answer
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.slice_table import READING, draw_slice_table
from callgauge.dashboard.pages.tools import definition_fix, definitions, parameter, trend

RATES_SHOWN = ("parse_error", "mended", "tool_rejected", "execution", "recovered")
JUDGED = 2_000_000  # number of newest calls whose diagnostics are read
_MODELS = 40


def show(tool: str) -> None:
    draw_link("all_tools", "← All tools", filters.page_link("tools", {}, {}))
    st.title(wording.in_markdown(tool), anchor=False)
    chosen = filters.chosen_filters().parameters() | {"tools": (tool,)}
    rows = store_queries.ask("slices", rates=RATES_SHOWN, by="model", **chosen)
    if rows.empty:
        cards.show_no_matches("calls of this tool")
        return
    since = oldest_of_newest(store_queries.ask("call_days", **chosen), JUDGED)
    counted = chosen if since is None else chosen | {"from_day": since}
    faults = read_tool_faults(store_queries.ask("parameter_faults", **counted).to_dict("records"))
    versions = store_queries.ask("definitions", **chosen).to_dict("records")
    newest = versions[0] if versions else None
    cards.draw_answer(write_tool_answer(tool, faults, defined=newest is not None), 500)
    envelopes = store_queries.ask("failure_envelopes", **counted).to_dict("records")
    if reported := describe_reported_failures(envelopes):
        st.caption(
            reported,
            help="The log does not mark these results as failures. If they are data, exclude the tool under "
            "`[failures.tools]` in naming.toml.",
        )
    draw_notes("tool", tool)
    parameter.show(tool, faults, counted)
    parameter.draw_parameters(tool, faults, newest, counted, str(since) if since else None)
    definition_fix.show(tool, filters.chosen_filters().parameters())
    _draw_models(tool, make_slices(rows), chosen)
    definitions.show(tool, versions, chosen)
    trend.show(versions, chosen)


def _draw_models(tool: str, slices: list[Slice], chosen: Mapping[str, Any]) -> None:
    by_rate = {
        name: [slice_ for slice_ in slices if slice_.rate.name == name]
        for name in RATES_SHOWN
        if any(slice_.rate.name == name for slice_ in slices)
    }
    first = "parse_error" if "parse_error" in by_rate else next(iter(by_rate))
    best = rank_slices(by_rate[first])
    names = {slice_.name for slice_ in best[:_MODELS]}
    fold = draw_fold("Rates by model", "models")
    if fold is None:
        return
    left_out = f" The first {_MODELS} of {len(best)}." if len(best) > _MODELS else ""
    with (
        fold,
        cards.draw_card(
            "Rates by model",
            "slices",
            caption=f"The best by {RATES[first].phrase} first.{left_out} {READING}",
            take=cards.Download(
                "tool_by_model", store_queries.ask_later("slices", rates=RATES_SHOWN, by="model", **chosen)
            ),
            framed=False,
        ),
    ):
        draw_slice_table(
            "model",
            {
                name: [slice_ for slice_ in several if slice_.name in names]
                for name, several in by_rate.items()
            },
            key="tool_models",
            ranked_by=first,
            leads=lambda model: filters.page_link("calls", {"model": model, "tool": tool}, {}),
        )
