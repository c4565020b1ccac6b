"""Draws a table of the parser's stages, with the arguments before and after each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components.table import Cell, Column, draw_table

_SHOWN = 1_000  # maximum number of characters shown of a text


class ParserStep(Protocol):
    """A parser stage that changed the arguments: its title, and the arguments before and after."""

    @property
    def stage(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


def draw_parser_steps(key: str, steps: Sequence[ParserStep]) -> None:
    if not steps:
        st.caption("None: the text was parsed unchanged.")
        return
    columns = [Column("No.", "number"), Column("Step", "name"), Column("Before"), Column("After")]
    rows = [
        [
            Cell(str(number)),
            Cell(step.title, sub=step.stage),
            Cell(_show_text(step.before), mono=True),
            Cell(_show_text(step.after), mono=True),
        ]
        for number, step in enumerate(steps, start=1)
    ]
    draw_table(key, "Steps of the parser in order", columns, rows)


def _show_text(text: str) -> str:
    return wording.visible(wording.shorten(text, _SHOWN))
