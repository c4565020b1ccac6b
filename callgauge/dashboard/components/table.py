"""Draws an HTML table with links, intervals and bars. A cell may safely contain any text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.texts.measured_texts import read_amount, read_number
from callgauge.dashboard import shown_page
from callgauge.dashboard.components.controls.component_files import read_source
from callgauge.documents.document import DocumentCell, DocumentColumn, DocumentTable

Kind = Literal["name", "file", "text", "short", "clip", "tight", "number", "rate", "cell"]
Tone = Literal["bad", "warn", "good", "calm", "info"]

_NUMBER = re.compile(r"[-−]?[\d,]+(\.\d+)?")
_COMPACT = re.compile(r"[\d.]+[kMG]")  # the format that `wording.compact` writes
_NOTHING = "–"
_UNITS = frozenset(("ms", "share", "bytes", "k"))
# Kinds of columns that contain log text, which a download leaves unchanged.
_HOLDING_NAMES = frozenset(("name", "file", "text", "short", "clip"))
_FEW = 100  # with fewer observations, a single observation changes a share by more than a point


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    `kind` decides alignment and wrapping. `width` is CSS. A click on the header shows `help`. `scale` holds
    labels for both ends of the axis on which intervals are drawn. `zero` is the position on this axis (0 to
    1) of the line for no difference. `full` is the title in a downloaded file. `href` and `sorted` are for a
    table that shows one page of a list. The link `href` sorts the whole list by this column, and `sorted` is
    the current sort direction.
    """

    title: str
    kind: Kind = "text"
    help: str | None = None
    width: str | None = None
    scale: tuple[str, str] | None = None
    zero: float | None = None
    full: str | None = None
    href: str | None = None
    sorted: Literal["ascending", "descending"] | None = None


@dataclass(frozen=True, slots=True)
class Percentages:
    """The percentages of a cell.

    All cells of a column show percentages with the same number of decimals. `value` is the share or the
    difference that the cell shows first, such as 0.12 for 12 %. `n` is the number of observations, or None
    for a difference. `write` gets the number of decimals and returns the cell's text and the smaller lines.
    """

    value: float
    n: int | None
    write: Callable[[int], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell: a text, with an optional link, smaller lines below (`sub`) and drawings.

    `at`, `low` and `high` draw an interval on an axis from 0 to 1. An arrow shows a value outside the axis.
    `share` (0 to 1) draws a bar. `bars` (0 to 1 each) draws one small bar for each day. `heat` (0 to 1)
    colours the cell. `title` is a tooltip. `pale` marks a value with too few observations. A column whose
    cells have an `order` can be sorted by its header. Numbers are sorted from the largest, and texts from A.
    `marks` holds half-open ranges of characters in `text` to highlight, in order. With `leads`, this cell
    comes first where a narrow screen shows the row as a card. With `diff`, lines that begin with - or + are
    drawn as removed or added.

    `values` holds what a download contains for the cell. The keys of `values` follow the column's title in
    the file. The key "" adds nothing to the title. Without `values` the download contains the number or the
    name that the cell shows. `percentages` replaces `text` and `sub`.
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
    leads: bool = False
    diff: bool = False
    values: Mapping[str, Any] | None = None
    percentages: Percentages | None = None


_BY_DEFAULT = {
    field.name: field.default for field in fields(Cell) if field.name not in ("values", "percentages")
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it was drawn, with all rows, even the rows behind "Show all"."""

    key: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def to_frame(self) -> pd.DataFrame:
        """Return the table as plain values with the same rows. Rates and differences are shares.

        If cells have several values, a column becomes several columns: `Repaired rate`, `Repaired k`,
        `Repaired n`. Amounts become numbers, with the unit in the title, such as `Took ms`.
        """
        frame: dict[str, list[Any]] = {}
        for place, column in enumerate(self.columns):
            cells = [_plain_values(row[place], column) for row in self.rows]
            title = column.full or column.title
            fullest_first = sorted(cells, key=len, reverse=True)
            suffixes = list(dict.fromkeys(suffix for values in fullest_first for suffix in values))
            if _UNITS.intersection(suffixes) and all(values.get("") is None for values in cells):
                suffixes = [suffix for suffix in suffixes if suffix]
            for suffix in suffixes:
                name = _unused(f"{title} {suffix}".strip(), frame)
                frame[name] = [values.get(suffix) for values in cells]
        return pd.DataFrame(frame, dtype=object)

    def to_document(self) -> DocumentTable:
        """Return the table for a shared document, as the page shows it."""
        columns = [
            DocumentColumn(column.title, column.kind == "number", column.zero) for column in self.columns
        ]
        return DocumentTable(self.caption, columns, [[_show_cell(cell) for cell in row] for row in self.rows])


_drawn_tables: ContextVar[list[Table] | None] = ContextVar("drawn_tables", default=None)


@contextmanager
def collect_tables() -> Iterator[list[Table]]:
    """Collect the tables that the body of the `with` statement draws."""
    tables: list[Table] = []
    token = _drawn_tables.set(tables)
    try:
        yield tables
    finally:
        _drawn_tables.reset(token)


def draw_table(
    key: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    opens: bool = False,
    chosen: int | None = None,
    shown: int | None = None,
    exported: bool = True,
    shared: bool = True,
) -> None:
    """Draw the table. `caption` is the table's name for screen readers.

    With `opens`, a click in a row follows the row's first link. `chosen` is the index of the selected row.
    `shown` is the number of rows before "Show all", or None for all rows. With `exported`, the card offers
    the table as a file. With `shared`, shared documents contain the table. The URL key `sort` keeps the sort
    order, and `all` keeps whether all rows are shown.
    """
    rows = _align_decimals(rows)
    table = Table(key, caption, columns, rows)
    collected = _drawn_tables.get()
    if collected is not None and exported:
        collected.append(table)
    if shared:
        shown_page.record_part(key, lambda: [table.to_document()])
    data: dict[str, Any] = {
        "key": key,
        "caption": wording.visible(caption),
        "opens": opens,
        "chosen": chosen,
        "shown": shown,
        "columns": [asdict(column) for column in columns],
        "rows": [[_send(cell) for cell in row] for row in rows],
    }
    draw = st.components.v2.component(
        "sheet",
        html="<div class='sheet'>\n</div>",
        css=read_source(__file__, "table.css"),
        js=read_source(__file__, "drawing.js", "table.js"),
    )
    first = rows if shown is None else rows[:shown]
    # Reserve the height until table.js has drawn, so that nothing below moves. Then shell.css removes the
    # fixed height.
    draw(key=key, data=data, height=_estimate_height(columns, first, more=len(first) < len(rows)))


def _estimate_height(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, more: bool = False) -> int:
    """Return the approximate height in pixels on a wide screen where no text wraps."""
    head = 41 if any(column.scale for column in columns) else 25
    tall = sum(13 + max((_cell_height(cell) for cell in row), default=0) for row in rows)
    return head + tall + (30 if more else 0)


def _cell_height(cell: Cell) -> int:
    # An interval adds no height, because it is drawn next to the text.
    below = [15] if cell.share is not None else []
    if cell.bars is not None:
        below.append(20)
    if cell.sub:
        below.append(17 * len(cell.sub.splitlines()))
    return (18 if cell.text or not below else 0) + sum(below)


def _send(cell: Cell) -> dict[str, Any]:
    """Return the fields of a cell that differ from the defaults of table.js."""
    return {name: value for name, usual in _BY_DEFAULT.items() if (value := getattr(cell, name)) != usual}


def _show_cell(cell: Cell) -> DocumentCell:
    return DocumentCell(
        cell.text,
        cell.sub or "",
        cell.tone,
        cell.at,
        cell.low,
        cell.high,
        cell.share,
        cell.heat,
        cell.mono,
        cell.pale,
    )


def _align_decimals(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    for cells in columns:
        percentages = [cell.percentages for cell in cells if cell.percentages]
        if percentages:
            decimals = choose_decimals(percentages)
            cells[:] = [_write_percentages(cell, decimals) for cell in cells]
    return [list(row) for row in zip(*columns, strict=True)]


def choose_decimals(percentages: Sequence[Percentages]) -> int:
    """Return the number of decimals for a column of percentages.

    The result is 2 when all values are below 1 %. The result is 0 when all values are at least 10 % and have
    fewer than 100 observations. Otherwise it is 1.
    """
    sizes = [abs(percentage.value) for percentage in percentages if percentage.value]
    if (
        sizes
        and all(percentage.n is not None and percentage.n < _FEW for percentage in percentages)
        and min(sizes) >= 0.1
    ):
        return 0
    return 2 if sizes and max(sizes) < 0.01 else 1


def _write_percentages(cell: Cell, decimals: int) -> Cell:
    if cell.percentages is None:
        return cell
    text, sub = cell.percentages.write(decimals)
    return replace(cell, text=text, sub=sub or None)


def _plain_values(cell: Cell, column: Column) -> Mapping[str, Any]:
    amount = None if cell.mono or column.kind in _HOLDING_NAMES else read_amount(cell.text)
    if cell.values is not None:
        currency = (amount or {}).get("currency")
        return {**cell.values, "currency": currency} if currency else cell.values
    value: Any = None if cell.text in ("", _NOTHING) else cell.text
    values: dict[str, Any] = {"": value}
    if isinstance(cell.order, str):
        values = {"": cell.order}
    elif amount is not None:
        # If the text is rounded, download the exact number instead.
        is_rounded = _COMPACT.fullmatch(cell.text) and cell.order is not None
        values = {"": cell.order} if is_rounded else dict(amount)
    elif column.kind == "number" and _NUMBER.fullmatch(cell.text):
        values = {"": read_number(cell.text)}
    if not cell.sub:
        return values
    below = None if column.kind in _HOLDING_NAMES else read_amount(cell.sub)
    details = (
        {f"detail {unit}".strip(): number for unit, number in below.items()}
        if below
        else {"detail": cell.sub}
    )
    return values | details


def _unused(name: str, values: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in values:
        number += 1
        free = f"{name} ({number})"
    return free


OrderLink = Callable[[str | None], str]
Way = Literal["ascending", "descending"]


def order_column(column: Column, order: str, first: Way, link: OrderLink) -> Column:
    """Return the column with a header that sorts the list by the URL's `order`.

    The first click sorts by this column, the second reverses the order, and the third restores the default
    order. `order` is the name of the column in the metric, and `first` is the direction of the first click.
    `link` returns the link to the sorted list, or to the default order for None.
    """
    text = st.query_params.get("order")
    other: dict[Way, Way] = {"ascending": "descending", "descending": "ascending"}
    if text == order:
        return replace(column, sorted=first, href=link(f"-{order}"))
    if text == f"-{order}":
        return replace(column, sorted=other[first], href=link(None))
    return replace(column, href=link(order))
