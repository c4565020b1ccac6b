"""Draws the cards of the page Data that list unrecognised files and unreadable lines."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.data.sources_card import file_name

BY_SOURCE_ONLY = "Filtered by source only, not by day, model, prompt or tool."


def show() -> None:
    _draw_files()
    _draw_foreign()
    _draw_lines()


def _draw_files() -> None:
    rows, pages = read_page_of("rejected_files", "rejected", 10)
    if not rows:
        return
    with cards.draw_card(
        "Unrecognised files",
        "rejected_files",
        caption="They are not loaded, or only as an earlier load read them. The next load tries again.",
    ):
        columns = [Column("File", "file"), Column("Size", "number"), Column("Why")]
        draw_table("rejected_files", "Unrecognised files", columns, [_file_row(row) for row in rows])
        draw_pager("rejected", pages)


_HOLDS = {
    "json": "JSON of another kind",
    "broken": "broken JSON",
    "text": "text without JSON",
    "binary": "binary data",
    "empty": "nothing",
}


def _draw_foreign() -> None:
    rows, pages = read_page_of("foreign_files", "foreign", 10)
    if not rows:
        return
    fold = draw_fold("Files that are not logs", "no_logs")
    if fold is None:
        return
    caption = "They match no format. If one is a log, `callgauge formats FILE` lists what is missing."
    with fold, cards.draw_card("Files that are not logs", "foreign_files", caption=caption, framed=False):
        columns = [
            Column("Folder", "file"), Column("Content", "tight"), Column("Files", "number"),
            Column("Size", "number"), Column("Example", "file"), Column("Why"),
        ]  # fmt: skip
        draw_table("foreign_files", "Files that are not logs", columns, [_foreign_row(row) for row in rows])
        draw_pager("foreign", pages)


def _foreign_row(row: Row) -> list[Cell]:
    why = (row["reason"] or "–").split(";")[0]
    return [
        Cell(
            wording.one_line(row["folder"] or "–", 120), mono=True, title=wording.visible(row["folder"] or "")
        ),
        Cell(_HOLDS.get(row["kind"], str(row["kind"]))),
        Cell(f"{row['files']:,}"),
        Cell(wording.size(row["bytes"])),
        Cell(file_name(row["path"]), mono=True, title=wording.visible(row["path"] or "")),
        Cell(wording.one_line(f"It {why}", 300)),
    ]


def _file_row(row: Row) -> list[Cell]:
    return [
        Cell(file_name(row["path"]), mono=True, title=wording.visible(row["path"] or "")),
        Cell(wording.size(row["size_bytes"])),
        Cell(wording.one_line(f"It {row['reason']}" if row["reason"] else "–", 400)),
    ]


def _draw_lines() -> None:
    with cards.draw_card(
        "Unreadable lines",
        "rejects_by_code",
        "rejects",
        caption=f"The rest of each file is loaded. {BY_SOURCE_ONLY}",
    ):
        rows = store_queries.ask("rejects_by_code", sources=filters.chosen_filters().sources).to_dict(
            "records"
        )
        if not rows:
            st.caption("Every line could be read.")
            return
        columns = [
            Column("Reason", "tight"), Column("Lines", "number"), Column("Files", "number"),
            Column("Example", "file"), Column("What is wrong there"), Column("Snippet"),
        ]  # fmt: skip
        draw_table("rejects_by_code", "Unreadable lines by reason", columns, [_code_row(row) for row in rows])
        _draw_one_by_one(len(rows) > 1)


def _code_row(row: Row) -> list[Cell]:
    code = row["code"] or "unknown"
    return [
        Cell(code, mono=True, href=filters.page_link("data", {}, {"reject": code})),
        Cell(f"{row['lines']:,}"),
        Cell(f"{row['files']:,}"),
        *_build_place(row),
    ]


def _build_place(row: Row) -> list[Cell]:
    return [
        Cell(f"{file_name(row['path'])}:{row['line']}", mono=True, title=wording.visible(row["path"] or "")),
        Cell(wording.one_line(row["reason"] or "–", 300)),
        Cell(wording.one_line(row["snippet"] or "–", 200), mono=True),
    ]


def _draw_one_by_one(several: bool) -> None:
    code = st.query_params.get("reject")
    place = st.container() if code else draw_fold("Every line", "lines")
    if place is None:
        return
    with place:
        if code:
            st.subheader(f"Every line: {wording.in_markdown(code)}", anchor=False)
        rows, pages = read_page_of("rejects", "rejects", code=code)
        if code and several:
            draw_link("all_reasons", "All reasons", filters.page_link("data", {}, {}))
        columns = [
            Column("Place", "file"), Column("What is wrong there"), Column("Snippet"),
            Column("Reason", "tight"), Column("Byte", "number"),
        ]  # fmt: skip
        draw_table("rejects_list", "Unreadable lines", columns, [_line_row(row) for row in rows])
        draw_pager("rejects", pages)


def _line_row(row: Row) -> list[Cell]:
    byte = f"{row['byte_offset']:,}" if row["byte_offset"] is not None else "–"
    return [*_build_place(row), Cell(row["code"] or "–", mono=True), Cell(byte)]
