"""Draws the tool name with the verdicts of a call, and the call's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components.call_descriptions import (
    TEXT_REMOVED,
    is_harness_fault,
    is_text_removed,
)
from callgauge.dashboard.components.finding_list import outcome_tone
from callgauge.dashboard.components.table import Tone
from callgauge.dashboard.shown_page import record_answer

Row = Mapping[Any, Any]
_SHOWN = 20_000
_COLOURS: dict[Tone | None, Literal["green", "red", "gray"]] = {"good": "green", "bad": "red", "calm": "gray"}


def draw_heading(row: Row, *, is_page: bool = True) -> None:
    """Draw the tool and the verdicts, as the title of the page if `is_page`, else as a smaller heading."""
    name = wording.in_markdown(row["tool"] or "unknown tool")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if is_page:
            record_answer(_describe_verdict(row))
            st.title(name, anchor=False, width="content")
        else:
            st.header(name, anchor=False, width="content")
        tone = outcome_tone(row["outcome"], row["fault_layer"])
        st.badge(wording.outcome(row["outcome"]), color=_COLOURS.get(tone, "blue"))
        if row["fault_layer"]:
            source = ", says the agent" if is_harness_fault(row) else ""
            st.badge(f"{wording.failure_stage(row['fault_layer'])}{source}", color="orange")
        if row["lossy"]:
            st.badge("lossy", color="red")


def _describe_verdict(row: Row) -> str:
    fault = f", failed at {row['fault_layer'].replace('_', ' ')}" if row["fault_layer"] else ""
    return f"A call of {row['tool'] or 'an unknown tool'}: {wording.outcome(row['outcome'])}{fault}."


def draw_result(row: Row) -> None:
    text = row["result_text"]
    size = f" · {wording.size(row['result_bytes'])}" if row["result_bytes"] is not None else ""
    st.caption(f"{wording.result_status(row['result_status']).capitalize()}{size}")
    if is_text_removed(row):
        st.caption(TEXT_REMOVED)
    elif text:
        st.code(
            wording.visible(text[:_SHOWN]),
            language=None,
            wrap_lines=True,
            height=320 if len(text) > 1200 else "content",
        )
