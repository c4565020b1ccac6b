"""Draws two cards: failed calls by failure stage, and the diagnostics of the parser."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.slice_table import part_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

Row = Mapping[Hashable, Any]

_CODES = 10  # rows before "Show all"
_ROWS = {
    **wording.STAGES,
    "none": ("No failure seen", "The log shows a result, and the arguments were valid or could be repaired"),
    "unknown": ("Not measured", "The log has no result, or does not show whether the arguments were valid"),
}


def draw_layers(chosen: Mapping[str, Any]) -> None:
    """Draw a card with the number of calls by the first stage at which each call failed."""
    with cards.draw_card("Failed calls by stage", "fault_layers", height=380, stretch=True):
        rows = {row["layer"]: row for row in store_queries.ask("fault_layers", **chosen).to_dict("records")}
        total = rows["none"]["total"]
        st.caption(f"Share of all {wording.plural(total, 'call')}; a full bar is 100%.")
        draw_table(
            "layers",
            "Calls by failure stage",
            [Column("Stage", "name"), Column("Calls", "number"), Column("Share", "number")],
            [_layer_row(layer, rows[layer]["calls"], total) for layer in _ROWS],
        )


def _layer_row(layer: str, calls: int, total: int) -> list[Cell]:
    title, meaning = _ROWS[layer]
    return [
        Cell(
            title,
            title=meaning,
            share=calls / total if total else 0.0,
            href=filters.page_link("calls", {}, {"fault": layer}) if calls else None,
            pale=layer in ("none", "unknown"),
        ),
        Cell(f"{calls:,}"),
        part_cell(calls, total),
    ]


def draw_findings(chosen: Mapping[str, Any], judged: int, calls: int, *, framed: bool = True) -> None:
    """Draw a card with the diagnostics by code.

    `judged` is the number of calls that the parser could check.
    """
    with cards.draw_card("What the parser found", "findings", height=220, stretch=framed, framed=framed):
        rows = store_queries.ask("findings", **chosen).to_dict("records")
        if not rows:
            st.caption(_describe_nothing_found(judged, calls))
            return
        st.caption(
            f"{wording.plural(len(rows), 'code')}. Share: of the "
            f"{wording.plural(rows[0]['measured'], 'call')} that the parser could check; "
            f"{wording.known_share(judged, calls, 'call')}."
        )
        columns = [
            Column("Code", "name"),
            Column("Severity", "tight"),
            Column("Calls", "number"),
            Column("Share", "number"),
            Column("Meaning"),
        ]
        draw_table(
            "findings", "Diagnostics by code", columns, [_finding_row(row) for row in rows], shown=_CODES
        )


def _describe_nothing_found(judged: int, calls: int) -> str:
    if not judged:
        return "Not measured: these logs keep neither the model's text nor a tool definition."
    coverage = wording.known_share(judged, calls, "call")
    return f"No diagnostics in the {wording.plural(judged, 'call')} that could be checked; {coverage}."


def _finding_row(row: Row) -> list[Cell]:
    return [
        Cell(
            row["code"],
            mono=True,
            href=filters.page_link("calls", {}, {"code": row["code"]}),
            order=row["code"],
        ),
        Cell(row["severity"] or "–", tone=SEVERITY_TONES.get(row["severity"])),
        Cell(f"{row['calls']:,}", order=row["calls"]),
        # The agent may report a code for more calls than the parser could check. Then a share makes no sense.
        part_cell(row["calls"], row["measured"]) if row["calls"] <= row["measured"] else Cell("–"),
        Cell(row["summary"] or ""),
    ]
