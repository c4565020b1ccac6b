"""Draws the card next to the editor: the tables of the store, and notes and columns of one table."""

from __future__ import annotations

import streamlit as st

from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.sql.table_notes import read_table_notes

_FIRST = "tool_calls"
_SHOWN = 20  # columns of a table that are shown before "Show all"


def show() -> None:
    with cards.draw_card("Tables", "store_tables", "store_columns"):
        tables = store_queries.ask("store_tables")
        names = [str(name) for name in tables.name]
        rows = dict(zip(names, tables.about.tolist(), strict=True))
        first = _FIRST if _FIRST in rows else names[0]
        table = draw_url_widget(
            lambda key: str(
                st.selectbox(
                    "Table",
                    names,
                    index=names.index(st.session_state[key]),
                    key=key,
                    format_func=lambda name: f"{name} · about {rows[name]:,} rows",
                    label_visibility="collapsed",
                )
            ),
            "table",
            first,
            lambda name: name if name in rows else first,
        )
        if notes := read_table_notes().get(table):
            with st.expander("About this table"):
                for paragraph in notes.split("\n\n"):
                    st.caption(paragraph.replace("<", r"\<"))
        columns = store_queries.ask("store_columns", table=table)
        draw_table(
            "columns",
            f"Columns of {table}",
            [Column("Column", "tight"), Column("Type", "tight")],
            [
                [Cell(str(name), mono=True), Cell(str(kind).lower(), mono=True)]
                for name, kind in zip(columns.name, columns.type, strict=True)
            ],
            shown=_SHOWN,
        )
