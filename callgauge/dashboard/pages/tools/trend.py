"""Draws one tool's rate by day. Marks show when the rate shifted and when a definition changed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from callgauge.analysis.measures.rates import LISTED, RATES
from callgauge.analysis.measures.slices import make_slices
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_rate
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.rate_trend import TrendEvent, draw_rate_trend

Row = Mapping[Hashable, Any]


def show(versions: Sequence[Row], chosen: Mapping[str, Any]) -> None:
    """Draw the expander with a rate of one tool by day."""
    fold = draw_fold("Rates by day", "by_day")
    if fold is None:
        return
    with fold:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="tool_trend_rate"):
            rate = choose_rate(among=tuple(name for name in LISTED if RATES[name].better))
        parameters = {"rates": (rate.name,), "by": "tool", "also": "day", **chosen}
        draw_rate_trend(
            f"{rate.title} by day, with the changes of the definition",
            make_slices(store_queries.ask("slices", **parameters)),
            rate,
            "tool",
            key="tool_trend",
            take=cards.Download(f"{rate.name}_by_day", store_queries.ask_later("slices", **parameters)),
            events=find_definition_events(versions),
        )


def find_definition_events(versions: Sequence[Row]) -> list[TrendEvent]:
    """Return an event on the first day of each definition except the first definition."""
    dated = sorted(
        (version for version in versions if version["first_day"]), key=lambda version: version["number"]
    )
    return [
        TrendEvent(
            after["first_day"],
            f"Version {after['number']} of the definition",
            f"{(after['definition_id'] or '–')[:12]}; before: version {before['number']}",
        )
        for before, after in pairwise(dated)
    ]
