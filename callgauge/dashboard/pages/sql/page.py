"""The page SQL: a query editor, the tables of the store, and the result as table or chart.

In the URL, `sql` is the compressed query, or `start` names the chosen query or metric. The page runs the
query in the URL, so everybody who opens a link sees the result of the same query.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import streamlit as st

from callgauge.analysis.metrics import metrics
from callgauge.analysis.queries import queries
from callgauge.analysis.sandbox.query_runs import (
    LIMITS,
    LONGEST,
    QueryResult,
    SandboxBusyError,
    SqlError,
    run,
)
from callgauge.analysis.texts.sql_literals import fill_parameters
from callgauge.analysis.texts.url_texts import LinkError, pack_text, unpack_text
from callgauge.dashboard import store_queries, viewer
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.editor import edited_text, editor
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget
from callgauge.dashboard.pages.sql import query_result, table_list
from callgauge.dashboard.shown_page import record_setting, refuse_link
from callgauge.dashboard.url_keys import write_to_url

_KEY = "sql_editor"
# session key of the text that the page last set in the editor, and of the text's version
_BEGUN = "_sql_begun"
_TOO_LONG = "_sql_too_long"  # session key of an edited text that is too long for a link
_DONE = "_sql_done"
_PAGE = "sql_page"
_PLACEHOLDER = "SELECT model, count(*) AS calls FROM tool_calls GROUP BY model"


class StartingText(NamedTuple):
    """An offered query, with its title and question."""

    title: str
    question: str
    sql: str


class LastRun(NamedTuple):
    """The last query of this session, the store file that the query read, and the result or error."""

    generation: str
    sql: str
    outcome: QueryResult | SqlError


def show() -> None:
    st.title("SQL", anchor=False)
    st.caption(
        f"Read-only questions to the store, in DuckDB's SQL: one statement, {LIMITS.seconds:g} seconds, "
        f"{LIMITS.rows:,} rows. Nothing is stored; the link carries the text."
    )
    left, right = st.columns([11, 4], gap="medium")
    with left:
        with st.container(border=True, gap="small"):
            _draw_picker()  # drawn first, because a choice changes the URL
            sql, problem = _read_text()
            text = _draw_editor(sql)
        if problem:
            st.error(problem)
        elif sql.strip():
            _draw_answer(sql, edited=text != sql)
        else:
            _draw_nothing_asked()
    with right:
        table_list.show()


def _read_text() -> tuple[str, str | None]:
    if parameter := st.query_params.get("sql"):
        try:
            return unpack_text(parameter, 4 * LONGEST), None
        except LinkError as damaged:
            return "", str(damaged)
    start = _list_starts().get(st.query_params.get("start", ""))
    return start.sql if start else str(st.session_state.get(_TOO_LONG, "")), None


@cache
def _list_starts() -> Mapping[str, StartingText]:
    """Return the offered queries, by URL name.

    Shipped queries come first, then metrics without filters.
    """
    shipped = {
        f"query:{query.name}": StartingText(query.title, query.question, query.sql)
        for query in queries().values()
    }
    counted = {
        f"metric:{metric.name}": StartingText(
            f"Metric: {metric.title}", metric.question, fill_parameters(metric, {})
        )
        for metric in sorted(metrics().values(), key=lambda metric: metric.title)
    }
    return shipped | counted


def _draw_editor(sql: str) -> str:
    begun, version = st.session_state.get(_BEGUN, ("", 0))
    if sql != begun:
        version += 1
        st.session_state[_BEGUN] = (sql, version)
    text = editor(
        _KEY,
        "Query",
        sql,
        height=200,
        version=version,
        placeholder=_PLACEHOLDER,
        on_run=_run,
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Run", type="primary", on_click=_run_edited, key="sql_run", help="Ctrl+Enter")
        _note_text(text, sql)
    return text


def _draw_picker() -> None:
    starts = _list_starts()
    draw_url_widget(
        lambda key: str(
            st.selectbox(
                "Begin with",
                ["", *starts],
                key=key,
                format_func=lambda name: starts[name].title if name else "A query or a metric …",
                on_change=_begin,
            )
        ),
        "start",
        "",
        lambda name: name if name in starts else "",
    )


def _begin() -> None:
    """Remove the edited query, and the choices for the result, from the URL."""
    st.session_state.pop(_TOO_LONG, None)
    for name in ("sql", _PAGE, *query_result.CHOICES):
        write_to_url(name, None)


def _run_edited() -> None:
    """Run the query that the editor now contains."""
    text, version = st.session_state[_BEGUN]
    _run(edited_text(_KEY, text, version))


def _run(text: str) -> None:
    """Write the query into the URL. The page then runs the query, even if it has not changed."""
    st.session_state.pop(_DONE, None)
    write_to_url(_PAGE, None)
    st.session_state.pop(_TOO_LONG, None)
    start = _list_starts().get(st.query_params.get("start", ""))
    if start and start.sql == text and st.query_params.get("sql") is None:
        return
    write_to_url("start", None)
    try:
        write_to_url("sql", pack_text(text) if text.strip() else None)
    except LinkError:
        write_to_url("sql", None)
        st.session_state[_TOO_LONG] = text


def _note_text(text: str, sql: str) -> None:
    """Put the query in the editor into shared links, even if it has not been run."""
    try:
        packed = pack_text(text) if text.strip() else None
        if text != sql:
            record_setting("sql", packed)
    except LinkError as too_long:
        refuse_link(str(too_long))
        st.caption(f"No link: {too_long}")


def _draw_nothing_asked() -> None:
    with cards.draw_card(
        "Nothing asked yet", caption="Write a query and press Ctrl+Enter, or begin with one of these."
    ):
        query_result.draw_offers(
            [(name, start) for name, start in _list_starts().items() if name.startswith("query:")]
        )


def _draw_answer(sql: str, *, edited: bool) -> None:
    with st.container():  # a separate container, so that a change here does not move the table
        outcome = _run_or_reuse(sql)
        if edited:
            st.caption("The text has changed since; Ctrl+Enter runs it.")
    if isinstance(outcome, SqlError):
        query_result.draw_refusal(outcome)
    else:
        query_result.show(outcome, _PAGE)


def _run_or_reuse(sql: str) -> QueryResult | SqlError:
    """Run the query and return the result or the error.

    The last result is reused for the same query and store file.
    """
    generation = store_queries.generation_file()
    done: LastRun | None = st.session_state.get(_DONE)
    if done and (done.generation, done.sql) == (str(generation), sql):
        return done.outcome
    outcome: QueryResult | SqlError
    with st.spinner("Running …"):
        try:
            outcome = run(generation, sql, texts=viewer.sees_texts())
        except SandboxBusyError as busy:
            return busy
        except SqlError as refused:
            outcome = refused
    st.session_state[_DONE] = LastRun(str(generation), sql, outcome)
    return outcome


show()
