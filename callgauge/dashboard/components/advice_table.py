"""Draws a table of lint findings about a tool definition.

Each row has a suggested edit and the reason for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.advice import Advice
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.table import Cell, Column, draw_table

_FINDINGS = 50


def draw_advice_table(key: str, advice_list: Sequence[Advice], *, calls: bool) -> None:
    """Draw the lint findings of a tool definition.

    With `calls`, a column shows how many tool calls each finding may explain.
    """
    if not advice_list:
        st.caption("The lint has no advice.")
        return
    counted = [Column("Calls", "number", "With an error or a guess at this parameter, at least")]
    edit = "A JSON merge patch (RFC 7396) for the value at this place, or advice"
    heads = [
        Column("Place", "name"),
        Column("Severity", "tight"),
        *(counted if calls else []),
        Column("What is wrong"),
        Column("Suggested edit", help=edit),
    ]
    draw_table(
        key,
        "Advice of the lint",
        heads,
        [_build_row(advice, calls=calls) for advice in advice_list[:_FINDINGS]],
    )
    if len(advice_list) > _FINDINGS:
        st.caption(f"The first {_FINDINGS} of {len(advice_list):,}.")


def _build_row(advice: Advice, *, calls: bool) -> list[Cell]:
    return [
        Cell(
            wording.one_line(advice.place, 80) if advice.place else "the tool itself",
            mono=advice.place is not None,
            order=advice.place or "",
        ),
        Cell(advice.severity, tone=SEVERITY_TONES.get(advice.severity), sub=advice.code, order=advice.code),
        *([_calls_cell(advice)] if calls else []),
        Cell(wording.one_line(advice.summary, 300), sub=advice.why),
        Cell(wording.one_line(advice.edit, 600), mono=advice.patch),
    ]


def _calls_cell(advice: Advice) -> Cell:
    if advice.place in (None, "$"):
        return Cell("–", title="Not counted: the advice is about the whole tool")
    codes = "\n".join(f"{culprit.calls:,} {culprit.code}" for culprit in advice.explained)
    return Cell(f"{advice.calls:,}", title=codes or None, order=advice.calls)
