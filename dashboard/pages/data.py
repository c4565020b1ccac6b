"""What was loaded, what was rejected and why, and what each source can and cannot tell."""

from __future__ import annotations

import streamlit as st

from dashboard import answers, wording
from dashboard.pages import data_rejects, data_sources, data_versions
from dashboard.pages.data_rejects import BY_SOURCE_ONLY
from dashboard.pages.data_sources import file_name
from dashboard.widgets import cards
from dashboard.widgets.paging import Row, paged, pager
from dashboard.widgets.sheet import Cell, Column, Tone, sheet


def show() -> None:
    st.title("Data", anchor=False)
    load = answers.ask("last_load").iloc[0]
    st.caption(
        f"Data as of {wording.utc(load.loaded_at)} · {wording.plural(load.files, 'file')} in · "
        f"{wording.plural(load.rejected_files, 'file')} and {wording.plural(load.rejected_lines, 'line')} "
        f"rejected · newest turn {wording.utc(load.newest)}"
    )
    data_sources.show()
    data_versions.show()
    data_rejects.show()
    _files()
    _loads()


def _files() -> None:
    with cards.card("Files", "files", caption=BY_SOURCE_ONLY):
        rows, pages = paged("files", "files")
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
        pager("files", pages)


def _file_row(row: Row) -> list[Cell]:
    tones: dict[str, Tone] = {"loaded": "good", "rejected": "bad"}
    counts = ("lines", "sessions", "turns", "calls", "rejects")
    return [
        Cell(file_name(row["path"]), sub=_also_as(row), mono=True, title=wording.visible(row["path"] or "")),
        Cell(row["status"], sub=_left_out(row["privacy"]), tone=tones.get(row["status"])),
        Cell(row["source"] or "–"),
        Cell(wording.size(row["size_bytes"])),
        *(Cell(f"{row[count]:,}" if row[count] is not None else "–") for count in counts),
    ]


def _also_as(row: Row) -> str | None:
    """Where the same content was found as well."""
    if not row["copies"]:
        return None
    more = f" and {row['copies'] - 1:,} more" if row["copies"] > 1 else ""
    return f"the same as {file_name(row['copy'])}{more}, read once"


def _left_out(privacy: str | None) -> str | None:
    """What a load left out of the file: redacted, without results."""
    kinds = [word.split(":")[0].replace("_", " ") for word in (privacy or "").split()]
    return ", ".join(kinds) or None


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
