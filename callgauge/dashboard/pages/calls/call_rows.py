"""Draws the rows of the call list: the tool, and the raw arguments with the search text highlighted."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.texts.marked_text import one_line_with_hits
from callgauge.dashboard import filters
from callgauge.dashboard.components.finding_list import outcome_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table, order_column
from callgauge.dashboard.pages.calls.call_filters import kept_keys

Row = Mapping[Hashable, Any]
_PREVIEW = 160  # characters of the raw arguments
_NAME = 26  # characters of the tool name that fit the column
_BESIDE = 5  # columns that the list keeps next to a shown call


def draw_rows(rows: Sequence[Row], chosen: str | None, *, is_narrow: bool) -> None:
    """Draw one page of the list. A click on a row shows the call next to the list."""
    has_hosts = filters.has_several_hosts()
    columns = [
        order_column(Column("Time (UTC)", "tight"), "time", "descending", _order_link),
        order_column(Column("Tool", "short"), "tool", "ascending", _order_link),
        Column("Raw arguments", "clip"),
        order_column(
            Column("Outcome", "short", "Small: the worst diagnostic"),
            "outcome",
            "ascending",
            _order_link,
        ),
        order_column(
            Column("Failure stage", "tight", "Where it failed first"), "fault", "ascending", _order_link
        ),
        order_column(Column("Result", "tight"), "result", "ascending", _order_link),
        order_column(Column("Took", "number", "How long the tool ran"), "took", "descending", _order_link),
        order_column(Column("Model", "short", "Small: the prompt"), "model", "ascending", _order_link),
        *([Column("Host", "short", "Who served the model")] if has_hosts else []),
        order_column(
            Column("Attempt", "tight", "1 = first of a retry sequence; empty = in none"),
            "attempt",
            "descending",
            _order_link,
        ),
    ]
    count = _BESIDE if is_narrow else len(columns)
    searched = st.query_params.get("q")
    draw_table(
        "calls_list",
        "Calls",
        columns[:count],
        [_build_row(row, searched, is_narrow=is_narrow, has_hosts=has_hosts)[:count] for row in rows],
        opens=True,
        chosen=next((place for place, row in enumerate(rows) if row["call_id"] == chosen), None),
    )


def _order_link(order: str | None) -> str:
    query = kept_keys("page", "order", "peek")
    return filters.page_link("calls", {}, query | ({"order": order} if order else {}))


def _build_row(row: Row, searched: str | None, *, is_narrow: bool, has_hosts: bool) -> list[Cell]:
    ts = row["ts"]
    prompt = row["prompt_id"]
    preview, marks = one_line_with_hits(row["preview"], searched, _PREVIEW)
    if row["preview_from"] > 1:
        preview, marks = f"…{preview}", tuple((start + 1, end + 1) for start, end in marks)
    took = row["latency_ms"]
    return [
        Cell(
            f"{ts:%Y-%m-%d}" if ts else "no time",
            sub=f"{ts:%H:%M:%S}" if ts else None,
            href=filters.page_link("calls", {}, kept_keys("peek") | {"peek": row["call_id"]}),
            values={"": ts},
        ),
        _name_cell(row["tool"]),
        Cell(preview, mono=True, marks=marks, title=preview),
        outcome_cell(
            row["outcome"], row["fault_layer"], sub=None if is_narrow else row["finding"], leads=True
        ),
        Cell(wording.failure_stage(row["fault_layer"]), tone="warn" if row["fault_layer"] else None),
        Cell(wording.result_status(row["result_status"])),
        Cell(wording.duration(took / 1000) if took is not None else "–", values={"ms": took}),
        _name_cell(row["model"], filters.value_label("prompt", prompt) if prompt else None),
        *([_name_cell(row["provider"])] if has_hosts else []),
        Cell(
            f"{row['attempt']}" if row["attempt"] else "",
            sub=row["retry_kind"],
            values={"": row["attempt"], "kind": row["retry_kind"]},
        ),
    ]


def _name_cell(name: str | None, below: str | None = None) -> Cell:
    full = "\n".join(wording.visible(text) for text in (name or "unknown", below) if text)
    return Cell(
        wording.short_name(name or "unknown", _NAME),
        sub=wording.short_name(below, _NAME) if below else None,
        title=full,
        values={"": name, **({"prompt": below} if below else {})},
    )
