"""A model's whole reply in, the calls found in it out: dialect, place, findings, arguments of each."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import spans, wording
from dashboard.pages import playground_result as result
from dashboard.pages.playground_inputs import Asked
from dashboard.pages.playground_read import calls_of
from dashboard.widgets import cards
from dashboard.widgets.findings import OUTCOME_TONES, marked_text
from dashboard.widgets.rate_choice import choice
from dashboard.widgets.sheet import Cell, Column, sheet
from lenient import TextCall

_LISTED = 100  # calls


def show(asked: Asked) -> None:
    calls = calls_of(asked.raw, asked.definition, asked.told, asked.leaked)
    _found(asked.raw, calls, leaked=asked.leaked)
    if not calls:
        return
    call = calls[_chosen(calls)]
    result.verdict(call.request)
    result.raw(call.request, call.diagnostics)
    result.arguments(call.request)
    result.steps(call.request)


def _found(text: str, calls: Sequence[TextCall], *, leaked: bool) -> None:
    with cards.card(f"{wording.plural(len(calls), 'call')} found", caption=None if calls else _none(leaked)):
        listed = calls[:_LISTED]
        marks = [
            spans.Mark(call.start, call.end, f"{number} {call.dialect}")
            for number, call in enumerate(listed, start=1)
        ]
        marked_text("reply", text, (), marks)
        if not calls:
            return
        columns = [
            Column("No.", "number"), Column("Call", "name"), Column("Outcome", "tight"),
            Column("Place", "tight", "Line:column in the reply, from and to"), Column("Findings"),
        ]  # fmt: skip
        rows = [_row(text, number, call) for number, call in enumerate(listed, start=1)]
        sheet("reply_calls", "Calls found in the reply", columns, rows)
        if len(calls) > len(listed):
            st.caption(f"The first {len(listed)} of {len(calls):,}.")


def _none(leaked: bool) -> str:
    if leaked:
        return "No call that should have been native. Without definitions only those between tokens count."
    return (
        "Text in code, in reasoning and in announced examples is no call; without a dialect's own tokens "
        "a call counts when its tool is defined on the left."
    )


def _row(text: str, number: int, call: TextCall) -> list[Cell]:
    codes = dict.fromkeys(found.code for found in (*call.diagnostics, *call.request.diagnostics))
    whole = "whole" if call.complete else "cut off"
    return [
        Cell(f"{number:,}"),
        Cell(wording.one_line(call.name, 80) or "no name", sub=call.dialect),
        Cell(call.request.outcome, tone=OUTCOME_TONES.get(call.request.outcome), sub=whole),
        Cell(f"{spans.place(text, call.start)} – {spans.place(text, call.end)}", mono=True),
        Cell(", ".join(codes) or "none", mono=bool(codes)),
    ]


def _chosen(calls: Sequence[TextCall]) -> int:
    """The number of the call that is shown below."""
    if len(calls) == 1:
        return 0
    names = {
        str(number): f"{number} · {wording.one_line(call.name, 60)}"
        for number, call in enumerate(calls[:_LISTED], start=1)
    }
    return int(choice("Show call", "nth", list(names), "1", names.__getitem__, width=320)) - 1
