"""The line that says what of a rate was not measured, for want of tool definitions or text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from callgauge.analysis.measures.measurability import (
    describe_gap,
    describe_unmeasured,
    find_definition_share,
)
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice


def draw_definition_note(slices: Iterable[Slice]) -> None:
    """Draw the line for these slices together; nothing where all their calls had a definition.

    `slices`: those of the rates defined and parse_error, of calls that are in one slice each.
    """
    if gap := describe_gap(find_definition_share(slices)):
        st.caption(gap)


def draw_measured_note(rate: RateDefinition, slices: Sequence[Slice]) -> None:
    """Draw what was not measured of a rate; nothing where it was measured in full.

    `slices`: those of `rate` and, for parse errors, of the rate defined.
    """
    if unmeasured := describe_unmeasured(rate, [slice_ for slice_ in slices if slice_.rate is rate]):
        st.caption(unmeasured)
    elif rate.name == "parse_error":
        draw_definition_note(slices)
