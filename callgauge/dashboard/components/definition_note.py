"""The line that says what parse errors do not cover where logs lack tool definitions."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from callgauge.analysis.measures.measurability import describe_gap, find_definition_share
from callgauge.analysis.measures.slices import Slice


def draw_definition_note(slices: Iterable[Slice]) -> None:
    """Draw the line for these slices together; nothing where all their calls had a definition.

    `slices`: those of the rates defined and parse_error, of calls that are in one slice each.
    """
    if gap := describe_gap(find_definition_share(slices)):
        st.caption(gap)
