"""The part of the Data page on what could not be read: whole files, and lines, by reason and one by one."""

from __future__ import annotations

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.pages.data_sources import file_name
from dashboard.widgets import cards
from dashboard.widgets.paging import Row, paged, pager
from dashboard.widgets.sheet import Cell, Column, sheet

BY_SOURCE_ONLY = "Filtered by source only, not by day, model, prompt or tool."


def show() -> None:
    _files()
    _lines()


def _files() -> None:
    rows, pages = paged("refused_files", "refused", 10)
    if not rows:
        return
    with cards.card(
        "Refused files",
        "refused_files",
        caption="Nothing of these is in, or only what an earlier load read. The next load tries them again.",
    ):
        columns = [Column("File", "file"), Column("Size", "number"), Column("Why")]
        sheet("refused_files", "Refused files", columns, [_file_row(row) for row in rows])
        pager("refused", pages)


def _file_row(row: Row) -> list[Cell]:
    return [
        Cell(file_name(row["path"]), mono=True, title=wording.visible(row["path"] or "")),
        Cell(wording.size(row["size_bytes"])),
        Cell(wording.one_line(f"It {row['reason']}" if row["reason"] else "–", 400)),
    ]


def _lines() -> None:
    with cards.card(
        "Rejected lines",
        "rejects_by_code",
        "rejects",
        caption=f"One bad line costs one line: the rest of its file is in. {BY_SOURCE_ONLY}",
    ):
        rows = answers.ask("rejects_by_code", sources=filters.chosen().sources).to_dict("records")
        if not rows:
            st.caption("None.")
            return
        columns = [
            Column("Reason", "tight"), Column("Lines", "number"), Column("Files", "number"),
            Column("Example", "file"), Column("What is wrong there"), Column("Snippet"),
        ]  # fmt: skip
        sheet("rejects_by_code", "Rejected lines by reason", columns, [_code_row(row) for row in rows])
        _one_by_one(len(rows) > 1)


def _code_row(row: Row) -> list[Cell]:
    code = row["code"] or "unknown"
    return [
        Cell(code, mono=True, href=filters.link("data", {}, {"reject": code})),
        Cell(f"{row['lines']:,}"),
        Cell(f"{row['files']:,}"),
        *_place(row),
    ]


def _place(row: Row) -> list[Cell]:
    return [
        Cell(f"{file_name(row['path'])}:{row['line']}", mono=True, title=wording.visible(row["path"] or "")),
        Cell(wording.one_line(row["reason"] or "–", 300)),
        Cell(wording.one_line(row["snippet"] or "–", 200), mono=True),
    ]


def _one_by_one(several: bool) -> None:
    code = st.query_params.get("reject")
    with st.expander(
        f"Every line: {wording.in_markdown(code)}" if code else "Every line", expanded=bool(code)
    ):
        rows, pages = paged("rejects", "rejects", code=code)
        if code and several:
            st.page_link("dashboard/pages/data.py", label=wording.door("All reasons"))
        columns = [
            Column("Place", "file"), Column("What is wrong there"), Column("Snippet"),
            Column("Reason", "tight"), Column("Byte", "number"),
        ]  # fmt: skip
        sheet("rejects_list", "Rejected lines", columns, [_line_row(row) for row in rows])
        pager("rejects", pages)


def _line_row(row: Row) -> list[Cell]:
    byte = f"{row['byte_offset']:,}" if row["byte_offset"] is not None else "–"
    return [*_place(row), Cell(row["code"] or "–", mono=True), Cell(byte)]
