"""Two cards: the layer at which calls first went wrong, and the parser's findings in the calls."""

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

_CODES = 10  # of the findings, until all are asked for
LAYERS = {
    "emission": ("Emission", "No call, a leaked call or one cut off"),
    "syntax": ("Syntax", "The arguments are not JSON"),
    "schema": ("Schema", "JSON, but not what the tool's definition asks for"),
    "tool_rejected": ("Tool rejected", "The tool itself refused the arguments"),
    "execution": ("Execution", "It ran and failed"),
    "refused": ("Refused", "A user, a policy or the harness stopped it"),
    "none": ("No fault seen", "It went through, clean or mended"),
    "unknown": ("Cannot tell", "The log keeps no result, or not how the arguments were read"),
}


def describe_untold(unknown: int) -> str:
    """Return the end of a sentence on the calls of which the log cannot tell whether they went wrong."""
    return f"; of {unknown:,} the log cannot tell" if unknown else ""


def draw_layers(chosen: Mapping[str, Any]) -> None:
    """Draw a card with the number of calls by the first layer at which they went wrong."""
    with cards.draw_card("Where calls went wrong first", "fault_layers", height=380, stretch=True):
        rows = {row["layer"]: row for row in store_queries.ask("fault_layers", **chosen).to_dict("records")}
        total = rows["none"]["total"]
        st.caption(f"Share of all {wording.plural(total, 'call')}; a full bar is 100%.")
        draw_table(
            "layers",
            "Calls by fault layer",
            [Column("Layer", "name"), Column("Calls", "number"), Column("Share", "number")],
            [_layer_row(layer, rows[layer]["calls"], total) for layer in LAYERS],
        )


def _layer_row(layer: str, calls: int, total: int) -> list[Cell]:
    title, meaning = LAYERS[layer]
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
    """Draw a card with the parser's codes. `judged`: how many of `calls` the parser could judge.

    `framed`: False within a fold of the same title.
    """
    with cards.draw_card("What the parser found", "findings", height=220, stretch=framed, framed=framed):
        rows = store_queries.ask("findings", **chosen).to_dict("records")
        if not rows:
            st.caption(_describe_nothing_found(judged, calls))
            return
        st.caption(
            f"{wording.plural(len(rows), 'code')}. Share: of the "
            f"{wording.plural(rows[0]['measured'], 'call')} that the parser could judge; "
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
            "findings", "Parser findings by code", columns, [_finding_row(row) for row in rows], shown=_CODES
        )


def _describe_nothing_found(judged: int, calls: int) -> str:
    if not judged:
        return "Not measured: these logs keep neither the model's text nor a tool definition."
    known = wording.known_share(judged, calls, "call")
    return f"No findings in the {wording.plural(judged, 'call')} that could be judged; {known}."


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
        # A code that the harness gave us stands on calls that the parser could not judge.
        part_cell(row["calls"], row["measured"]) if row["calls"] <= row["measured"] else Cell("–"),
        Cell(row["summary"] or ""),
    ]
