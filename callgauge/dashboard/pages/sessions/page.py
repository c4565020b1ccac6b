"""The page Sessions: matching sessions in pages; with `?session=` in the URL, one as a time line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.list_filters import draw_pick, draw_search_box
from callgauge.dashboard.components.controls.paging import (
    Row,
    describe_count,
    draw_pager,
    offer_further_days,
    read_newest,
    show_nothing_found,
)
from callgauge.dashboard.components.controls.session_links import session_link
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.day_paging import SESSIONS, read_page
from callgauge.dashboard.pages.sessions import URL_KEYS, one_session

EXPORTED = 10_000
ORDERS = {
    "": "Newest first",
    "faults": "Most faults first",
    "retries": "Most retries first",
    "steps": "Longest first",
}
_MODELS = 3  # that a cell names


def show() -> None:
    if st.query_params.get("session") is not None:
        one_session.show()
        return
    st.title("Sessions", anchor=False)
    _draw_list(filters.chosen_filters().parameters() | _own_filters())


def _own_filters() -> dict[str, Any]:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="sessionfilters"
    ):
        order = draw_pick("Order", "order", ORDERS, width=190)
        search = draw_search_box(
            "Search ids, tasks and what users wrote", "q", "Search ids, tasks, messages", width=260
        )
    return {"order": order, "search": search}


def _draw_list(chosen: Mapping[str, Any]) -> None:
    found, pages = read_newest(SESSIONS, "session_page", chosen)
    if found.rows.empty:
        show_nothing_found(found, "session", lambda: cards.show_no_matches("sessions"))
        return
    first = f" (first {EXPORTED:,})" if found.found > EXPORTED else ""
    ask = store_queries.keep_asking()
    with cards.draw_card(
        f"{describe_count(found, 'session')}{first}",
        "sessions",
        take=cards.Download(
            "sessions",
            lambda: read_page(ask, SESSIONS, chosen, EXPORTED).rows.drop(columns="found"),
            "all rows",
        ),
        height=600,
    ):
        draw_table(
            "sessions_list", "Sessions", _COLUMNS, [_build_row(row) for row in found.rows.to_dict("records")]
        )
        offer_further_days(found, "session")
        draw_pager("session_page", pages)


_COLUMNS = (
    Column("Start (UTC)", "tight"),
    Column("Session", "file", "Its task or first message, and its id"),
    Column("Models", "name"),
    Column("Turns", "number"),
    Column("Steps", "number"),
    Column("Calls", "number"),
    Column("Faults", "number", "Calls that went wrong at any layer"),
    Column("Retries", "number"),
    Column("Turns ok, recorded", "number", "By the log, of those it judges"),
    Column("Turns ok, derived", "number", "As we conclude, of those that can be concluded"),
    Column("Duration", "number", "From the first to the last entry of the log"),
    Column("Tokens", "number", "Input and output, of the turns that tell them"),
)


def _build_row(row: Row) -> list[Cell]:
    start = row["started_at"]
    file = row["file_id"] if row["same_id"] > 1 else None
    said = row["said"] or ""
    kept = {name: st.query_params.get(name) for name in URL_KEYS.dropped}
    models = [wording.one_line(model, 60) for model in row["models"]]
    more = f"\nand {len(models) - _MODELS} more" if len(models) > _MODELS else ""
    missing = row["turns"] - row["tokens_known"]
    return [
        Cell(
            f"{start:%Y-%m-%d %H:%M:%S}" if start else "no time",
            href=session_link(row["session_id"], file=file, **kept),
            sub=wording.one_line(row["title"], 60),
        ),
        Cell(_session_title(row), sub=wording.one_line(row["session_id"], 80), title=wording.visible(said)),
        Cell("\n".join(models[:1]) or "–", sub="\n".join(models[1:_MODELS]) + more or None),
        *(Cell(f"{row[name]:,}") for name in ("turns", "steps", "calls")),
        Cell(f"{row['faults']:,}", tone="warn" if row["faults"] else None),
        Cell(f"{row['retries']:,}"),
        _ended_cell(row, "recorded"),
        _ended_cell(row, "derived"),
        Cell(wording.duration(row["seconds"])),
        Cell(
            wording.compact(row["tokens"]),
            sub=f"{wording.plural(missing, 'turn')} unknown" if row["tokens_known"] and missing else None,
        ),
    ]


def _session_title(row: Row) -> str:
    words = wording.one_line(row["task"] or row["said"] or "no message", 90)
    return f"{words} (sub-agent)" if row["parent_session_id"] else words


def _ended_cell(row: Row, kind: str) -> Cell:
    known, unknown = row[f"{kind}_known"], row["turns"] - row[f"{kind}_known"]
    if not known:
        return Cell("–", sub="unmeasured" if row["turns"] else None)
    return Cell(
        wording.fraction(row[f"{kind}_ok"], known), sub=f"{unknown:,} unmeasured" if unknown else None
    )


show()
