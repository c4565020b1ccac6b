"""What works how well, what changed, and where it goes wrong: the essence on one screen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboard import filters, wording
from dashboard.pages import answers, cards
from dashboard.pages.findings import SEVERITY_TONES
from dashboard.pages.overview_changes import changes
from dashboard.pages.overview_rates import HEADLINES, headlines, rates_by, trend
from dashboard.pages.sheet import Cell, Column, sheet
from dashboard.slices import Slice, slices

Row = Mapping[Hashable, Any]

_CODES = 12  # of the findings, until all are asked for

_LAYERS = {
    "emission": ("Emission", "No call, a leaked call or one cut off"),
    "syntax": ("Syntax", "The arguments are not JSON"),
    "schema": ("Schema", "JSON, but not what the tool's definition asks for"),
    "tool_rejected": ("Tool rejected", "The tool itself refused the arguments"),
    "execution": ("Execution", "It ran and failed"),
    "refused": ("Refused", "A user, a policy or the harness stopped it"),
    "none": ("No fault seen", "It went through, clean or mended"),
    "unknown": ("Cannot tell", "The log keeps no result, or not how the arguments were read"),
}


def show() -> None:
    st.title("Overview", anchor=False)
    _last_load()
    chosen = filters.chosen().parameters()
    rates = {
        one.rate.name: one for one in slices(answers.ask("slices", rates=(*HEADLINES, "disagree"), **chosen))
    }
    if not any(one.total for one in rates.values()):
        cards.nothing_matches("calls or turns")
        return
    headlines(rates, answers.ask("mended_refused", **chosen).iloc[0].refused)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        changes(chosen)
        trend(chosen)
    with narrow:
        _layers(chosen)
    rates_by(chosen)
    _findings(chosen, rates.get("mended"))


def _last_load() -> None:
    load = answers.ask("last_load").iloc[0]
    trouble = [
        wording.plural(number, noun)
        for number, noun in ((load.rejected_files, "rejected file"), (load.rejected_lines, "rejected line"))
        if number
    ]
    text = f"Data as of {wording.utc(load.loaded_at)} · {wording.plural(load.files, 'file')}"
    text += wording.age(load.loaded_at, datetime.now(UTC).replace(tzinfo=None))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(text if trouble else f"{text} · nothing rejected", width="content")
        if trouble:
            st.page_link("dashboard/pages/data.py", label=wording.door(", ".join(trouble)), width="content")


def _layers(chosen: Mapping[str, Any]) -> None:
    with cards.card("Where calls went wrong first", "fault_layers", height=380):
        rows = {row["layer"]: row for row in answers.ask("fault_layers", **chosen).to_dict("records")}
        total = rows["none"]["total"]
        st.caption(f"Share of all {wording.plural(total, 'call')}; a full bar is 100%.")
        sheet(
            "layers",
            "Calls by fault layer",
            [Column("Layer"), Column("Calls", "number"), Column("Share", "number")],
            [_layer_row(layer, rows[layer]["calls"], total) for layer in _LAYERS],
        )


def _layer_row(layer: str, calls: int, total: int) -> list[Cell]:
    title, meaning = _LAYERS[layer]
    return [
        Cell(
            title,
            title=meaning,
            share=calls / total if total else 0.0,
            href=filters.link("calls", {}, {"fault": layer}) if calls else None,
            pale=layer in ("none", "unknown"),
        ),
        Cell(f"{calls:,}"),
        Cell(wording.rate(calls, total)),
    ]


def _findings(chosen: Mapping[str, Any], mended: Slice | None) -> None:
    with cards.card("What the parser found", "findings", height=220):
        rows = answers.ask("findings", **chosen).to_dict("records")
        if not rows:
            st.caption(_nothing_found(mended))
            return
        shown = rows if st.session_state.get("all_codes") else rows[:_CODES]
        st.caption(
            f"{len(shown)} of {wording.plural(len(rows), 'code')}. Share: of the "
            f"{wording.plural(rows[0]['measured'], 'call')} that the parser could judge; "
            f"{wording.unmeasured(mended.share.n, mended.total) if mended else 'none measured'}."
        )
        columns = [
            Column("Code", "tight"),
            Column("Severity", "tight"),
            Column("Calls", "number"),
            Column("Share", "number"),
            Column("Meaning"),
        ]
        sheet("findings", "Parser findings by code", columns, [_finding_row(row) for row in shown])
        if len(rows) > _CODES:
            st.toggle(f"Show all {len(rows)} codes", key="all_codes")


def _nothing_found(mended: Slice | None) -> str:
    if mended is None or not mended.share.n:
        return "Not measured: these logs keep neither the model's text nor a tool definition."
    known = wording.unmeasured(mended.share.n, mended.total)
    return f"No findings in the {wording.plural(mended.share.n, 'call')} that could be judged; {known}."


def _finding_row(row: Row) -> list[Cell]:
    return [
        Cell(row["code"], mono=True, href=filters.link("calls", {}, {"code": row["code"]})),
        Cell(row["severity"] or "–", tone=SEVERITY_TONES.get(row["severity"])),
        Cell(f"{row['calls']:,}"),
        # A code that the harness gave us stands on calls that the parser could not judge.
        Cell(wording.rate(row["calls"], row["measured"]) if row["calls"] <= row["measured"] else "–"),
        Cell(row["summary"] or ""),
    ]


show()
