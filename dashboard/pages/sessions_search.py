"""A text in, the places of the session that hold it out, each a link to it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import answers, wording
from dashboard.pages.sessions_items import Row, Session
from dashboard.timelines import Place
from dashboard.widgets import cards
from dashboard.widgets.list_filters import search_box
from dashboard.widgets.sheet import Cell, Column, sheet

_HITS = 100
KINDS = {
    "user": "User",
    "said": "Model",
    "tool": "Tool name",
    "arguments": "Raw arguments",
    "result": "Result",
    "answer": "Answer",
}


def show(session: Session, found: Sequence[Place]) -> None:
    searched = search_box(
        "Search in this session", "find", "Search messages, answers, arguments, results", width=360
    )
    session.keep("find", searched)
    if not searched:
        return
    rows = answers.ask("session_find", **session.named(), search=searched, limit=_HITS).to_dict("records")
    hits = int(rows[0]["found"]) if rows else 0
    more = f", the first {_HITS} are listed" if hits > _HITS else ""
    with cards.card(f"{wording.plural(hits, 'place')}{more}", "session_find"):
        if not rows:
            st.caption(
                "No message, answer, tool name, argument or result of this session holds it. "
                "Of messages and results the store keeps the first 2,000 characters."
            )
            return
        columns = [Column("Place", "tight"), Column("In", "tight"), Column("Text")]
        with st.container(height=320 if len(rows) > 8 else "content", border=False):
            sheet(
                "session_find",
                "Places that hold the text",
                columns,
                [_hit(session, found, row) for row in rows],
            )


def _hit(session: Session, found: Sequence[Place], row: Row) -> list[Cell]:
    place = f"Turn {row['turn']}" + (f", step {row['step']}" if row["step"] is not None else "")
    last = next(one for one in reversed(found) if one.turn == row["turn"])
    step = last.step if row["kind"] == "answer" else row["step"]  # an answer stands behind the last step
    href = session.link(turn=row["turn"], step=step, call=row["call_id"])
    return [
        Cell(place, href=href),
        Cell(KINDS[row["kind"]]),
        Cell(wording.one_line(row["snippet"], 200), mono=row["kind"] in ("arguments", "result", "tool")),
    ]
