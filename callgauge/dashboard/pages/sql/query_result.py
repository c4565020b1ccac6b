"""Draws the result of a user's query: row count, one page of rows or a chart, and the export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.sandbox.query_runs import QueryResult, SqlError
from callgauge.dashboard import charts
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.cards import Download
from callgauge.dashboard.components.controls.links import call_link, session_link
from callgauge.dashboard.components.controls.rate_choice import choose_one, choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget
from callgauge.dashboard.components.table import Cell, Column, Kind, draw_table
from callgauge.dashboard.pages.sql.query_charts import plot_result
from callgauge.dashboard.plain_charts import read_figure
from callgauge.dashboard.shown_page import record_answer, record_part

_PER_PAGE = 50
_LONGEST = 300
_MOST_COLUMNS = 60
CHOICES = ("view", "x", "y", "series")
"""The URL keys that apply to the result of one query only."""
_VIEWS = {"table": "Table", "bar": "Bars", "line": "Lines"}
_CALLS = frozenset({"call_id", "chain_id", "example", "newest_call"})  # columns whose values link to a call
_NONE = ""


def draw_offers(starts: Sequence[tuple[str, Any]]) -> None:
    rows = [
        [Cell(start.title, href=f"sql?{urlencode({'start': name})}"), Cell(start.question)]
        for name, start in starts
    ]
    draw_table(
        "sql_starts", "Queries to begin with", [Column("Query", "name"), Column("What it answers")], rows
    )


def draw_refusal(problem: SqlError) -> None:
    with cards.draw_card("No result"):
        st.code(wording.visible(str(problem)), language=None, wrap_lines=True)


def show(result: QueryResult, page_key: str) -> None:
    numbers = result.number_columns()
    record_answer(f"The query gives {wording.plural(result.rows, 'row')}.")
    take = Download("query", result.to_frame, "all rows") if result.kept_rows else None
    with cards.draw_card("Result", caption=_describe_count(result), take=take):
        if not result.kept_rows:
            st.text("The query gives no rows.")
            return
        view = choose_segment("Show as", "view", list(_VIEWS), _VIEWS.__getitem__) if numbers else "table"
        if view == "table":
            _draw_table(result, page_key)
        else:
            _draw_chart(result, view, numbers)


def _describe_count(result: QueryResult) -> str:
    kept_rows = result.kept_rows
    rows = wording.plural(result.rows, "row")
    took = f"{result.seconds:.2f} s" if result.seconds >= 0.1 else f"{1000 * result.seconds:.0f} ms"
    if not result.counted:
        return f"More than {rows}; the first {kept_rows:,} are kept here and in an export · {took}"
    if kept_rows < result.rows:
        return f"{rows}; the first {kept_rows:,} are kept here and in an export · {took}"
    return f"{rows} · {took}"


def _draw_table(result: QueryResult, page_key: str) -> None:
    names, numbers = result.column_names[:_MOST_COLUMNS], frozenset(result.number_columns())
    place = st.container()
    page = _page_number(page_key, -(-result.kept_rows // _PER_PAGE))
    kinds = [_column_kind(name, numbers, result) for name in names]
    columns = [Column(_column_name(name), kind) for name, kind in zip(names, kinds, strict=True)]
    rows = [
        [_make_cell(name, value) for name, value in zip(names, row, strict=False)]
        for row in result.read_rows(_PER_PAGE * (page - 1), _PER_PAGE)
    ]
    with place:
        draw_table("sql_rows", "Rows of the result", columns, rows, exported=False)
        if len(result.column_names) > _MOST_COLUMNS:
            st.caption(f"{len(result.column_names) - _MOST_COLUMNS} more columns are in the export.")


def _column_name(name: str) -> str:
    return wording.one_line(name, 60) or "–"


def _column_kind(name: str, numbers: frozenset[str], result: QueryResult) -> Kind:
    if name in numbers:
        return "number"
    return "tight" if name in _CALLS or name in result.time_columns() else "text"


def _make_cell(name: str, value: Any) -> Cell:
    if value is None:
        return Cell("NULL", pale=True)
    if isinstance(value, float | Decimal):
        return Cell(f"{value:,.6g}" if isinstance(value, float) else f"{value:,}", title=str(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(f"{value:,}")
    if name in _CALLS and isinstance(value, str):
        return Cell(wording.one_line(value, 60), href=call_link(value), mono=True)
    if name == "session_id" and isinstance(value, str):
        return Cell(wording.one_line(value, 60), href=session_link(value), mono=True)
    text = value if isinstance(value, str) else _format_value(value)
    if len(text) > _LONGEST:
        return Cell(
            wording.visible(text[:_LONGEST]),
            sub=f"… {len(text):,} characters; the export has them",
            mono=True,
        )
    return Cell(wording.visible(text), mono=not isinstance(value, str) or "{" in text)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex(" ")
    if isinstance(value, list | dict):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def _page_number(key: str, pages: int) -> int:
    return draw_url_widget(
        lambda name: (
            int(st.pagination(pages, default=min(pages, st.session_state[name]), key=name))
            if pages > 1
            else 1
        ),
        key,
        1,
        lambda text: min(pages, max(1, int(text))),
    )


def _draw_chart(result: QueryResult, kind: str, numbers: Sequence[str]) -> None:
    names = list(result.column_names)
    with st.container(horizontal=True, gap="small"):
        x = choose_one("Across", "x", names, names[0], _column_name)
        least = [name for name in numbers if name != x] or list(numbers)
        y = choose_one("Height", "y", least, least[0], _column_name)
        texts = [name for name in names if name not in (x, y)]
        series = choose_one(
            "Colour by",
            "series",
            [_NONE, *texts],
            _NONE,
            lambda name: _column_name(name) if name else "nothing",
        )
    plot = plot_result(kind, y, *result.column_values(x, y, *([series] if series else [])))
    if plot.figure is None:
        st.caption("There is no number to draw in this column.")
        return
    figure, words = plot.figure, f"{_column_name(y)} by {_column_name(x)}"
    record_part("sql_chart", lambda: [read_figure(figure, words)])
    st.plotly_chart(figure, config=charts.CONFIG, key="sql_chart", alt=words)
    if plot.left_out:
        st.caption(plot.left_out)
