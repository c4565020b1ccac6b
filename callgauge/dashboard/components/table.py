"""Draws an HTML table with links, intervals and bars; any text is safe in a cell.

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

    `scale`: labels for the left and the right end of the track on which intervals are drawn; `zero`: the
    position on the track (0 to 1) of a line for no difference. `href`: a link on the head that shows the list
    in the column's order, for a list of which the table holds one page; `sorted`: the order it is in now.
    """

    title: str
    kind: Kind = "text"
    help: str | None = None
    width: str | None = None
    scale: tuple[str, str] | None = None
    zero: float | None = None
    href: str | None = None
    sorted: Literal["ascending", "descending"] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell: a text, with an optional link, smaller lines below (`sub`) and drawings.

    `at`, `low` and `high` draw an interval on a track with the ends 0 and 1; values beyond the ends show as
    an arrow. `share` (0 to 1) draws a bar, `bars` (0 to 1 each) small bars side by side, one a day. `heat` (0
    to 1) shades the cell. `title` shows on hover; `pale` marks a value with too few observations to rely on.
    A column whose cells have an `order` is sorted by a click on its head: numbers from the largest, texts
    from A. `marks`: half-open spans of characters of `text` to highlight, in order.
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
    marks: tuple[tuple[int, int], ...] = ()


def draw_table(
    key: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    opens: bool = False,
    chosen: int | None = None,
) -> None:
    """Draw the table. `caption` is its name for screen readers.

    `opens`: a click anywhere in a row follows the row's first link. `chosen`: the index of the row that is
    shown as selected.
    """
    data: dict[str, Any] = {
        "caption": caption,
        "columns": [asdict(column) for column in columns],
        "rows": [[asdict(cell) for cell in row] for row in rows],
        "opens": opens,
        "chosen": chosen,
    }
    draw = st.components.v2.component(
        "sheet",
        html="<div class='sheet'>\n</div>",
        css=read_source(__file__, "table.css"),
        js=read_source(__file__, "drawing.js", "table.js"),
    )
    draw(key=key, data=data)
