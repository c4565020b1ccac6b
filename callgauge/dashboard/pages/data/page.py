"""The page Data: loads, unreadable lines and files, silent sources, and what the logs contain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import (
    describe_night,
    describe_rejected,
    describe_share_read,
    list_silent,
)
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.pages.data import (
    model_names,
    nights_card,
    rejected_lines,
    sources_card,
    success_differences,
    trial_runs,
    versions_in_use,
)
from callgauge.dashboard.pages.data.feed import describe_feed, describe_replaced, describe_status
from callgauge.dashboard.pages.data.rejected_lines import BY_SOURCE_ONLY
from callgauge.dashboard.pages.data.sources_card import file_name


def show() -> None:
    st.title("Data", anchor=False)
    loads = store_queries.ask("loads").to_dict("records")
    silent = store_queries.ask("silent_sources").to_dict("records")
    load = store_queries.ask("last_load").iloc[0]
    service = store_queries.known_service_state()
    silent_sources = list_silent(service, silent, datetime.now(UTC))
    cards.draw_answer(
        describe_feed(loads, silent_sources, load.newest, describe_night(service, datetime.now(UTC))), 400
    )
    rejected = describe_rejected(load.rejected_files, load.rejected_lines) or "nothing"
    foreign = int(load.foreign_files)
    are = "is not a log" if foreign == 1 else "are not logs"
    no_logs = f"{wording.plural(foreign, 'further file')} {are} (skipped)"
    parts = [
        f"In all: {describe_share_read(load)}",
        f"{rejected} unreadable",
        *([no_logs] if foreign else []),
        _describe_calls(load),
        f"newest turn {wording.utc(load.newest)}",
    ]
    st.caption(" · ".join(parts))
    nights_card.show()
    _draw_loads(loads)
    _draw_silent(silent)
    rejected_lines.show()
    sources_card.show_limits()
    success_differences.show()
    if (fold := draw_fold("All files", "inventory")) is not None:
        with fold:
            _draw_files()
    sources_card.show_copies()
    versions_in_use.show()
    model_names.show()
    trial_runs.show()


def _describe_calls(load: pd.Series[Any]) -> str:
    """Return how many calls the other pages count, and how many duplicate calls these pages omit."""
    calls, copies = int(load["calls"]), int(load["copies"])
    return wording.plural(calls, "call") + (f" and {copies:,} copies, which count once" if copies else "")


def _draw_silent(rows: Sequence[Row]) -> None:
    if not rows:
        return
    with cards.draw_card(
        "Silent sources",
        "silent_sources",
        caption="They had data on most days, then none for longer than usual.",
    ):
        columns = [
            Column("Source", "name"), Column("Newest day", "tight"), Column("Days without data", "number"),
            Column("Before that", "tight"), Column("Chance of this gap", "number"),
        ]  # fmt: skip
        draw_table("silent_sources", "Silent sources", columns, [_silent_row(row) for row in rows])


def _silent_row(row: Row) -> list[Cell]:
    return [
        Cell(wording.one_line(row["title"], 80)),
        Cell(f"{row['last_day']}"),
        Cell(f"{row['silent_days']:,}", tone="bad"),
        Cell(f"data on {row['active_days']} of 14 days"),
        Cell(wording.percent(row["chance"], 2)),
    ]


def _draw_files() -> None:
    with cards.draw_card("All files", "files", caption=BY_SOURCE_ONLY, framed=False):
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
                for title in ("Size", "Lines", "Sessions", "Turns", "Calls", "Unreadable lines")
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
        Cell(describe_status(row), sub=_describe_left_out(row["privacy"]), tone=tones.get(row["status"])),
        Cell(row["source"] or "–"),
        Cell(wording.size(row["size_bytes"])),
        *(Cell(f"{row[count]:,}" if row[count] is not None else "–") for count in counts),
    ]


def _describe_copies(row: Row) -> str | None:
    if not row["copies"]:
        return None
    more = f" and {row['copies'] - 1:,} more" if row["copies"] > 1 else ""
    return f"the same as {file_name(row['copy'])}{more}, read once"


def _describe_left_out(privacy: str | None) -> str | None:
    """Return what the load left out of the file, such as `without results`, or None."""
    kinds = [word.split(":")[0].replace("_", " ") for word in (privacy or "").split()]
    return ", ".join(kinds) or None


_SHOWN = 7  # loads before "Show all": one week of nightly runs
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


def _draw_loads(rows: Sequence[Row]) -> None:
    with cards.draw_card(
        "Loads",
        "loads",
        caption="Not filtered. A file is read once, and again when it grows. Copies of a call count here.",
    ):
        titles = (
            "Files loaded",
            "Unchanged",
            "Files not recognised",
            "Lines",
            "Sessions",
            "Turns",
            "Calls",
            "Unreadable lines",
        )
        columns = [
            Column("Started", "tight"),
            Column("Took", "number"),
            *(Column(title, "number") for title in titles),
            Column("Read", "number"),
            Column("Changed files", "tight"),
            Column("Version", "tight"),
        ]
        drawn = [_load_row(row) for row in rows]
        draw_table("loads_list", "Loads, the newest first", columns, drawn, shown=_SHOWN)


def _load_row(row: Row) -> list[Cell]:
    took = row["finished_at"] - row["started_at"] if row["finished_at"] and row["started_at"] else None
    return [
        Cell(wording.utc(row["started_at"])),
        Cell(f"{took.total_seconds():.1f} s" if took is not None else "–"),
        *(Cell(f"{row[count]:,}" if row[count] is not None else "–") for count in _LOADED),
        Cell(wording.size(row["bytes"])),
        Cell(describe_replaced(row) or "–"),
        Cell(row["callgauge_version"] or "–", sub=f"parser {row['parser_version']}"),
    ]


show()
