"""Draws an expander with turns where the success in the log and the derived success differ."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import DISAGREEMENTS, read_page
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.call_descriptions import REASONS
from callgauge.dashboard.components.controls.links import session_link
from callgauge.dashboard.components.controls.paging import (
    describe_count,
    draw_pager,
    offer_further_days,
    read_newest,
    show_nothing_found,
)
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.page_files import page_file

Row = Mapping[Hashable, Any]


def show() -> None:
    """Draw the expander. A closed expander runs no query."""
    if (fold := draw_fold("Turns whose reported and derived success differ", "disagree")) is not None:
        with fold:
            _draw_turns(filters.chosen_filters().parameters())


def _draw_turns(chosen: Mapping[str, Any]) -> None:
    ask = store_queries.keep_asking()
    with cards.draw_card(
        "Turns whose reported and derived success differ",
        "disagreements",
        take=cards.Download(
            "disagreements", lambda: read_page(ask, DISAGREEMENTS, chosen, cards.MOST_ROWS).rows, "all rows"
        ),
        framed=False,
    ):
        st.caption(_describe_rate(chosen))
        listing, pages = read_newest(DISAGREEMENTS, "turn_page", chosen)
        if listing.rows.empty:
            none = "Reported and derived success agree on every turn of this selection."
            show_nothing_found(listing, "turn", lambda: st.caption(none), among="such ")
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{describe_count(listing, 'turn')}, the newest first.", width="content")
            st.page_link(
                page_file("calls"),
                label=wording.link_label("See their calls"),
                query_params={"turns": "disagree"},
                width="content",
            )
        heads = [
            Column("Time (UTC)", "tight"), Column("Model", "name"), Column("Reported", "name"),
            Column("Derived", "name"), Column("Calls", "number"), Column("Failed calls", "number"),
            Column("Turn", "tight"),
        ]  # fmt: skip
        rows = [_build_row(row) for row in listing.rows.to_dict("records")]
        draw_table("disagreements", "Turns whose reported and derived success differ", heads, rows)
        offer_further_days(listing, "turn")
        draw_pager("turn_page", pages)


def _describe_rate(chosen: Mapping[str, Any]) -> str:
    rows = store_queries.ask("slices", rates=("disagree",), **chosen).to_dict("records")
    k, n = (rows[0]["k"], rows[0]["n"]) if rows else (0, 0)
    if not n:
        return "No turn has both a reported and a derived success."
    return f"They differ on {wording.rate(k, n)} ({wording.fraction(k, n)}) of the turns that have both."


def _build_row(row: Row) -> list[Cell]:
    status = wording.one_line(row["recorded_status"], 60) if row["recorded_status"] else None
    is_reported, reason = bool(row["recorded_ok"]), REASONS.get(row["derived_reason"], row["derived_reason"])
    return [
        Cell(f"{row['ts']:%Y-%m-%d %H:%M}" if row["ts"] else "no time"),
        Cell(wording.one_line(row["model"], 60)),
        _success_cell(is_reported, status),
        _success_cell(not is_reported, reason),
        Cell(f"{row['calls']:,}" if row["calls"] is not None else "–"),
        Cell(f"{row['faults']:,}" if row["faults"] is not None else "–"),
        Cell(
            f"turn {row['turn']}",
            href=session_link(row["session_id"], turn=row["turn"]),
            title="Opens the session at this turn",
        ),
    ]


def _success_cell(is_success: bool, reason: str | None) -> Cell:
    return Cell(
        "successful" if is_success else "unsuccessful", tone="good" if is_success else "bad", sub=reason
    )
