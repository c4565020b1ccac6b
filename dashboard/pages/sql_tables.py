"""What the store holds, beside the editor: its tables, and of one its columns and what they mean."""

from __future__ import annotations

import streamlit as st

from dashboard import answers
from dashboard.table_notes import table_notes
from dashboard.widgets import cards
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.urlstate import url_widget

_FIRST = "tool_calls"


def show() -> None:
    with cards.card("Tables", "store_tables", "store_columns"):
        tables = answers.ask("store_tables")
        names = [str(name) for name in tables.name]
        rows = dict(zip(names, tables.about.tolist(), strict=True))
        first = _FIRST if _FIRST in rows else names[0]
        table = url_widget(
            lambda key: str(
                st.selectbox(
                    "Table",
                    names,
                    key=key,
                    format_func=lambda name: f"{name} · about {rows[name]:,} rows",
                    label_visibility="collapsed",
                )
            ),
            "table",
            first,
            lambda name: name if name in rows else first,
        )
        if notes := table_notes().get(table):
            with st.expander("What it holds"):
                for paragraph in notes.split("\n\n"):
                    st.caption(paragraph.replace("<", r"\<"))
        columns = answers.ask("store_columns", table=table)
        sheet(
            "columns",
            f"Columns of {table}",
            [Column("Column", "tight"), Column("Type", "tight")],
            [
                [Cell(str(name), mono=True), Cell(str(kind).lower(), mono=True)]
                for name, kind in zip(columns.name, columns.type, strict=True)
            ],
        )
