"""One tool day by day: the days on which its rate became another, beside those of a new definition."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from dashboard import answers
from dashboard.rates import RATES
from dashboard.slices import slices
from dashboard.widgets import cards
from dashboard.widgets.rate_choice import rate_choice
from dashboard.widgets.rate_trend import Event, rate_trend

Row = Mapping[Hashable, Any]


def show(chosen: Mapping[str, Any]) -> None:
    """`chosen`: the filters with this one tool."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="tool_trend_rate"):
        rate = rate_choice(among=tuple(name for name in RATES if RATES[name].better))
    asked = {"rates": (rate.name,), "by": "tool", "also": "day", **chosen}
    versions: Sequence[Row] = answers.ask("definitions", **chosen).to_dict("records")
    rate_trend(
        f"{rate.title} by day, with the changes of the definition",
        slices(answers.ask("slices", **asked)),
        rate,
        "tool",
        key="tool_trend",
        take=cards.Take(f"{rate.name}_by_day", answers.later("slices", **asked)),
        events=definition_events(versions),
    )


def definition_events(versions: Sequence[Row]) -> list[Event]:
    """The day on which each definition but the first came into force, from the rows of that metric."""
    known = sorted((one for one in versions if one["first_day"]), key=lambda one: one["number"])
    return [
        Event(
            after["first_day"],
            f"Version {after['number']} of the definition",
            f"{(after['definition_id'] or '–')[:12]}; before: version {before['number']}",
        )
        for before, after in pairwise(known)
    ]
