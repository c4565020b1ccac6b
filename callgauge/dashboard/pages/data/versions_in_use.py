"""Draws a card of the page Data that lists prompts and tools with several versions.

A person can compare the texts of two versions.
"""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.version_texts import VersionedText, draw_difference, read_versions


def show() -> None:
    """Draw the expander on changed prompts and tools.

    The expander is open if the URL names a changed prompt or tool.
    """
    subject = _chosen_subject()
    if subject is not None:
        _draw_changed(subject)
    elif (fold := draw_fold("Prompts and tools that changed", "versions")) is not None:
        with fold:
            _draw_changed(None)


def _draw_changed(subject: VersionedText | None) -> None:
    rows, pages = read_page_of("changed", "changes", 10)
    if not rows:
        st.caption("No prompt and no tool has two texts.")
        return
    with cards.draw_card(
        "Prompts and tools that changed",
        "changed",
        "versions",
        caption="Each text is kept. Open one to see its versions, and what changed between two.",
        framed=subject is not None,
    ):
        columns = [
            Column("Name", "name"), Column("Kind", "tight"), Column("Source", "tight"),
            Column("Versions", "number"), Column("Newest since", "tight"), Column("Turns or calls", "number"),
        ]  # fmt: skip
        draw_table("changed", "Prompts and tools that changed", columns, [_build_row(row) for row in rows])
        draw_pager("changes", pages)
        if subject:
            _draw_versions(subject)


def _build_row(row: Row) -> list[Cell]:
    subject = VersionedText(row["kind"], row["source"], row["name"])
    return [
        Cell(
            wording.one_line(subject.title, 80),
            href=filters.page_link("data", {}, {"changed": ":".join(part or "" for part in subject)}),
        ),
        Cell(row["kind"]),
        Cell(row["title"] or "–"),
        Cell(f"{row['versions']:,}"),
        Cell(wording.utc(row["changed"])),
        Cell(f"{row['uses']:,}"),
    ]


def _chosen_subject() -> VersionedText | None:
    """Return the prompt or tool that the URL names, or None."""
    parts = (st.query_params.get("changed") or "").split(":", 2)
    return VersionedText(*parts) if len(parts) == 3 else None


def _draw_versions(subject: VersionedText) -> None:
    rows = read_versions(subject)
    if not rows:
        st.caption("The store knows no versions of it.")
        return
    st.subheader(wording.in_markdown(subject.title), anchor=False)
    columns = [
        Column("Version", "tight"), Column("In force", "tight"), Column("Hash", "tight"),
        Column("Turns" if subject.kind == "prompt" else "Calls", "number"),
    ]  # fmt: skip
    draw_table(
        "versions",
        f"Versions of {wording.one_line(subject.title, 80)}",
        columns,
        [_version_row(row) for row in rows],
    )
    if len(rows) > 1:
        draw_difference(subject, rows)


def _version_row(row: Row) -> list[Cell]:
    days = f"{row['first_day']} – {row['last_day']}" if row["first_day"] else "unknown days"
    return [
        Cell(
            f"{row['number']:,}",
            sub=row["version"] and f"“{wording.one_line(row['version'], 30)}” in the log",
        ),
        Cell(days),
        Cell((row["hash"] or "–")[:12], mono=True),
        Cell(f"{row['uses']:,}"),
    ]
