"""Draws the search in a session. The result lists the steps that contain a text, each with a link."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.list_filters import draw_search_box
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.sessions.timeline_items import Row, ShownSession
from callgauge.dashboard.pages.sessions.timelines import TimelinePlace

_HITS = 100
KINDS = {
    "user": "User",
    "said": "Model",
    "tool": "Tool name",
    "arguments": "Raw arguments",
    "result": "Result",
    "answer": "Answer",
}


def show(session: ShownSession, places: Sequence[TimelinePlace]) -> None:
    searched = draw_search_box(
        "Search in this session", "find", "Search messages, answers, arguments, results", width=360
    )
    session.keep("find", searched)
    if not searched:
        return
    rows = store_queries.ask(
        "session_find", **session.metric_parameters(), search=searched, limit=_HITS
    ).to_dict("records")
    hits = int(rows[0]["found"]) if rows else 0
    more = f", the first {_HITS} are listed" if hits > _HITS else ""
    with cards.draw_card(f"{wording.plural(hits, 'place')}{more}", "session_find"):
        if not rows:
            st.caption(
                "No message, answer, tool name, argument or result of this session contains it. "
                "The store keeps the first 2,000 characters of each message and result."
            )
            return
        columns = [Column("Place", "tight"), Column("In", "tight"), Column("Text")]
        with st.container(height=320 if len(rows) > 8 else "content", border=False):
            draw_table(
                "session_find",
                "Places that hold the text",
                columns,
                [_build_hit_row(session, places, row) for row in rows],
            )


def _build_hit_row(session: ShownSession, places: Sequence[TimelinePlace], row: Row) -> list[Cell]:
    place = f"Turn {row['turn']}" + (f", step {row['step']}" if row["step"] is not None else "")
    last = next(place for place in reversed(places) if place.turn == row["turn"])
    step = last.step if row["kind"] == "answer" else row["step"]  # an answer comes after the last step
    href = session.link(turn=row["turn"], step=step, call=row["call_id"])
    return [
        Cell(place, href=href),
        Cell(KINDS[row["kind"]]),
        Cell(wording.one_line(row["snippet"], 200), mono=row["kind"] in ("arguments", "result", "tool")),
    ]
