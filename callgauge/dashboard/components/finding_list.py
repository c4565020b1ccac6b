"""Draws a text with the parser's findings marked in it, then the findings in order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from callgauge.dashboard import wording
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.texts import marked_text as spans

SEVERITY_TONES: dict[str, Tone] = {"error": "bad", "warning": "warn", "note": "calm"}
_LISTED = 100  # findings of one text; a megabyte of slips has thousands
_LAID_OUT = json.JSONEncoder(indent=2, ensure_ascii=False)
_LINES = 24
_TALLEST = 480  # pixels
OUTCOME_TONES: dict[str, Tone] = {
    "clean": "good",
    "coerced": "info",
    "repaired": "info",
    "failed": "bad",
    "unmeasured": "calm",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic as the pages show it.

    `start` and `end` are characters of the raw text; None when the diagnostic is about the whole text.
    `found` and `became`: the text before and after the parser changed it.
    """

    code: str
    stage: str
    severity: str
    lossy: bool
    path: str | None
    start: int | None
    end: int | None
    found: str | None
    became: str | None
    detail: str | None
    summary: str | None
    why: str | None


def draw_marked_text(
    key: str, raw: str, findings: Sequence[Finding], also: Sequence[spans.TextMark] = ()
) -> None:
    """Draw the raw text with carets under the findings and the marks in `also`.

    The caption above names the position of the first error, or else of the first finding.
    """
    marks = [
        spans.TextMark(found.start, found.end if found.end is not None else found.start, found.code)
        for found in findings
        if found.start is not None
    ][:_LISTED]
    marks += also
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(_describe_position(raw, findings), width="content")
        spaces = st.toggle("Show white space", key=f"{key}_spaces", width="content")
    shown = spans.annotate(raw, marks, spaces=spaces)
    st.code(shown, language=None, height=_text_height(shown))
    start, end = spans.shown_window(raw, marks)
    if end - start < len(raw):
        st.caption(f"Characters {start:,} to {end:,} of {len(raw):,} are shown.")


def _text_height(text: str) -> int | Literal["content"]:
    """Return a fixed height for a long text, which then scrolls, so that elements below stay in reach."""
    lines = sum(1 + len(line) // spans.WIDTH for line in text.split("\n"))
    return _TALLEST if lines > _LINES else "content"


def _describe_position(raw: str, findings: Sequence[Finding]) -> str:
    placed = [found for found in findings if found.start is not None]
    worst = next((found for found in placed if found.severity == "error"), placed[0] if placed else None)
    size = wording.plural(len(raw), "character")
    if worst is None or worst.start is None:
        return size
    at = spans.locate(raw, worst.start)
    what = "Error" if worst.severity == "error" else "First finding"
    return f"{size} · {what} at line {at.line}, column {at.column} (byte {at.byte:,})"


def draw_json(text: str) -> None:
    """Draw a JSON text indented, or unchanged when not JSON or nested too deep. Long text is cut."""
    try:
        laid_out = _join_beginning(_LAID_OUT.iterencode(json.loads(text)))
    except (ValueError, RecursionError):
        laid_out = text
    # Without colours: those of the code block fall short of the contrast that text needs.
    shown = wording.visible(laid_out[: spans.LIMIT])
    st.code(shown, language=None, wrap_lines=True, height=_text_height(shown))
    if len(laid_out) > spans.LIMIT:
        st.caption(f"The first {spans.LIMIT:,} characters are shown; on one line it has {len(text):,}.")


def _join_beginning(parts: Iterable[str]) -> str:
    """Return the parts joined up to just over the length that is shown.

    To lay out a megabyte would take longer than to read it.
    """
    taken, length = [], 0
    for part in parts:
        taken.append(part)
        length += len(part)
        if length > spans.LIMIT:
            break
    return "".join(taken)


def draw_finding_list(key: str, raw: str | None, findings: Sequence[Finding]) -> None:
    if not findings:
        st.caption("No findings.")
        return
    columns = [
        Column("Severity", "tight"),
        Column("Code", "tight", "callgauge explain CODE says more"),
        Column("Place", "tight", "Line:column in the raw arguments"),
        Column("Found → became", "text"),
        Column("Meaning", "text"),
    ]
    rows = [_build_row(raw, found) for found in findings[:_LISTED]]
    draw_table(key, "Findings of the parser in order", columns, rows)
    if len(findings) > _LISTED:
        st.caption(f"The first {_LISTED} of {len(findings):,} are listed and marked.")


def _build_row(raw: str | None, found: Finding) -> list[Cell]:
    at = str(spans.locate(raw, found.start)) if raw is not None and found.start is not None else "–"
    change = "–"
    if found.found is not None or found.became is not None:
        change = wording.quote(found.found, 100)
    if found.became is not None:
        change += f" → {wording.quote(found.became, 100)}"
    detail = wording.one_line(found.detail, 200) if found.detail else None
    where = wording.one_line(found.path or "$", 80)
    return [
        Cell(found.severity, tone=SEVERITY_TONES.get(found.severity), sub="lossy" if found.lossy else None),
        Cell(found.code, mono=True, sub=f"{found.stage} · {where}", title=found.why),
        Cell(at, mono=True),
        Cell(change, mono=True),
        Cell(found.summary or "–", sub=detail),
    ]
