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
_NARROW = 52  # columns of a marked text in half a page
_LOW, _LOW_LINES = 190, 8  # pixels of such a text, and the lines from which on it scrolls
_FOLDED = 3  # findings of one code from which on they share a row
_TALLEST = 480  # pixels
_COLUMNS = (
    Column("No.", "number"),
    Column("Severity", "tight"),
    Column("Code", "text", "callgauge explain CODE says more"),
    Column("Place", "tight"),
    Column("Found → became", "text"),
    Column("Meaning", "text"),
)
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
    key: str,
    raw: str,
    findings: Sequence[Finding],
    also: Sequence[spans.TextMark] = (),
    *,
    narrow: bool = False,
) -> None:
    """Draw the raw text with carets under the findings and the marks in `also`.

    The caption above names the position of the first error, or else of the first finding. `narrow`: for half
    a page: shorter lines, and for each finding the number that `draw_finding_list` gives its code.
    """
    numbers = number_codes(found.code for found in findings)
    marks = [
        spans.TextMark(
            found.start,
            found.end if found.end is not None else found.start,
            str(numbers[found.code]) if narrow else found.code,
        )
        for found in findings
        if found.start is not None
    ][:_LISTED]
    marks += also
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(_describe_position(raw, findings, narrow=narrow), width="content")
        spaces = st.toggle("Show white space", key=f"{key}_spaces", width="content")
    shown = spans.annotate(raw, marks, spaces=spaces, width=_NARROW if narrow else spans.WIDTH)
    low = narrow and shown.count("\n") >= _LOW_LINES
    st.code(shown, language=None, height=_LOW if low else _text_height(shown))
    start, end = spans.shown_window(raw, marks)
    if end - start < len(raw):
        st.caption(f"Characters {start:,} to {end:,} of {len(raw):,} are shown.")


def _text_height(text: str) -> int | Literal["content"]:
    """Return a fixed height for a long text, which then scrolls, so that elements below stay in reach."""
    lines = sum(1 + len(line) // spans.WIDTH for line in text.split("\n"))
    return _TALLEST if lines > _LINES else "content"


def _describe_position(raw: str, findings: Sequence[Finding], *, narrow: bool) -> str:
    placed = [found for found in findings if found.start is not None]
    worst = next((found for found in placed if found.severity == "error"), placed[0] if placed else None)
    size = wording.plural(len(raw), "character")
    if worst is None or worst.start is None:
        return size
    at = spans.locate(raw, worst.start)
    what = "Error" if worst.severity == "error" else "First finding"
    if narrow:
        return f"{what} at {at} (byte {at.byte:,}) of {size}"
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


def number_codes(codes: Iterable[str]) -> dict[str, int]:
    """Return a number for each code, in the order in which they come."""
    return {code: number for number, code in enumerate(dict.fromkeys(codes), start=1)}


def draw_finding_list(key: str, raw: str | None, findings: Sequence[Finding]) -> None:
    """Draw the findings in order; three or more of one code share a row, with a fold for each of them."""
    if not findings:
        st.caption("No findings.")
        return
    by_code: dict[str, list[Finding]] = {}
    for found in findings:
        by_code.setdefault(found.code, []).append(found)
    folded = {code: several for code, several in by_code.items() if len(several) >= _FOLDED}
    numbers = number_codes(by_code)
    shown = [found for found in findings if found.code not in folded or found is folded[found.code][0]]
    rows = [
        _build_row(raw, found, numbers[found.code], len(by_code[found.code]) if found.code in folded else 1)
        for found in shown[:_LISTED]
    ]
    draw_table(key, "Findings of the parser in order", _COLUMNS, rows)
    if len(shown) > _LISTED:
        st.caption(f"The first {_LISTED} of {len(shown):,} are listed.")
    for code, several in folded.items():
        title = f"{len(several):,} × {code}: each place"
        with st.expander(title, key=f"{key}_{code}", on_change="rerun") as each:
            if each.open:
                listed = [_build_row(raw, found, numbers[code]) for found in several[:_LISTED]]
                draw_table(f"{key}_{code}_places", f"Findings of {code}", _COLUMNS, listed)
                if len(several) > _LISTED:
                    st.caption(f"The first {_LISTED} of {len(several):,} are listed.")


def _build_row(raw: str | None, found: Finding, number: int, times: int = 1) -> list[Cell]:
    """Return a row for one finding, or for the first of `times` findings of the same code."""
    at = str(spans.locate(raw, found.start)) if raw is not None and found.start is not None else "–"
    change = "–"
    if found.found is not None or found.became is not None:
        change = wording.quote(found.found, 100)
    if found.became is not None:
        change += f" → {wording.quote(found.became, 100)}"
    detail = wording.one_line(found.detail, 200) if found.detail else None
    where = wording.one_line(found.path or "$", 80)
    more = f"and {times - 1:,} more" if times > 1 else None
    return [
        Cell(str(number)),
        Cell(found.severity, tone=SEVERITY_TONES.get(found.severity), sub="lossy" if found.lossy else None),
        Cell(
            f"{times:,} × {found.code}" if times > 1 else found.code,
            mono=True,
            sub=f"{found.stage} · {where}",
            title=found.why,
        ),
        Cell(at, mono=True, sub=more),
        Cell(change, mono=True),
        Cell(found.summary or "–", sub=detail),
    ]
