"""Shared components: cards, explanations of metrics, and messages for empty pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.export import to_csv, to_parquet
from callgauge.analysis.metrics import GROUPS, Metric, MetricError, metrics
from callgauge.analysis.metrics.published_store import NothingLoadedError, UnshownStoreError
from callgauge.analysis.texts.sql_literals import fill_parameters
from callgauge.analysis.texts.url_texts import LinkError, pack_text
from callgauge.analysis.verdicts.explanations import HOW_JUDGED, VerdictKind
from callgauge.dashboard import filters, shown_page, store_queries
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.table import Cell, Column, Table, collect_tables, draw_table
from callgauge.dashboard.file_names import name_file
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.viewer import leave_place_out, refuse_file


@dataclass(frozen=True, slots=True)
class Download:
    """A download in a card's menu. A click calls `rows`.

    `what` is "all rows", or "sums" for the sums behind the figures.
    """

    name: str
    rows: Callable[[], pd.DataFrame]
    what: Literal["sums", "all rows"] = "sums"


MOST_ROWS = 10_000
"""Maximum number of rows in a download of a list."""
_OF_RATES = "how-rates-are-counted-and-compared"
_WHAT = {"sums": "The sums behind it", "all rows": f"All rows, not only this page; at most {MOST_ROWS:,}"}


def _draw_menu(
    title: str,
    tables: Sequence[Table],
    take: Download | None,
    metric_names: Sequence[str],
    verdict: VerdictKind | None,
) -> None:
    drawn = [table for table in tables if table.rows]
    if metric_names:
        shown_page.record_method(metric_names, verdict)
    queries = {name: store_queries.last_parameters(name) for name in metric_names}
    has_files = bool(drawn) or take is not None

    def draw() -> None:
        if has_files:
            st.markdown("**Export**")
            _list_files(drawn, take)
        if queries:
            st.markdown("**How this is counted**")
            _explain(queries, title, verdict)

    if has_files or queries:
        about = " and ".join(["export"] * has_files + ["method"] * bool(queries)).capitalize()
        draw_popover(f"{about} of {title}", f"card_menu_{title}", draw, ":material/more_horiz:")


def _list_files(drawn: Sequence[Table], take: Download | None) -> None:
    if refusal := refuse_file():
        st.caption(refusal)
        return
    for table in drawn:
        # Build the file only when a person clicks, because a page may draw the same table many times.
        _draw_files(table.caption if len(drawn) > 1 else "As shown", table.key, table.to_frame)
    if take is not None:
        rows = take.rows
        _draw_files(
            _WHAT[take.what],
            f"{take.name}_{take.what.replace(' ', '_')}",
            lambda: _leave_groups_out(rows()),
            words=f", {take.what}",
        )


def _draw_files(heading: str, name: str, rows: Callable[[], pd.DataFrame], words: str = "") -> None:
    st.caption(wording.in_markdown(heading))
    with st.container(horizontal=True, gap="small"):
        _draw_download_button(f"CSV{words}", f"{name}.csv", "text/csv", lambda: to_csv(rows()))
        _draw_download_button(
            f"Parquet{words}",
            f"{name}.parquet",
            "application/vnd.apache.parquet",
            lambda: to_parquet(rows()),
        )


def _leave_groups_out(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without the counts by session group, which only interval computations need."""
    return rows[[name for name in rows.columns if not str(name).startswith("group_")]]


def _draw_download_button(label: str, name: str, mime: str, made: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        made,
        name_file(*name.rsplit(".", 1)),
        mime,
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key=f"take_{name}",
    )


@contextmanager
def draw_card(
    title: str,
    *metric_names: str,
    caption: str | None = None,
    beside: Callable[[], None] | None = None,
    take: Download | None = None,
    stretch: bool = False,
    height: int | None = None,
    framed: bool = True,
    verdict: VerdictKind | None = None,
) -> Iterator[None]:
    """Draw a bordered card with a heading. The `with` body draws the content.

    The card's menu explains the metrics in `metric_names` and the kind of `verdict`, and offers the drawn
    tables and `take` as downloads. `beside` draws a control next to the heading. `stretch` makes the card as
    high as its row. `height` in pixels is reserved until the content is drawn. Pass `framed=False` inside an
    expander. If the body raises MetricError, the card shows the error's message.
    """
    with st.container(border=framed, height="stretch" if stretch else "content", gap="xsmall"):
        with st.container(
            horizontal=True,
            horizontal_alignment="distribute" if framed else "right",
            vertical_alignment="center",
        ):
            if framed:
                with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
                    st.header(title, anchor=False, width="content")
                    if beside:
                        beside()
            menu = st.container(width="content")
        if caption:
            st.caption(caption)
        tables: list[Table] = []
        try:
            with collect_tables() as tables, st.skeleton(height=height) if height else nullcontext():
                yield
        except MetricError as problem:
            st.error(wording.in_markdown(str(problem), 600))
        if metric_names or take:
            with menu:
                _draw_menu(title, tables, take, metric_names, verdict)


def draw_answer(sentence: str, limit: int) -> None:
    """Draw the sentence that answers a page's question, cut to `limit` characters."""
    shown_page.record_answer(wording.one_line(sentence, limit))
    with st.container(key="verdict"):
        st.header(wording.in_markdown(sentence, limit), anchor=False)


def _explain(queries: Mapping[str, Mapping[str, Any]], place: str, verdict: VerdictKind | None) -> None:
    """Draw the question and the notes of each metric, and below them an expander with columns and SQL.

    `place` makes the widget keys unique.
    """
    if verdict:
        st.markdown(f"**How the verdict is made.** {HOW_JUDGED[verdict]}")
    for name, parameters in queries.items():
        metric = metrics()[name]
        st.markdown(f"**{metric.question}**")
        for note in metric.notes:
            st.markdown(note)
        with st.expander("Columns and SQL"):
            st.caption(f"Unit: {metric.unit}")
            _list_columns(metric, place)
            st.code(metric.sql, language="sql", height=320)
        _draw_sql_link(metric, parameters)
    if any(GROUPS in metrics()[name].columns for name in queries):
        st.markdown("The 95 % interval counts sessions, not calls: calls of one session are alike.")
        st.markdown(
            "The interval also depends on how alike the other rows' calls of one session are. "
            "With other filters the same count can have a slightly different interval."
        )
        st.page_link(
            page_file("glossary"),
            label=wording.link_label("What the words mean"),
            query_params={"about": _OF_RATES},
        )


def _draw_sql_link(metric: Metric, parameters: Mapping[str, Any]) -> None:
    """Draw a link that opens a metric on the SQL page, unless the link would be too long."""
    with suppress(LinkError):
        st.page_link(
            page_file("sql"),
            label=wording.link_label("Open in SQL"),
            query_params={"sql": pack_text(fill_parameters(metric, parameters))},
        )


def _list_columns(metric: Metric, place: str) -> None:
    rows = [[Cell(column, mono=True), Cell(meaning)] for column, meaning in metric.columns.items()]
    if rows:
        titles = [Column("Column", "tight"), Column("Meaning")]
        draw_table(
            f"counted_{metric.name}_{place}",
            "What the columns mean",
            titles,
            rows,
            exported=False,
            shared=False,
        )


def show_no_matches(noun: str) -> None:
    """Draw a card for a page without matches. The card lists the filters and offers to clear all filters."""
    active = filters.active_filter_names()
    is_empty = not store_queries.ask("fault_layers").iloc[0].total
    shown_page.record_answer(f"No {noun} here.")
    with st.container(border=True):
        st.header(f"No {noun} here", anchor=False)
        if active and not is_empty:
            st.caption(f"The filters leave nothing: {', '.join(active)}.")
            st.button("Clear all filters, show all days", on_click=filters.show_everything, key="clear")
        else:
            parameters = filters.chosen_filters().parameters()
            has_trials = bool(store_queries.ask("trials_left_out", **parameters).iloc[0].sessions)
            none = "The store has calls of trials only." if has_trials else "The store has no calls yet."
            st.caption(f"{none} Load logs:")
            command = f"callgauge ingest PATH --store {store_queries.store_folder()}"
            st.code(leave_place_out(command), language=None)


def show_no_store(problem: UnshownStoreError) -> None:
    """Draw a card that says why the store cannot be shown and what to do."""
    with st.container(border=True):
        if isinstance(problem, NothingLoadedError):
            st.header(problem.message.removesuffix("."), anchor=False)
        else:
            st.header("The store cannot be shown", anchor=False)
            st.text(leave_place_out(problem.message))
        st.text(leave_place_out(problem.remedy))
        if problem.command:
            st.code(leave_place_out(problem.command), language=None, wrap_lines=True)
        st.caption("This page looks again every ten seconds. The playground works without a store.")
