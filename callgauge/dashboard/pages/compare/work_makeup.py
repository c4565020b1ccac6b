"""Draws how the mix of two slices differs: models, tools, prompts, sizes and so on."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.call_traits import TITLES, class_words
from callgauge.analysis.comparisons.sides import CompareSide
from callgauge.analysis.measures.same_mix import MakeupShift, find_makeup_shifts
from callgauge.analysis.verdicts import sentences
from callgauge.dashboard import filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.slice_table import part_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.compare.arms import read_makeup
from callgauge.dashboard.pages.compare.exports import make_export

_SHIFTS = 12


def draw_makeup(a: CompareSide, b: CompareSide) -> None:
    """Draw the largest differences in the mix of the slices.

    Skips dimensions by which a slice is filtered.
    """
    with cards.draw_card(
        "What differs in their work",
        "makeup",
        caption="Shares of the calls: what else may explain a rate.",
        take=cards.Download("compare_makeup", make_export(a.arm, b.arm, "makeup")),
        height=300,
    ):
        chosen = set(a.arm.own) | set(b.arm.own)
        shifts = find_makeup_shifts(read_makeup(a.arm), read_makeup(b.arm), chosen)
        if not shifts:
            st.caption(
                "Nothing: their calls have the same tools, prompts, sources and kinds in the same shares."
            )
            return
        columns = [
            Column("Of", "tight"),
            Column("Value", "name"),
            Column("A", "number", "Share of the calls of A"),
            Column("B", "number", "Share of the calls of B"),
            Column("B − A", "number", "In points"),
        ]
        rows = [_shift_row(shift) for shift in shifts]
        draw_table("makeup", "What differs between the slices", columns, rows, shown=_SHIFTS)


def _shift_row(shift: MakeupShift) -> list[Cell]:
    if shift.dimension in TITLES:
        title, value = TITLES[shift.dimension], class_words(shift.dimension, int(shift.value))
    else:
        title, value = DIMENSIONS[shift.dimension], filters.value_label(shift.dimension, shift.value)
    return [
        Cell(title, order=title),
        Cell(wording.one_line(value, 60), title=wording.one_line(value, 400), order=value),
        _part_cell(shift.a, shift.a_total),
        _part_cell(shift.b, shift.b_total),
        Cell(sentences.fixed_points(shift.change, 1), order=abs(shift.change), values={"": shift.change}),
    ]


def _part_cell(calls: int, total: int) -> Cell:
    return replace(part_cell(calls, total, counts=True), share=calls / total)
