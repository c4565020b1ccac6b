"""Draws a card of the page Data that lists model names and says which names count as the same model."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.data.rejected_lines import BY_SOURCE_ONLY

_SOURCES = {"log": "the log", "path": "the path of the file", "given": "--model"}
_RULES = {
    "host": "who serves it is left out",
    "variant": "the suffix only says how it is called",
    "spelling": "spelled in one way",
    "date": "the date of a snapshot",
    "naming.toml": "your naming.toml says so",
    "callgauge.toml": "your callgauge.toml says so",
}


def show() -> None:
    """Draw the expander on model names. A closed expander runs no query."""
    if (fold := draw_fold("Names of models", "names")) is not None:
        with fold:
            _draw_names()


def _draw_names() -> None:
    with cards.draw_card(
        "Names of models",
        "model_names",
        caption="The store keeps each name as it was found. A file naming.toml in the store's folder, or "
        f"callgauge.toml, changes what counts as one; `callgauge models` applies it. {BY_SOURCE_ONLY}",
        framed=False,
    ):
        rows, pages = read_page_of("model_names", "named")
        if not rows:
            st.caption("No log names a model. `callgauge ingest` takes one from the path, or from --model.")
            return
        columns = [
            Column("Model", "name"), Column("Name", "name"), Column("Found in", "tight"),
            Column("Why it counts as this model"), Column("Model calls", "number"),
        ]  # fmt: skip
        draw_table("model_names", "Names of models", columns, [_build_row(row) for row in rows])
        draw_pager("named", pages)


def _build_row(row: Row) -> list[Cell]:
    rules = [_RULES.get(rule, rule) for rule in (row["rule"] or "").split(", ") if rule]
    name = row["model_name"]
    return [
        Cell(wording.one_line(row["model"], 80), mono=True, title=wording.visible(row["model"])),
        Cell(wording.one_line(name, 80) if name else "–", mono=True, title=wording.visible(name or "")),
        Cell(_SOURCES.get(row["model_source"], "–")),
        Cell(", ".join(rules) or "–"),
        Cell(f"{row['steps']:,}"),
    ]
