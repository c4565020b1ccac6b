"""Draws a card with the retry sequence of one call: what each attempt changed, and how it ended."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.texts.text_diff import arguments_change
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import call_link
from callgauge.dashboard.components.finding_list import outcome_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

Row = Mapping[Hashable, Any]
_COMPARED = 20_000  # characters of each text that are compared
_LINES = 12  # maximum number of changes listed per attempt
_MOST = 200
_ENDS = {"recovered": "The last one worked", "abandoned": "The call was given up"}


def list_attempts(call: Row) -> Sequence[Row]:
    """Return the attempts of the call's retry sequence in order.

    The result is empty if the call belongs to no retry sequence.
    """
    if call["chain_id"] is None:
        return []
    rows = store_queries.ask("chain_calls", chain=call["chain_id"], turn=call["turn_id"])
    attempts: Sequence[Row] = rows.to_dict("records")
    return attempts


def show(call: Row, rows: Sequence[Row]) -> None:
    if len(rows) < 2:
        return
    count = f"The first {_MOST} attempts" if len(rows) == _MOST else wording.plural(len(rows), "attempt")
    end = _ENDS.get(rows[-1]["chain_outcome"], "How it ended is not known")
    tools = {row["tool"] for row in rows}
    with cards.draw_card("Retry sequence", "chain_calls", caption=f"{count}. {end}."):
        columns = [
            Column("Attempt", "number"),
            *([Column("Tool", "name")] if len(tools) > 1 else []),
            Column("Time (UTC)", "tight"),
            Column("Arguments", "text", "Of a retry: what it changed against the attempt before"),
            Column("Outcome", "tight"),
            Column("Failure stage", "tight"),
            Column("Result", "tight"),
        ]
        befores = [None, *rows[:-1]]
        cells = [
            _build_row(row, before, call["call_id"], has_tools=len(tools) > 1)
            for row, before in zip(rows, befores, strict=True)
        ]
        draw_table("attempts", "Attempts of the retry sequence", columns, cells)


def _build_row(row: Row, before: Row | None, current: str, *, has_tools: bool) -> list[Cell]:
    this = row["call_id"] == current
    stage = row["fault_layer"]
    return [
        Cell(
            str(row["attempt"] or "–"),
            sub="this call" if this else None,
            href=None if this else call_link(row["call_id"]),
        ),
        *([Cell(wording.short_name(row["tool"] or "unknown", 60))] if has_tools else []),
        Cell(f"{row['ts']:%H:%M:%S}" if row["ts"] else "–"),
        Cell(wording.one_line(row["raw"], 160), mono=True) if before is None else _change_cell(before, row),
        outcome_cell(row["outcome"], stage),
        Cell(wording.failure_stage(stage), tone="warn" if stage else None),
        Cell(wording.result_status(row["result_status"])),
    ]


def _change_cell(before: Row, after: Row) -> Cell:
    """Return a cell with the arguments that an attempt changed since the previous attempt."""
    if not before["length"] and not after["length"]:
        return Cell(f"{after['retry_kind'] or 'unknown'} (no text in the store)")
    if before["raw"] == after["raw"]:
        return Cell("identical to the attempt before")
    changes = arguments_change(before["raw"][:_COMPARED], after["raw"][:_COMPARED]).splitlines()
    if not changes:
        return Cell("the same values, written differently")
    more = f"{len(changes) - _LINES:,} more lines" if len(changes) > _LINES else None
    is_cut = max(before["length"], after["length"]) > _COMPARED
    cut = f"of the first {_COMPARED:,} characters" if is_cut else None
    return Cell(
        wording.visible("\n".join(changes[:_LINES])),
        sub=", ".join(filter(None, (more, cut))) or None,
        mono=True,
        diff=True,
    )
