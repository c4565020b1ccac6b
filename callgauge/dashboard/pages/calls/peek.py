"""Draws a summary of one call next to the call list: raw arguments, diagnostics, parameters and result."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.reparsed_call import reparse_call
from callgauge.analysis.texts.marked_text import TextMark, annotate
from callgauge.dashboard import filters
from callgauge.dashboard.components import call_descriptions
from callgauge.dashboard.components.controls.copy_button import copy_text
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.paging import draw_steps
from callgauge.dashboard.components.finding_list import SEVERITY_TONES, Finding
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.calls.heading_and_result import draw_heading, draw_result
from callgauge.dashboard.pages.calls.loaded_call import LoadedCall, load_call
from callgauge.dashboard.pages.calls.parameter_table import ParameterRow, list_parameters
from callgauge.dashboard.pages.calls.parser_reading import HEAT
from lenient import ToolDefinition

_COLUMNS = 40  # characters per line of the raw text
_TEXT = 4_000  # characters of the raw text around its first mark
_LISTED = 12  # diagnostics and parameters that are listed


def draw_peek(call_id: str, query: Mapping[str, str], before: str | None, after: str | None) -> None:
    """Draw the call with links to the previous and next row.

    `query` holds the URL keys of the list.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="peek_ways"):
        draw_link(
            "open_fully",
            "Open fully",
            filters.page_link("calls", {}, {**query, "peek": call_id, "call": call_id}),
            arrives=True,
        )
        draw_steps(before, after)
        draw_link("close_peek", "Close", filters.page_link("calls", {}, query))
    loaded = load_call(call_id)
    if loaded is None:
        st.caption("The store has no call with this id.")
        return
    draw_heading(loaded.row, is_page=False)
    row = loaded.row
    prompt = filters.short_label("prompt", row["prompt_id"] or "unknown")
    names = (call_descriptions.shorten_name(row["model"]), prompt)
    st.caption(wording.in_markdown(" · ".join((wording.utc_to_the_second(row["ts"]), *names))))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="peek_place"):
        st.page_link(
            page_file("sessions"),
            label=wording.link_label("Its session"),
            query_params={"session": row["session_id"] or "", "call": row["call_id"]},
            width="content",
        )
        st.caption(
            f"{call_descriptions.place_in_turn(row)} · {call_descriptions.describe_attempt(row)}"
            + (f" · {wording.sequence_end(row['chain_outcome'])}" if row["chain_outcome"] else ""),
            width="content",
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="peek_byte"):
        st.caption(f"Line {row['line']:,} · byte {row['byte_offset']:,}", width="content")
        copy_text("copy_place", "Copy place", call_descriptions.full_place_in_log(row))
    st.caption(wording.in_markdown(call_descriptions.log_name(row), 160))
    _draw_raw(loaded)
    _draw_parameters(loaded)
    st.markdown("**Result**")
    draw_result(row)


def _draw_raw(loaded: LoadedCall) -> None:
    row, findings = loaded.row, loaded.findings
    raw = row["raw_arguments"]
    st.markdown("**Raw arguments**")
    if raw is None:
        st.caption(call_descriptions.describe_no_text(row))
    else:
        marks = [
            TextMark(finding.start, finding.end if finding.end is not None else finding.start, finding.code)
            for finding in findings[:_LISTED]
            if finding.start is not None
        ] + call_descriptions.harness_marks(row)
        shown = annotate(raw[:_TEXT], [mark for mark in marks if mark.start <= _TEXT], width=_COLUMNS)
        st.code(shown, language=None, height=240 if shown.count("\n") > 10 else "content")
        if len(raw) > _TEXT:
            st.caption(f"The first {_TEXT:,} of {len(raw):,} characters.")
    reason = call_descriptions.describe_not_judged(row)
    if not findings and reason is not None:
        st.caption(call_descriptions.say_not_judged(row, reason))
    elif not findings:
        st.caption("No diagnostics.")
    else:
        columns = [Column("Diagnostic", "text"), Column("Meaning", "text")]
        draw_table(
            "peek_findings",
            "Diagnostics",
            columns,
            [_finding_row(finding) for finding in findings[:_LISTED]],
        )
        if len(findings) > _LISTED:
            st.caption(f"The first {_LISTED} of {len(findings):,}.")


def _finding_row(finding: Finding) -> list[Cell]:
    change = (
        wording.quote(finding.found, 60) if finding.found is not None or finding.became is not None else ""
    )
    if finding.became is not None:
        change += f" → {wording.quote(finding.became, 60)}"
    return [
        Cell(
            finding.code,
            tone=SEVERITY_TONES.get(finding.severity),
            sub=wording.one_line(finding.path or "$", 80),
            title=finding.why,
        ),
        Cell(finding.summary or finding.severity, sub=change or None),
    ]


def _draw_parameters(loaded: LoadedCall) -> None:
    reading = reparse_call(loaded.row, loaded.tool)
    st.markdown("**Arguments next to the definition**")
    if loaded.tool is None:
        st.caption("The store has no definition, so types and required parameters were not checked.")
    if reading.request is None:
        st.caption(reading.note or "The call was not read again.")
        return
    parameters = list_parameters(reading.request, loaded.tool)
    if not parameters:
        st.caption("No parameter is declared, and none was sent.")
        return
    columns = [Column("Parameter", "text"), Column("Sent → became", "text")]
    draw_table(
        "peek_parameters",
        "Parameters: declared, sent",
        columns,
        [_parameter_row(parameter, loaded.tool) for parameter in parameters[:_LISTED]],
    )
    if len(parameters) > _LISTED:
        st.caption(f"The first {_LISTED} of {len(parameters):,}.")


def _parameter_row(parameter: ParameterRow, tool: ToolDefinition | None) -> list[Cell]:
    heat = HEAT.get(parameter.severity or "")
    required = parameter.describe_required(tool)
    sent = "not sent" if parameter.sent is None else wording.one_line(parameter.sent, 120)
    if parameter.has_changed and parameter.sent is not None:
        became = "invalid" if parameter.became is None else wording.one_line(parameter.became, 120)
        sent = f"{sent} → {became}"
    codes = ", ".join(dict.fromkeys(finding.code for finding in parameter.findings))
    return [
        Cell(
            wording.one_line(parameter.name, 80),
            sub=", ".join(filter(None, (wording.one_line(parameter.kind or "", 80), required))),
            mono=True,
            heat=heat,
        ),
        Cell(sent, sub=codes or None, mono=parameter.sent is not None, heat=heat),
    ]
