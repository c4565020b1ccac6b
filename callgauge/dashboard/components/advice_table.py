"""A table of lint findings about a tool definition, with suggested edits and the reasons."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.advice import Advice
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.table import Cell, Column, draw_table

_FINDINGS = 50


def draw_advice_table(key: str, found: Sequence[Advice], *, calls: bool) -> None:
    """Draw the lint's advice. `calls`: show how many calls each finding may explain, which is then known."""
    if not found:
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
    draw_table(key, "Advice of the lint", heads, [_build_row(one, calls=calls) for one in found[:_FINDINGS]])
    if len(found) > _FINDINGS:
        st.caption(f"The first {_FINDINGS} of {len(found):,}.")


def _build_row(one: Advice, *, calls: bool) -> list[Cell]:
    return [
        Cell(
            wording.one_line(one.place, 80) if one.place else "the tool itself",
            mono=one.place is not None,
            order=one.place or "",
        ),
        Cell(one.severity, tone=SEVERITY_TONES.get(one.severity), sub=one.code, order=one.code),
        *([_calls_cell(one)] if calls else []),
        Cell(wording.one_line(one.summary, 300), sub=one.why),
        Cell(wording.one_line(one.edit, 600), mono=one.patch),
    ]


def _calls_cell(one: Advice) -> Cell:
    if one.place in (None, "$"):
        return Cell("–", title="Not counted: the advice is about the whole tool")
    told = "\n".join(f"{culprit.calls:,} {culprit.code}" for culprit in one.explained)
    return Cell(f"{one.calls:,}", title=told or None, order=one.calls)
