"""Draws the tool calls in a model's reply: dialect and position of each call, and one call in full."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.texts import marked_text as spans
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.finding_list import draw_marked_text, outcome_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.playground import result
from callgauge.dashboard.pages.playground.inputs import PlaygroundInputs
from callgauge.dashboard.pages.playground.parsing import find_calls
from lenient import TextCall

_LISTED = 100


def show(inputs: PlaygroundInputs) -> None:
    calls = find_calls(inputs.raw, inputs.definition, inputs.dialect, inputs.leaked)
    _draw_found(inputs.raw, calls, leaked=inputs.leaked)
    if not calls:
        return
    call = calls[_choose_call(calls)]
    result.draw_result(call.request)
    result.draw_raw(call.request)
    result.draw_details(call.request, call.diagnostics)


def draw_marks(inputs: PlaygroundInputs) -> None:
    """Draw the reply. Each call is marked with its number and dialect."""
    calls = find_calls(inputs.raw, inputs.definition, inputs.dialect, inputs.leaked)
    marks = [
        spans.TextMark(call.start, call.end, f"{number} {call.dialect}")
        for number, call in enumerate(calls[:_LISTED], start=1)
    ]
    draw_marked_text("reply", inputs.raw, (), marks, narrow=True)


def _draw_found(text: str, calls: Sequence[TextCall], *, leaked: bool) -> None:
    with cards.draw_card(
        f"{wording.plural(len(calls), 'call')} found", caption=None if calls else _describe_none(leaked)
    ):
        listed = calls[:_LISTED]
        if not calls:
            return
        columns = [
            Column("No.", "number"), Column("Call", "name"), Column("Outcome", "tight"),
            Column("Place", "tight", "Line:column in the reply, from and to."), Column("Diagnostics"),
        ]  # fmt: skip
        rows = [_build_row(text, number, call) for number, call in enumerate(listed, start=1)]
        draw_table("reply_calls", "Calls found in the reply", columns, rows)
        if len(calls) > len(listed):
            st.caption(f"The first {len(listed)} of {len(calls):,}.")


def _describe_none(leaked: bool) -> str:
    if leaked:
        return "No leaked call. Without tool definitions, only calls between the tokens of a dialect count."
    return (
        "Code, reasoning and examples are not calls. Without the tokens of a dialect, a call counts only if "
        "its tool is defined."
    )


def _build_row(text: str, number: int, call: TextCall) -> list[Cell]:
    codes = dict.fromkeys(diagnostic.code for diagnostic in (*call.diagnostics, *call.request.diagnostics))
    whole = "whole" if call.complete else "cut off"
    return [
        Cell(f"{number:,}"),
        Cell(wording.one_line(call.name, 80) or "no name", sub=call.dialect),
        outcome_cell(call.request.outcome, sub=whole),
        Cell(f"{spans.locate(text, call.start)} – {spans.locate(text, call.end)}", mono=True),
        Cell(", ".join(codes) or "none", mono=bool(codes)),
    ]


def _choose_call(calls: Sequence[TextCall]) -> int:
    if len(calls) == 1:
        return 0
    names = {
        str(number): f"{number} · {wording.one_line(call.name, 60)}"
        for number, call in enumerate(calls[:_LISTED], start=1)
    }
    return int(choose_one("Call", "nth", list(names), "1", names.__getitem__, width=320)) - 1
