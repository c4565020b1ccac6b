"""Draws the cards of the page Data on sources: what their logs contain, and sessions in several files."""

from __future__ import annotations

import re

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import session_link
from callgauge.dashboard.components.controls.paging import Row, draw_pager, read_page_of
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table

# Each entry has a title, a field of the source's documentation, the column that counts the records with this
# data, and the column that counts all records.
_TELLS = (
    ("Raw arguments", "raw_arguments", "text_known", "calls"),
    ("Invalid arguments", "argument_failures", "parse_known", "calls"),
    ("Error flag", "error_flag", "result_known", "calls"),
    ("Definitions", "definitions", "definition_known", "calls"),
    ("System prompt", "system_prompt", "prompt_known", "calls"),
    ("Model", "model", "model_known", "calls"),
    ("Turn end", "turn_end", "recorded_turns", "turns"),
)
_PROMISE = re.compile(r"(yes|partly|no)\b[\s,;:–-]*(.*)", re.DOTALL)
_TONES: dict[str, Tone] = {"yes": "good", "partly": "warn", "no": "bad"}


def show_limits() -> None:
    """Draw the expander on what the logs of each source contain. A closed expander runs no query."""
    if (fold := draw_fold("What each source logs", "formats")) is not None:
        with fold:
            _draw_limits()


def show_copies() -> None:
    """Draw the expander on sessions that are in several files. A closed expander runs no query."""
    if (fold := draw_fold("Sessions in several files", "doubles")) is not None:
        with fold:
            _draw_copies()


def _draw_limits() -> None:
    with cards.draw_card(
        "What each source logs",
        "coverage",
        caption="Yes, partly, no: what the format can log. Below: the share of calls or turns that have it. "
        "Missing data never counts as success or as failure.",
        framed=False,
    ):
        for row in store_queries.ask("redacted_arguments", **filters.chosen_filters().parameters()).to_dict(
            "records"
        ):
            st.warning(
                f"{row['title']}: the arguments of {row['redacted']:,} of "
                f"{wording.plural(row['calls'], 'call')} are redacted. They are not measured."
            )
        rows = store_queries.ask("coverage", **filters.chosen_filters().parameters()).to_dict("records")
        if rows:
            _draw_table("coverage", "What each source logs", [_build_measured_row(row) for row in rows])
        else:
            st.caption("No calls or turns under these filters.")
        _draw_others()


def _draw_others() -> None:
    rows = store_queries.ask("absent_sources").to_dict("records")
    if not rows:
        return
    with st.expander(f"{wording.plural(len(rows), 'other format')} that can be read, without a file here"):
        _draw_table(
            "absent_sources", "Formats without a file here", [_build_promised_row(row) for row in rows]
        )


def _draw_table(key: str, caption: str, rows: list[list[Cell]]) -> None:
    columns = [
        Column("Source", "name"),
        *(Column(title, "name") for title, *_ in _TELLS),
        Column("Never logged"),
    ]
    draw_table(key, caption, columns, rows)


def _build_measured_row(row: Row) -> list[Cell]:
    cells = (
        _promise_cell(row[promise], row[measured], row[total], total)
        for _, promise, measured, total in _TELLS
    )
    counts = f"{wording.plural(row['calls'], 'call')}\n{wording.plural(row['turns'], 'turn')}"
    return [Cell(row["title"], sub=counts), *cells, Cell(row["cannot_tell"] or "–")]


def _build_promised_row(row: Row) -> list[Cell]:
    return [
        Cell(row["title"]),
        *(_promise_cell(row[promise]) for _, promise, *_ in _TELLS),
        Cell(row["cannot_tell"] or "–"),
    ]


def _promise_cell(promise: str | None, measured: int | None = None, total: int = 0, noun: str = "") -> Cell:
    """Return a cell that says whether the logs of the source contain a kind of data: yes, partly or no.

    The small lines say how many loaded records contain the data, and add the remarks of the documentation.
    """
    match = _PROMISE.fullmatch(promise or "")
    word, rest = match.groups() if match else ("not documented", promise or "")
    coverage = f"here {wording.rate(measured, total)} of {noun}" if measured is not None and total else ""
    share = measured / total if measured is not None and total else None
    return Cell(
        word, sub="\n".join(filter(None, (coverage, rest))) or None, tone=_TONES.get(word), share=share
    )


def _draw_copies() -> None:
    rows, pages = read_page_of("session_copies", "copies", 10)
    if not rows:
        st.caption("No session is in several files.")
        return
    with cards.draw_card(
        "Sessions in several files",
        "session_copies",
        caption="Each call and turn counts once: the copy in the most complete file.",
        framed=False,
    ):
        columns = [
            Column("Session", "file"), Column("Source", "tight"), Column("Counts", "file"),
            Column("Calls", "number"), Column("Also in", "file"), Column("Copied calls", "number"),
        ]  # fmt: skip
        draw_table("session_copies", "Sessions in several files", columns, [_copy_row(row) for row in rows])
        draw_pager("copies", pages)


def _copy_row(row: Row) -> list[Cell]:
    copies = row["copies"] or []
    listed = "\n".join(
        f"{file_name(copy['path'])} · {wording.plural(copy['calls'], 'call')}" for copy in copies[:5]
    )
    more = f"\nand {len(copies) - 5:,} more" if len(copies) > 5 else ""
    whole = "\n".join(wording.visible(copy["path"] or "unknown file") for copy in copies)
    return [
        Cell(
            wording.one_line(row["session_id"] or "–", 60),
            mono=True,
            href=session_link(row["session_id"]) if row["session_id"] else None,
            title=wording.visible(row["session_id"] or ""),
        ),
        Cell(row["title"] or "–"),
        Cell(file_name(row["counts"]), mono=True, title=wording.visible(row["counts"] or "")),
        Cell(f"{row['calls']:,}"),
        Cell(listed + more or "–", mono=True, title=whole),
        Cell(f"{row['duplicate_calls']:,}"),
    ]


def file_name(path: str | None) -> str:
    """Return the file's name without the folder, or `unknown file` when there is no path."""
    return wording.visible(path or "unknown file").rpartition("/")[2]
