"""Parses one call again. Draws the parser's steps, and the arguments next to the definition."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.reparsed_call import ReparsedCall
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.parser_steps import draw_parser_steps
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.calls.parameter_table import ParameterRow, list_parameters
from lenient import ToolDefinition

_VALUE = 300
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


def _draw_parameters(parameters: list[ParameterRow], tool: ToolDefinition | None) -> None:
    if not parameters:
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
        [_build_row(parameter, tool) for parameter in parameters[:_ROWS]],
    )
    if len(parameters) > _ROWS:
        st.caption(f"{len(parameters) - _ROWS:,} more parameters are not listed.")


def _build_row(parameter: ParameterRow, tool: ToolDefinition | None) -> list[Cell]:
    heat = HEAT.get(parameter.severity or "")
    sent_as = f"as {wording.one_line(parameter.sent_as, 80)}" if parameter.sent_as else None
    codes = dict.fromkeys(finding.code for finding in parameter.findings)
    places = dict.fromkeys(
        finding.path
        for finding in parameter.findings
        if finding.path.count(".") + finding.path.count("[") > 1
    )
    hints = dict.fromkeys(finding.hint for finding in parameter.findings if finding.hint)
    sub = "\n".join(wording.one_line(text, 160) for text in (*places, *hints)) or None
    return [
        Cell(
            wording.one_line(parameter.name, 80),
            sub=wording.one_line(parameter.description, 160) or None,
            mono=True,
            heat=heat,
        ),
        Cell(wording.one_line(parameter.kind or "–", 160), mono=parameter.kind is not None, heat=heat),
        Cell(parameter.describe_required(tool), heat=heat),
        Cell("repaired, see the marks", sub=sent_as, heat=heat)
        if parameter.is_mended_only
        else Cell(
            _format_value(parameter.sent, "not sent"), sub=sent_as, mono=parameter.sent is not None, heat=heat
        ),
        Cell(_format_value(parameter.became, "–"), sub=describe_result(parameter), mono=True, heat=heat)
        if parameter.is_mended_only
        else Cell(
            describe_result(parameter), mono=parameter.became is not None and parameter.has_changed, heat=heat
        ),
        Cell(", ".join(codes) or "–", sub=sub, tone=SEVERITY_TONES.get(parameter.severity or ""), heat=heat),
    ]


def _format_value(text: str | None, absent: str) -> str:
    return absent if text is None else wording.visible(wording.shorten(text, _VALUE))


def describe_result(parameter: ParameterRow) -> str:
    """Return a parameter's resulting value, or words such as “invalid”, “left out” or “unchanged”."""
    if parameter.became is None:
        return "–" if parameter.sent is None else "invalid" if parameter.severity == "error" else "left out"
    if parameter.has_changed:
        return _format_value(parameter.became, "–")
    return "what could be read; part of it may be lost" if parameter.is_lossy else "as sent"
