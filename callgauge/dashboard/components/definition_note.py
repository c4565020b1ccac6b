"""The line about calls whose rate was not measured, because a definition or the text is missing."""

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
    """Draw the line for all these slices; nothing when all their calls had a definition.

    `slices`: those of the rates defined and parse_error; each call is in one slice.
    """
    if gap := describe_gap(find_definition_share(slices)):
        st.caption(gap)


def draw_measured_note(rate: RateDefinition, slices: Sequence[Slice]) -> None:
    """Draw how much of a rate was not measured; nothing when all of it was.

    `slices`: those of `rate` and, for parse errors, of the rate defined.
    """
    if unmeasured := describe_unmeasured(rate, [slice_ for slice_ in slices if slice_.rate is rate]):
        st.caption(unmeasured)
    elif rate.name == "parse_error":
        draw_definition_note(slices)
