"""The page Data: loaded files, rejected files and lines with reasons, and the limits of each source."""

from __future__ import annotations

import streamlit as st

from callgauge.dashboard import store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.pages.data import rejected_lines, sources_card, versions_in_use
from callgauge.dashboard.pages.data.rejected_lines import BY_SOURCE_ONLY
from callgauge.dashboard.pages.data.sources_card import file_name


def show() -> None:
    st.title("Data", anchor=False)
    load = store_queries.ask("last_load").iloc[0]
    st.caption(
        f"Data as of {wording.utc(load.loaded_at)} · {wording.plural(load.files, 'file')} in · "
        f"{wording.plural(load.rejected_files, 'file')} and {wording.plural(load.rejected_lines, 'line')} "
        f"rejected · newest turn {wording.utc(load.newest)}"
    )
    sources_card.show()
    versions_in_use.show()
    rejected_lines.show()
    _draw_files()
    _draw_loads()


def _draw_files() -> None:
    with cards.draw_card("Files", "files", caption=BY_SOURCE_ONLY):
        rows, pages = read_page_of("files", "files")
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
        draw_table("files_list", "Files of the store", columns, [_file_row(row) for row in rows])
        draw_pager("files", pages)


def _file_row(row: Row) -> list[Cell]:
    tones: dict[str, Tone] = {"loaded": "good", "rejected": "bad"}
    counts = ("lines", "sessions", "turns", "calls", "rejects")
    return [
        Cell(
            file_name(row["path"]),
            sub=_describe_copies(row),
            mono=True,
            title=wording.visible(row["path"] or ""),
        ),
        Cell(row["status"], sub=_describe_left_out(row["privacy"]), tone=tones.get(row["status"])),
        Cell(row["source"] or "–"),
        Cell(wording.size(row["size_bytes"])),
        *(Cell(f"{row[count]:,}" if row[count] is not None else "–") for count in counts),
    ]


def _describe_copies(row: Row) -> str | None:
    """Return a sentence part that names other files with the same content; None when there are none."""
    if not row["copies"]:
        return None
    more = f" and {row['copies'] - 1:,} more" if row["copies"] > 1 else ""
    return f"the same as {file_name(row['copy'])}{more}, read once"


def _describe_left_out(privacy: str | None) -> str | None:
    """Return the parts that a load left out of the file, such as `without results`; None when none."""
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


def _draw_loads() -> None:
    with cards.draw_card("Loads", "loads", caption="Every load; not filtered."):
        rows = store_queries.ask("loads").to_dict("records")
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
        draw_table("loads_list", "Loads, the newest first", columns, [_load_row(row) for row in rows])


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
