"""A real HTML table with links, intervals and bars; any text is safe.

`st.dataframe` draws on a canvas, where a link cannot stay in the session and an interval cannot be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import streamlit as st

from callgauge.dashboard.components.controls.component_files import read_source

Kind = Literal["name", "file", "text", "short", "clip", "tight", "number", "rate", "cell"]
Tone = Literal["bad", "warn", "good", "calm", "info"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `kind` decides alignment and wrapping; `width` is CSS; `help` shows on hover.

    `scale`: what the left and the right end of the intervals' track stand for, in words; `zero` is where on
    the track (0 to 1) a line stands for no difference.
    """

    title: str
    kind: Kind = "text"
    help: str | None = None
    width: str | None = None
    scale: tuple[str, str] | None = None
    zero: float | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """`sub` is smaller lines below; `at`, `low` and `high` draw an interval, `share` (0 to 1) a bar.

    `bars` (0 to 1 each) are small bars side by side, one a day. On an interval's track 0 and 1 are the ends;
    what lies beyond them shows as an arrow. `title` shows on hover; `pale` says that too little was observed
    to lean on it. `heat` (0 to 1) shades the cell. A column whose cells have an `order` is sorted by a
    click on its head: numbers from the largest, texts from A.
    """

    text: str
    sub: str | None = None
    href: str | None = None
    tone: Tone | None = None
    mono: bool = False
    at: float | None = None
    low: float | None = None
    high: float | None = None
    share: float | None = None
    title: str | None = None
    pale: bool = False
    heat: float | None = None
    bars: tuple[float, ...] | None = None
    order: float | str | None = None


def draw_table(
    key: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
) -> None:
    """Draw the table. `caption` is its name for screen readers."""
    data: dict[str, Any] = {
        "caption": caption,
        "columns": [asdict(column) for column in columns],
        "rows": [[asdict(cell) for cell in row] for row in rows],
    }
    draw = st.components.v2.component(
        "sheet",
        html="<div class='sheet'>\n</div>",
        css=read_source(__file__, "table.css"),
        js=read_source(__file__, "drawing.js", "table.js"),
    )
    draw(key=key, data=data)
