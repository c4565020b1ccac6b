"""Draws a line that counts the calls for which a rate cannot be measured."""

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
    """Draw how many calls had no tool definition. Draw nothing when all calls had a definition.

    `slices` holds the slices of the rates `defined` and `parse_error`. Each call is in exactly one slice.
    """
    if gap := describe_gap(find_definition_share(slices)):
        st.caption(gap)


def draw_measured_note(rate: RateDefinition, slices: Sequence[Slice]) -> None:
    """Draw the number of calls for which a rate is not measured.

    Draw nothing when the rate is measured for all calls. `slices` holds the slices of `rate` and, for parse
    errors, also the slices of the rate `defined`.
    """
    if unmeasured := describe_unmeasured(rate, [slice_ for slice_ in slices if slice_.rate is rate]):
        st.caption(unmeasured)
    elif rate.name == "parse_error":
        draw_definition_note(slices)
