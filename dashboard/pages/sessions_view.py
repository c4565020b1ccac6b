"""One session: what it is, where it belongs, a search in it, and its time line in windows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import answers, timelines, wording
from dashboard.pages import sessions_head, sessions_search
from dashboard.pages.sessions_drawing import drawn
from dashboard.pages.sessions_items import Row, Session
from dashboard.timelines import Asked, Place
from dashboard.widgets import cards
from dashboard.widgets.session_links import session_link
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.timeline import timeline

_LEGEND = (
    "The strip is the whole session: red = bad arguments, orange = a failed run, grey = calls, low = words. "
    "In the time line the keys n and p go to the next and the previous fault, j and k to a turn."
)
KEPT = ("q", "order", "session_page")  # what leads back to the list from one of its sessions


def show() -> None:
    session_id = st.query_params["session"]
    st.page_link(
        "dashboard/pages/sessions.py",
        label="All sessions",
        icon=":material/arrow_back:",
        query_params=_kept(*KEPT),
        width="content",
    )
    asked = _asked()
    rows: Sequence[Row] = answers.ask("session", session=session_id, file=_number("file")).to_dict("records")
    if len(rows) > 1 and asked.call is not None:
        calls = answers.ask("call", call=asked.call)
        rows = [row for row in rows if row["source"] in calls.source.tolist()] or rows
    if not rows:
        st.title("No such session", anchor=False)
        st.caption("The store holds no session with this id. It may have been loaded into another store.")
    elif len(rows) > 1:
        _which(session_id, rows)
    else:
        _session(rows[0], asked)


def _asked() -> Asked:
    start = _number("from")
    return Asked(
        st.query_params.get("call"),
        _number("turn"),
        _number("step"),
        start - 1 if start is not None else None,
    )


def _number(name: str) -> int | None:
    text = st.query_params.get(name)
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None


def _kept(*names: str) -> dict[str, str]:
    return {name: text for name in names if (text := st.query_params.get(name))}


def _which(session_id: str, rows: Sequence[Row]) -> None:
    kept = _kept(*KEPT, "turn", "step", "from", "find")
    st.title("Which of these sessions?", anchor=False)
    with cards.card("Several sources share this id", "session", caption="They are different sessions."):
        columns = [Column("Source", "name"), Column("Start (UTC)", "tight"), Column("File", "file")]
        cells = [
            [
                Cell(row["title"], href=session_link(session_id, file=row["file_id"], **kept)),
                Cell(wording.utc_to_the_second(row["started_at"])),
                Cell(wording.visible(row["file"] or "unknown file"), mono=True),
            ]
            for row in rows
        ]
        sheet("which_session", "Sessions with this id", columns, cells)


def _session(row: Row, asked: Asked) -> None:
    session = Session(row["session_id"], row["source"], {"file": _number("file"), **_kept(*KEPT, "find")})
    turns: Sequence[Row] = answers.ask("session_turns", **session.named()).to_dict("records")
    outline: Sequence[Row] = answers.ask("session_outline", **session.named()).to_dict("records")
    found = timelines.places(turns, outline)
    words = row["task"] or f"Session {row['session_id']}"
    st.title(wording.in_markdown(words, 90), anchor=False)
    sessions_head.show(session, row, turns)
    if not found:
        st.caption("The store holds no turn of this session: its log told of none, or they count elsewhere.")
        return
    sessions_search.show(session, found)
    _time_line(session, found, turns, asked)


def _time_line(session: Session, found: Sequence[Place], turns: Sequence[Row], asked: Asked) -> None:
    shown = timelines.window(found, asked)
    if shown.at is None and (asked.call is not None or asked.turn is not None):
        missing = "call" if asked.call is not None else f"turn {asked.turn}"
        st.caption(f"The session has no such {missing}; it is shown from its beginning.")
    with cards.card("Time line", "session_turns", "session_outline", "step_calls", caption=_LEGEND):
        timeline("timeline", drawn(session, found, shown, {turn["turn_id"]: turn for turn in turns}, asked))
