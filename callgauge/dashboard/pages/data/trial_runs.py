"""Draws a card of the page Data with the loaded trial runs."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.data.sources_card import file_name


def show() -> None:
    """Draw the expander on trial runs. A closed expander runs no query."""
    if (fold := draw_fold("Trial runs", "runs")) is not None:
        with fold:
            _draw_runs()


def _draw_runs() -> None:
    with cards.draw_card(
        "Trial runs",
        "loaded_runs",
        caption="Other pages count a trial only when its run or variant is chosen in the filter bar. "
        "The filters do not apply here.",
        framed=False,
    ):
        rows, pages = read_page_of("loaded_runs", "trial_runs")
        if not rows:
            st.caption(
                "No trial run is loaded. `callgauge ingest runs/ --store DIR` loads the runs in a folder."
            )
            return
        heads = ("Arms", "Trials", "Calls", "Looks")
        columns = [
            Column("Run", "name"), Column("Question"), Column("Begun (UTC)", "tight"),
            *(Column(head, "number") for head in heads), Column("Plan"),
        ]  # fmt: skip
        draw_table("loaded_runs", "Trial runs", columns, [_build_row(row) for row in rows])
        draw_pager("trial_runs", pages)


def _build_row(row: Row) -> list[Cell]:
    of_all = f" of {row['planned']:,}" if row["planned"] else ""
    plan = file_name(row["path"]) if row["path"] else "its lock.json is not loaded"
    return [
        Cell(wording.one_line(row["run"], 60), mono=True, title=wording.visible(row["run"])),
        Cell(wording.one_line(row["question"] or row["name"] or "–", 120)),
        Cell(wording.utc(row["began"])),
        Cell(f"{row['arms']:,}"),
        Cell(f"{row['sessions']:,}{of_all}"),
        Cell(f"{row['calls']:,}"),
        Cell(f"{row['looks']:,}"),
        Cell(plan, title=wording.visible(row["path"] or "")),
    ]
