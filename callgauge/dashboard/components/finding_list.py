"""Draws the raw arguments with marks for the parser's diagnostics, and a list of the diagnostics below."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.texts import marked_text as spans
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table

SEVERITY_TONES: dict[str, Tone] = {"error": "bad", "warning": "warn", "note": "calm"}
_LISTED = 100  # maximum number of diagnostics in the list; a megabyte of text may have thousands
_LAID_OUT = json.JSONEncoder(indent=2, ensure_ascii=False)
_LINES = 24
_NARROW = 44  # characters per line when the text fills only half a page, or on a phone
# Height of a narrow text in pixels, and the number of lines from which it scrolls.
_LOW, _LOW_LINES = 132, 6
_FOLDED = 3  # from this number on, diagnostics of one code share a row
_RUNS = 4  # number ranges that are listed; further ranges are only counted
_TALLEST = 480
_COLUMNS = (
    Column("No.", "number"),
    Column("Severity", "tight"),
    Column("Code", "text", "`callgauge explain CODE` explains a code."),
    Column("Place", "tight"),
    Column("Found → became", "text"),
    Column("Meaning", "text"),
)
_OUTCOME_TONES: dict[str, Tone] = {
    "clean": "good",
    "coerced": "info",
    "repaired": "info",
    "failed": "bad",
    "unmeasured": "calm",
}
_REFUSED_AT = ("emission", "syntax", "schema")


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic as the pages show it.

    `start` and `end` are character positions in the raw arguments, or None when the diagnostic is about all
    of them. `found` and `became` are the characters before and after the change.
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
    """Draw the raw arguments with carets under the diagnostics and under the marks in `also`.

    The caption names the position of the first error, or else of the first diagnostic. A mark shows the
    diagnostic's code and number in `draw_finding_list`. With `narrow`, a mark shows only the number.
    """
    marks = [
        spans.TextMark(
            finding.start,
            finding.end if finding.end is not None else finding.start,
            str(number) if narrow else f"{number} {finding.code}",
        )
        for number, finding in enumerate(findings, start=1)
        if finding.start is not None
    ][:_LISTED]
    marks += also
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(_describe_position(raw, findings, narrow=narrow), width="content")
        spaces = st.toggle("Show white space", key=f"{key}_spaces", width="content")
    size = {"width": _NARROW, "most": _LOW_LINES} if narrow else {}
    shown = spans.annotate(raw, marks, spaces=spaces, **size)
    # In the playground, a long narrow text has the height of the placeholder that it replaces.
    low = narrow and shown.count("\n") >= _LOW_LINES
    st.code(shown, language=None, height=_LOW if low else _text_height(shown))
    start, end = spans.shown_window(raw, marks)
    if end - start < len(raw):
        st.caption(f"Characters {start:,} to {end:,} of {len(raw):,} are shown.")


def _text_height(text: str) -> int | Literal["content"]:
    """Return a fixed height for a long text, which can then be scrolled."""
    lines = sum(1 + len(line) // spans.WIDTH for line in text.split("\n"))
    return _TALLEST if lines > _LINES else "content"


def _describe_position(raw: str, findings: Sequence[Finding], *, narrow: bool) -> str:
    placed = [finding for finding in findings if finding.start is not None]
    worst = next(
        (finding for finding in placed if finding.severity == "error"), placed[0] if placed else None
    )
    size = wording.plural(len(raw), "character")
    if worst is None or worst.start is None:
        return size
    at = spans.locate(raw, worst.start)
    what = "Error" if worst.severity == "error" else "First diagnostic"
    if narrow:
        return f"{what} at {at} (byte {at.byte:,}) of {size}"
    return f"{size} · {what} at line {at.line}, column {at.column} (byte {at.byte:,})"


def draw_json(text: str) -> None:
    """Draw JSON with indentation, cut to a maximum length.

    Invalid or deeply nested JSON is drawn unchanged.
    """
    try:
        laid_out = _join_beginning(_LAID_OUT.iterencode(json.loads(text)))
    except (ValueError, RecursionError):
        laid_out = text
    # Do not use syntax colours, because their contrast in a code block is too low.
    shown = wording.visible(laid_out[: spans.LIMIT])
    st.code(shown, language=None, wrap_lines=True, height=_text_height(shown))
    if len(laid_out) > spans.LIMIT:
        st.caption(f"The first {spans.LIMIT:,} characters are shown; on one line it has {len(text):,}.")


def _join_beginning(parts: Iterable[str]) -> str:
    beginning, length = [], 0
    for part in parts:
        beginning.append(part)
        length += len(part)
        if length > spans.LIMIT:
            break
    return "".join(beginning)


def outcome_tone(outcome: str | None, fault_layer: str | None = None) -> Tone | None:
    """Return the colour of an outcome.

    The colour is grey when the agent rejected arguments that the parser accepts. `fault_layer` is the first
    failure stage in the log.
    """
    if outcome != "failed" and fault_layer in _REFUSED_AT:
        return "calm"
    return _OUTCOME_TONES.get(outcome or "")


def outcome_cell(outcome: str | None, fault_layer: str | None = None, **options: Any) -> Cell:
    """Return a table cell with an outcome in words and in the outcome's colour."""
    return Cell(wording.outcome(outcome), tone=outcome_tone(outcome, fault_layer), **options)


def name_numbers(numbers: Iterable[int]) -> list[str]:
    """Return numbers, in ascending order, as texts. Consecutive numbers become a range, such as “1–3”.

    Only the first ranges are listed.
    """
    runs = list(_join_runs(numbers))
    named = [f"{first:,}" if first == last else f"{first:,}–{last:,}" for first, last in runs[:_RUNS]]
    return [*named, "…"] if len(runs) > _RUNS else named


def _join_runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for number in numbers:
        if first is None or last is None or number != last + 1:
            if first is not None and last is not None:
                yield first, last
            first = number
        last = number
    if first is not None and last is not None:
        yield first, last


def draw_finding_list(key: str, raw: str | None, findings: Sequence[Finding]) -> None:
    """Draw the diagnostics in order, with numbers.

    Three or more diagnostics with the same code share one row, which can be expanded.
    """
    if not findings:
        st.caption("No diagnostics.")
        return
    by_code: dict[str, dict[int, Finding]] = {}
    for number, finding in enumerate(findings, start=1):
        by_code.setdefault(finding.code, {})[number] = finding
    folded = {code: several for code, several in by_code.items() if len(several) >= _FOLDED}
    shown = [
        folded.get(finding.code, {number: finding})
        for number, finding in enumerate(findings, start=1)
        if finding.code not in folded or number == next(iter(folded[finding.code]))
    ]
    rows = [_build_row(raw, several) for several in shown[:_LISTED]]
    draw_table(key, "Diagnostics in order", _COLUMNS, rows)
    if len(shown) > _LISTED:
        st.caption(f"The first {_LISTED} of {len(shown):,} are listed.")
    for code, several in folded.items():
        title = f"{len(several):,} × {code}: each place"
        with st.expander(title, key=f"{key}_{code}", on_change="rerun") as each:
            if each.open:
                listed = [_build_row(raw, dict([item])) for item in islice(several.items(), _LISTED)]
                draw_table(f"{key}_{code}_places", f"Diagnostics of {code}", _COLUMNS, listed)
                if len(several) > _LISTED:
                    st.caption(f"The first {_LISTED} of {len(several):,} are listed.")


def _build_row(raw: str | None, several: Mapping[int, Finding]) -> list[Cell]:
    """Return a row that describes the first diagnostic of one code, with the numbers of all diagnostics of
    this code.
    """
    finding, times = next(iter(several.values())), len(several)
    first, *further = name_numbers(several)
    at = str(spans.locate(raw, finding.start)) if raw is not None and finding.start is not None else "–"
    change = "–"
    if finding.found is not None or finding.became is not None:
        change = wording.quote(finding.found, 100)
    if finding.became is not None:
        change += f" → {wording.quote(finding.became, 100)}"
    detail = wording.one_line(finding.detail, 200) if finding.detail else None
    where = wording.one_line(finding.path or "$", 80)
    return [
        Cell(first, sub="\n".join(further) or None),
        Cell(
            finding.severity,
            tone=SEVERITY_TONES.get(finding.severity),
            sub="lossy" if finding.lossy else None,
        ),
        Cell(
            f"{times:,} × {finding.code}" if times > 1 else finding.code,
            mono=True,
            sub=f"{finding.stage} · {where}",
            title=finding.why,
        ),
        Cell(at, mono=True),
        Cell(change, mono=True),
        Cell(finding.summary or "–", sub=detail),
    ]
