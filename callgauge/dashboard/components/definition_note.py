"""The line that says what parse errors do not cover where logs lack tool definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.analysis.measures.measurability import describe_gap, find_definition_shares
from callgauge.analysis.measures.slices import make_slices
from callgauge.dashboard import store_queries

RATES = ("defined", "parse_error")
"""The rates that tell how many calls had a definition."""


def draw_definition_note(chosen: Mapping[str, Any]) -> None:
    """Draw the line for the chosen calls; nothing where all of them had a definition."""
    slices = make_slices(store_queries.ask("slices", rates=RATES, **chosen), related=False)
    if gap := describe_gap(find_definition_shares(slices).get("all")):
        st.caption(gap)
