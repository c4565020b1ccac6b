"""Draws one session: facts, related sessions, a search, and the timeline in windows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import SESSIONS
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link, session_link
from callgauge.dashboard.components.controls.paging import ListStep, draw_steps, find_steps, read_newest
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.sessions import URL_KEYS, session_head, session_search, timelines
from callgauge.dashboard.pages.sessions.drawing import make_drawing_data
from callgauge.dashboard.pages.sessions.session_filters import kept_keys, list_link, read_filters
from callgauge.dashboard.pages.sessions.timeline import draw_timeline
from callgauge.dashboard.pages.sessions.timeline_items import Row, ShownSession
from callgauge.dashboard.pages.sessions.timelines import AskedPlace, TimelinePlace
from callgauge.dashboard.shown_page import record_answer

_LEGEND = (
    "The strip shows the whole session: red = invalid arguments, orange = a failed tool run, "
    "grey = other calls, low = text only. "
    "Keys: j and k go to the next and the previous turn, n and p to a failure."
)

_FORMER_ID = 16  # length of a call id before schema 6, in characters


def show() -> None:
    session_id = st.query_params["session"]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        page = st.query_params.get("session_page")
        back = kept_keys() if page != "1" else kept_keys("session_page")
        draw_link("all_sessions", "← All sessions", filters.page_link("sessions", {}, back))
        if page is not None:
            _draw_session_steps(session_id)
    target = _read_asked_place()
    rows: Sequence[Row] = store_queries.ask("session", session=session_id, file=_read_number("file")).to_dict(
        "records"
    )
    if len(rows) > 1 and target.call is not None:
        calls = store_queries.ask("call", call=target.call)
        rows = [row for row in rows if row["source"] in calls.source.tolist()] or rows
    if not rows:
        st.title("No such session", anchor=False)
        st.caption("The store has no session with this id. It may have been loaded into another store.")
    elif len(rows) > 1:
        _draw_choice(session_id, rows)
    else:
        _draw_session(rows[0], target)


def _draw_session_steps(session_id: str) -> None:
    """Draw links to the previous and the next session in the list from which this session was opened."""
    chosen = read_filters()
    listed = read_newest(SESSIONS, "session_page", chosen)
    file = _read_number("file")
    before, after = find_steps(
        SESSIONS,
        "session_page",
        chosen,
        listed,
        lambda row: row["session_id"] == session_id and file in (None, row["file_id"]),
    )
    draw_steps(_step_link(before), _step_link(after))


def _step_link(step: ListStep | None) -> str | None:
    return list_link(step.row, str(step.page)) if step else None


def _read_asked_call() -> str | None:
    """Return the stored id of the call in the URL.

    Links from before schema 6 contain only the start of the id.
    """
    call = st.query_params.get("call")
    if call is None or len(call) != _FORMER_ID:
        return call
    ids = store_queries.ask("call", call=call).call_id.tolist()
    return ids[0] if ids else call


def _read_asked_place() -> AskedPlace:
    start = _read_number("from")
    return AskedPlace(
        _read_asked_call(),
        _read_number("turn"),
        _read_number("step"),
        start - 1 if start is not None else None,
    )


def _read_number(name: str) -> int | None:
    text = st.query_params.get(name)
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else None


def _kept_keys(*names: str) -> dict[str, str]:
    return {name: text for name in names if (text := st.query_params.get(name))}


def _draw_choice(session_id: str, rows: Sequence[Row]) -> None:
    query = _kept_keys(*URL_KEYS.dropped, "turn", "step", "from", "find")
    st.title("Which of these sessions?", anchor=False)
    with cards.draw_card("Several sources share this id", "session", caption="They are different sessions."):
        columns = [Column("Source", "name"), Column("Start (UTC)", "tight"), Column("File", "file")]
        cells = [
            [
                Cell(row["title"], href=session_link(session_id, file=row["file_id"], **query)),
                Cell(wording.utc_to_the_second(row["started_at"])),
                Cell(wording.visible(row["file"] or "unknown file"), mono=True),
            ]
            for row in rows
        ]
        draw_table("which_session", "Sessions with this id", columns, cells)


def _draw_session(row: Row, target: AskedPlace) -> None:
    session = ShownSession(
        row["session_id"],
        row["source"],
        {"file": _read_number("file"), **_kept_keys(*URL_KEYS.dropped, "find", "wide")},
    )
    turns: Sequence[Row] = store_queries.ask(
        "session_turns", **session.metric_parameters(), **_find_days(row)
    ).to_dict("records")
    outline: Sequence[Row] = store_queries.ask("session_outline", **session.metric_parameters()).to_dict(
        "records"
    )
    places = timelines.list_places(turns, outline)
    words = row["task"] or f"Session {row['session_id']}"
    record_answer(wording.one_line(words, 90))
    st.title(wording.in_markdown(words, 90), anchor=False)
    session_head.show(session, row, turns)
    draw_notes("session", row["session_id"])
    if not places:
        st.caption(
            "The store has no turn of this session. Its log has none, or another session repeats them."
        )
        return
    session_search.show(session, places)
    _time_line(session, places, turns, target)


def _find_days(row: Row) -> dict[str, date]:
    """Return the metric parameters for the days of a session.

    The result is empty when copies of the session may have other days.
    """
    times = row["started_at"], row["ended_at"]
    if row["copies"] or any(pd.isna(time) for time in times):
        return {}
    return {"first_day": times[0].date(), "last_day": times[1].date()}


def _time_line(
    session: ShownSession, places: Sequence[TimelinePlace], turns: Sequence[Row], target: AskedPlace
) -> None:
    size = timelines.WIDE if st.query_params.get("wide") == "1" else timelines.WINDOW
    shown = timelines.choose_window(places, target, size)
    if shown.at is None and (target.call is not None or target.turn is not None):
        missing = "call" if target.call is not None else f"turn {target.turn}"
        st.caption(f"The session has no such {missing}; it is shown from its beginning.")
    with cards.draw_card("Time line", "session_turns", "session_outline", "step_calls", caption=_LEGEND):
        draw_timeline(
            "timeline",
            make_drawing_data(
                session, places, shown, {turn["turn_id"]: turn for turn in turns}, target, size
            ),
        )
