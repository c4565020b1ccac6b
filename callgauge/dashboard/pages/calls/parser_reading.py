"""Draws one call parsed again: its arguments next to the definition, and the parser's steps."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.reparsed_call import ReparsedCall
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.parser_steps import draw_parser_steps
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.calls.parameter_table import ParameterRow, list_parameters
from lenient import ToolDefinition

_VALUE = 300  # characters
_ROWS = 200
HEAT = {"error": 0.22, "warning": 0.16, "note": 0.08}


def show(reading: ReparsedCall, tool: ToolDefinition | None) -> None:
    with st.expander("Arguments next to the definition"):
        if caption := _describe_caption(reading, tool):
            st.caption(caption)
        if reading.request is not None:
            _draw_parameters(list_parameters(reading.request, tool), tool)
    if reading.request is not None:
        with st.expander("Steps of the parser"):
            st.caption("What each step changed, in order.")
            draw_parser_steps("call_steps", reading.request.steps)


def _describe_caption(reading: ReparsedCall, tool: ToolDefinition | None) -> str | None:
    if reading.request is None:
        return reading.note
    without = (
        None if tool else "The store has no definition, so types and required parameters were not checked."
    )
    return " ".join(filter(None, (without, reading.note))) or None


def _draw_parameters(held: list[ParameterRow], tool: ToolDefinition | None) -> None:
    if not held:
        st.caption("No parameter is declared, and none was sent.")
        return
    columns = [
        Column("Parameter", "name"), Column("Type", "name"), Column("Required", "tight"), Column("Sent"),
        Column("Became"), Column("Diagnostic", "name"),
    ]  # fmt: skip
    draw_table(
        "parameters",
        "Parameters: declared, sent, become",
        columns,
        [_build_row(one, tool) for one in held[:_ROWS]],
    )
    if len(held) > _ROWS:
        st.caption(f"{len(held) - _ROWS:,} more parameters are not listed.")


def _build_row(one: ParameterRow, tool: ToolDefinition | None) -> list[Cell]:
    heat = HEAT.get(one.severity or "")
    sent_as = f"as {wording.one_line(one.sent_as, 80)}" if one.sent_as else None
    codes = dict.fromkeys(found.code for found in one.findings)
    places = dict.fromkeys(
        found.path for found in one.findings if found.path.count(".") + found.path.count("[") > 1
    )
    hints = dict.fromkeys(found.hint for found in one.findings if found.hint)
    sub = "\n".join(wording.one_line(text, 160) for text in (*places, *hints)) or None
    return [
        Cell(
            wording.one_line(one.name, 80),
            sub=wording.one_line(one.description, 160) or None,
            mono=True,
            heat=heat,
        ),
        Cell(wording.one_line(one.kind or "–", 160), mono=one.kind is not None, heat=heat),
        Cell(one.describe_required(tool), heat=heat),
        Cell("repaired, see the marks", sub=sent_as, heat=heat)
        if one.is_mended_only
        else Cell(_format_value(one.sent, "not sent"), sub=sent_as, mono=one.sent is not None, heat=heat),
        Cell(_format_value(one.became, "–"), sub=describe_result(one), mono=True, heat=heat)
        if one.is_mended_only
        else Cell(describe_result(one), mono=one.became is not None and one.has_changed, heat=heat),
        Cell(", ".join(codes) or "–", sub=sub, tone=SEVERITY_TONES.get(one.severity or ""), heat=heat),
    ]


def _format_value(text: str | None, absent: str) -> str:
    return absent if text is None else wording.visible(wording.shorten(text, _VALUE))


def describe_result(one: ParameterRow) -> str:
    """Return what a parameter became: its value, or in words that it is invalid, left out or kept."""
    if one.became is None:
        return "–" if one.sent is None else "invalid" if one.severity == "error" else "left out"
    if one.has_changed:
        return _format_value(one.became, "–")
    return "what could be read; part of it may be lost" if one.is_lossy else "as sent"
