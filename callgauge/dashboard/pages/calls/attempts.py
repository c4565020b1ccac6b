"""The card that lists the chain of attempts of one call and the changes from attempt to attempt."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.texts.text_diff import arguments_change
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import call_link
from callgauge.dashboard.components.finding_list import outcome_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

Row = Mapping[Hashable, Any]
_COMPARED = 20_000  # characters of each text
_MOST = 200  # attempts, as the metric gives them


def show(call: Row) -> None:
    if call["chain_id"] is None:
        return
    rows = store_queries.ask("chain_calls", chain=call["chain_id"], turn=call["turn_id"]).to_dict("records")
    if len(rows) < 2:
        return
    ended = {"recovered": "it recovered", "abandoned": "it was abandoned"}.get(rows[-1]["chain_outcome"])
    listed = f"the first {_MOST} attempts" if len(rows) == _MOST else wording.plural(len(rows), "attempt")
    with cards.draw_card(
        "Attempts", "chain_calls", caption=f"A chain of {listed}; {ended or 'how it ended is not known'}."
    ):
        columns = [
            Column("Attempt", "number"), Column("Step", "tight"), Column("Tool", "name"),
            Column("Arguments", "tight"), Column("Outcome", "tight"), Column("Fault layer", "tight"),
            Column("Result", "tight"), Column("Raw arguments", "clip"),
        ]  # fmt: skip
        draw_table(
            "attempts", "Attempts of the chain", columns, [_build_row(row, call["call_id"]) for row in rows]
        )
        for before, after in pairwise(rows):
            if call["call_id"] in (before["call_id"], after["call_id"]):
                _draw_change(before, after)


def _build_row(row: Row, current: str) -> list[Cell]:
    this = row["call_id"] == current
    return [
        Cell(str(row["attempt"] or "–"), sub="this call" if this else None),
        Cell(str(row["step"])),
        Cell(
            wording.one_line(row["tool"] or "unknown", 60), href=None if this else call_link(row["call_id"])
        ),
        Cell(row["retry_kind"] or "first try"),
        outcome_cell(row["outcome"], row["fault_layer"]),
        Cell((row["fault_layer"] or "–").replace("_", " "), tone="warn" if row["fault_layer"] else None),
        Cell(wording.result_status(row["result_status"])),
        Cell(wording.one_line(row["raw"], 160), mono=True),
    ]


def _draw_change(before: Row, after: Row) -> None:
    st.caption(f"What attempt {after['attempt']} changed in the arguments of attempt {before['attempt']}:")
    if not before["length"] and not after["length"] and after["retry_kind"] == "changed":
        st.caption("They differ; their texts are not here to compare.")
        return
    changes = arguments_change(before["raw"][:_COMPARED], after["raw"][:_COMPARED])
    if changes:
        st.code(wording.visible(changes), language="diff", wrap_lines=True)
    else:
        st.caption("Nothing: they are the same.")
    if max(before["length"], after["length"]) > _COMPARED:
        st.caption(f"The first {_COMPARED:,} characters of each are compared.")
