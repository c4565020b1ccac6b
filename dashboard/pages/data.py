"""What was loaded, what was rejected and why, and what each source can and cannot tell."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from dashboard import filters, wording
from dashboard.pages import answers, cards
from dashboard.pages.sheet import Cell, Column, Tone, sheet
from dashboard.pages.urlstate import begin_again, url_widget

Row = Mapping[Hashable, Any]
PER_PAGE = 25
_BY_SOURCE_ONLY = "Filtered by source only, not by day, model, prompt or tool."


def show() -> None:
    st.title("Data", anchor=False)
    load = answers.ask("last_load").iloc[0]
    st.caption(
        f"Data as of {wording.utc(load.loaded_at)} · {wording.plural(load.files, 'file')} in · "
        f"{wording.plural(load.rejected_files, 'file')} and {wording.plural(load.rejected_lines, 'line')} "
        f"rejected · newest turn {wording.utc(load.newest)}"
    )
    _coverage()
    _rejects()
    _files()
    _loads()


_TELLS = (
    ("Raw text of arguments", "raw_arguments", "text_known", "calls"),
    ("Refused arguments", "argument_failures", "parse_known", "calls"),
    ("Tool definitions", "definitions", "definition_known", "calls"),
    ("Failed results", "error_flag", "result_known", "calls"),
    ("Model", "model", "model_known", "calls"),
    ("Prompt", "system_prompt", "prompt_known", "calls"),
    ("How a turn ended", "turn_end", "recorded_turns", "turns"),
)


def _coverage() -> None:
    with cards.card(
        "What each source can tell",
        "coverage",
        caption="The bar is the measured share of calls or turns; under it stands what the format promises.",
    ):
        rows = answers.ask("coverage", **filters.chosen().parameters()).to_dict("records")
        if not rows:
            st.caption("No calls or turns under these filters.")
            return
        columns = [
            Column("Source", "name"),
            *(Column(title, "name") for title, *_ in _TELLS),
            Column("Cannot tell"),
        ]
        sheet("coverage", "What each source can tell", columns, [_coverage_row(row) for row in rows])


def _coverage_row(row: Row) -> list[Cell]:
    return [
        Cell(row["title"], sub=f"{row['calls']:,} calls, {row['turns']:,} turns"),
        *(_told(row[known], row[total], row[promise]) for _, promise, known, total in _TELLS),
        Cell(row["cannot_tell"] or "–"),
    ]


def _told(known: int, total: int, promise: str | None) -> Cell:
    return Cell(wording.rate(known, total), share=known / total if total else 0.0, sub=promise)


def _paged(metric: str, key: str) -> tuple[list[dict[Hashable, Any]], int]:
    """The rows of the page that the URL names, and how many pages there are."""
    begin_again(key, {"sources": filters.chosen().sources})
    text = st.query_params.get(key)
    page = int(text) if text and text.isdecimal() and int(text) > 0 else 1
    asked = {"sources": filters.chosen().sources, "limit": PER_PAGE}
    rows = answers.ask(metric, **asked, offset=PER_PAGE * (page - 1))
    if rows.empty:
        rows = answers.ask(metric, **asked, offset=0)
    found = int(rows.found.iloc[0]) if len(rows) else 0
    return rows.to_dict("records"), -(-found // PER_PAGE)


def _pager(key: str, pages: int) -> None:
    if pages > 1:
        url_widget(
            lambda name: st.pagination(pages, key=name), key, 1, lambda text: min(pages, max(1, int(text)))
        )


def _rejects() -> None:
    with cards.card(
        "Rejected lines",
        "rejects",
        caption=f"One bad line costs one line: the rest of its file is in. {_BY_SOURCE_ONLY}",
    ):
        rows, pages = _paged("rejects", "rejects")
        if not rows:
            st.caption("None.")
            return
        columns = [
            Column("Place", "file"),
            Column("Byte", "number"),
            Column("Code", "tight"),
            Column("Reason"),
            Column("Snippet"),
        ]
        sheet("rejects_list", "Rejected lines", columns, [_reject_row(row) for row in rows])
        _pager("rejects", pages)


def _reject_row(row: Row) -> list[Cell]:
    return [
        _file(row["path"], f":{row['line']}", None),
        Cell(f"{row['byte_offset']:,}" if row["byte_offset"] is not None else "–"),
        Cell(row["code"] or "–", mono=True),
        Cell(wording.one_line(row["reason"] or "–", 300)),
        Cell(wording.one_line(row["snippet"] or "–", 200), mono=True),
    ]


def _files() -> None:
    with cards.card("Files", "files", caption=_BY_SOURCE_ONLY):
        rows, pages = _paged("files", "files")
        if not rows:
            st.caption("None.")
            return
        columns = [
            Column("File", "file"),
            Column("Status", "tight"),
            Column("Source", "tight"),
            *(
                Column(title, "number")
                for title in ("Size", "Lines", "Sessions", "Turns", "Calls", "Rejected lines")
            ),
        ]
        sheet("files_list", "Files of the store", columns, [_file_row(row) for row in rows])
        _pager("files", pages)


def _file_row(row: Row) -> list[Cell]:
    tones: dict[str, Tone] = {"loaded": "good", "rejected": "bad"}
    counts = ("lines", "sessions", "turns", "calls", "rejects")
    return [
        _file(row["path"], "", row["reason"]),
        Cell(row["status"], tone=tones.get(row["status"])),
        Cell(row["source"] or "–"),
        Cell(wording.size(row["size_bytes"])),
        *(Cell(f"{row[count]:,}" if row[count] is not None else "–") for count in counts),
    ]


def _file(path: str | None, line: str, reason: str | None) -> Cell:
    """The file's name; its folder is in the way of reading a list, so it shows on hover."""
    whole = wording.visible(path or "unknown file")
    return Cell(
        whole.rpartition("/")[2] + line, sub=reason and wording.visible(reason), title=whole, mono=True
    )


_LOADED = (
    "files_loaded",
    "files_unchanged",
    "files_rejected",
    "lines",
    "sessions",
    "turns",
    "calls",
    "rejects",
)


def _loads() -> None:
    with cards.card("Loads", "loads", caption="Every load; not filtered."):
        rows = answers.ask("loads").to_dict("records")
        titles = (
            "Files in",
            "Unchanged",
            "Rejected",
            "Lines",
            "Sessions",
            "Turns",
            "Calls",
            "Rejected lines",
        )
        columns = [
            Column("Started", "tight"),
            Column("Took", "number"),
            *(Column(title, "number") for title in titles),
            Column("Read", "number"),
            Column("Version", "tight"),
        ]
        sheet("loads_list", "Loads, the newest first", columns, [_load_row(row) for row in rows])


def _load_row(row: Row) -> list[Cell]:
    took = row["finished_at"] - row["started_at"] if row["finished_at"] and row["started_at"] else None
    return [
        Cell(wording.utc(row["started_at"])),
        Cell(f"{took.total_seconds():.1f} s" if took is not None else "–"),
        *(Cell(f"{row[count]:,}" if row[count] is not None else "–") for count in _LOADED),
        Cell(wording.size(row["bytes"])),
        Cell(row["callgauge_version"] or "–", sub=f"parser {row['parser_version']}"),
    ]


show()
