"""The steps of the parser in, a table of them out: what each did, with the text before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from dashboard import wording
from dashboard.widgets.sheet import Cell, Column, sheet

_SHOWN = 1_000  # characters of a text


class Step(Protocol):
    """What the parser tells of one stage that changed something."""

    @property
    def stage(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


def parser_steps(key: str, steps: Sequence[Step]) -> None:
    if not steps:
        st.caption("None: the text was read as it is.")
        return
    columns = [Column("No.", "number"), Column("Step", "name"), Column("Before"), Column("After")]
    rows = [
        [
            Cell(str(number)),
            Cell(step.title, sub=step.stage),
            Cell(_shown(step.before), mono=True),
            Cell(_shown(step.after), mono=True),
        ]
        for number, step in enumerate(steps, start=1)
    ]
    sheet(key, "Steps of the parser in order", columns, rows)


def _shown(text: str) -> str:
    return wording.visible(wording.shortened(text, _SHOWN))
