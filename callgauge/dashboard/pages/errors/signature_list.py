"""Draws the list of error signatures, new ones first, or one signature with the tools and models it hit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from callgauge.analysis import testsets, wording
from callgauge.analysis.day_paging import CALLS, read_page
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.paging import draw_pager
from callgauge.dashboard.components.controls.url_widgets import reset_page_number
from callgauge.dashboard.components.fault_cards import LAYERS
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.errors.signature_status import (
    KnownErrors,
    choose_status,
    draw_status,
    status_cell,
)

Row = Mapping[Hashable, Any]
PER_PAGE = 200
_SHOWN = 10  # of a page, until all are asked for
_NAMED = 2  # tools and models that a cell names


def read(chosen: Mapping[str, Any]) -> Sequence[Row]:
    """Return the signatures of the page that the URL names: those that lead, new ones, the most frequent.

    `chosen`: parameters of the metric `signatures`.
    """
    reset_page_number("signature_page", chosen)
    text = st.query_params.get("signature_page")
    page = int(text) if text and text.isdecimal() and int(text) > 0 else 1
    found = store_queries.ask("signatures", **chosen, limit=PER_PAGE, offset=PER_PAGE * (page - 1))
    if found.empty and page > 1:
        found = store_queries.ask("signatures", **chosen, limit=PER_PAGE, offset=0)
    return found.to_dict("records")


def show(known: KnownErrors, chosen: Mapping[str, Any]) -> None:
    """Draw the list of error signatures, those with a chosen status."""
    status = choose_status(known)
    chosen = {**chosen, **known.narrow(status)}
    rows = read(chosen)
    total = rows[0]["found"] if rows else 0
    every = store_queries.ask_later("signatures", **chosen, limit=cards.MOST_ROWS, offset=0)
    wrong = sum(
        row["calls"]
        for row in store_queries.ask("fault_layers", **chosen).to_dict("records")
        if row["layer"] not in ("none", "unknown")
    )
    with cards.draw_card(
        "Signatures of errors",
        "signatures",
        beside=lambda: _draw_export("errors", chosen, wrong) if rows else None,
        take=cards.Download("signatures", lambda: every().drop(columns=["days", "found"]), "all rows"),
        height=400,
    ):
        if not rows:
            none = (
                "No call of this selection went wrong" if status == "all" else "No error has this status here"
            )
            st.caption(f"{none}.")
            return
        days = rows[0]["days"] or []
        drawn = f" Bars: the {len(days)} newest days with calls." if days else ""
        st.caption(
            f"{wording.plural(total, 'signature')}: what the logs or our parser say, without what differs "
            f"each time.{drawn}"
        )
        # A head that sorts one page of several would tell a wrong worst.
        built = [_build_row(row, ordered=total <= PER_PAGE) for row in rows]
        heads = list(_HEADS)
        if known.states:
            heads.insert(1, _STATUS)
            told = (status_cell(known, row["signature_id"]) for row in rows)
            built = [[cells[0], cell, *cells[1:]] for cells, cell in zip(built, told, strict=True)]
        draw_table("signatures", "Signatures of errors", heads, built, shown=_SHOWN)
        draw_pager("signature_page", -(-total // PER_PAGE))


def _draw_export(key: str, chosen: Mapping[str, Any], found: int, signature: str | None = None) -> None:
    """Draw the export of the calls that went wrong, or of those with one signature."""
    wanted = {**chosen, "fault": "any", "signature": signature}
    read = partial(read_page, store_queries.keep_asking(), CALLS, wanted)

    def listed_ids() -> list[str]:
        ids: list[str] = read(testsets.MOST).rows.call_id.tolist()
        return ids

    draw_testset_export(key, listed_ids, found, is_for_trials=True)


_HEADS = (
    Column("Signature", "file", width="34%"),
    Column("Layer", "tight"),
    Column("Calls", "number"),
    Column("Sessions", "number", "A session counts once for each day, model, prompt and tool"),
    Column("By day", "tight"),
    Column("First and last seen", "tight", "First: over the whole store, whatever the filters say"),
    Column("Tools", "short"),
    Column("Models", "short"),
    Column("Newest", "tight"),
)


_STATUS = Column("Status", "tight", "What the team noted; open a signature to change it")


def _build_row(row: Row, *, ordered: bool) -> list[Cell]:
    cells = [
        Cell(
            wording.one_line(row["text"] or "–", 120),
            href=filters.page_link("errors", {}, {"signature": row["signature_id"]}),
            sub="new since the day before" if row["new"] else None,
            order=row["text"],
        ),
        Cell(_layer_words(row["fault_layer"]), tone="warn" if row["new"] else None),
        Cell(f"{row['calls']:,}", href=_calls_link(row["signature_id"]), order=row["calls"]),
        Cell(f"{row['sessions']:,}", order=row["sessions"]),
        Cell(
            "",
            bars=bar_shares(row["by_day"] or ()),
            title=(told := _describe_bars(row["days"] or (), row["by_day"] or ())),
            values={"": (told or "").replace("\n", "; ")},
        ),
        Cell(
            _format_day(row["first_day"]),
            sub=_format_day(row["last_day"]) if row["last_day"] != row["first_day"] else None,
            order=_format_day(row["first_day"]),
        ),
        _names_cell(row["tools"]),
        _names_cell(row["models"]),
        _example_cell(row["example"]),
    ]
    return cells if ordered else [replace(cell, order=None) for cell in cells]


def bar_shares(counts: Sequence[int]) -> tuple[float, ...]:
    """Return each count divided by the largest count, or zeros when all counts are zero."""
    most = max(counts, default=0)
    return tuple(count / most if most else 0.0 for count in counts)


def _describe_bars(days: Sequence[str], counts: Sequence[int]) -> str | None:
    """Return the days with calls and their counts, one day a line, as hover text; None without calls."""
    return "\n".join(f"{day}: {count:,}" for day, count in zip(days, counts, strict=False) if count) or None


def _layer_words(layer: str | None) -> str:
    return LAYERS[layer][0] if layer in LAYERS else layer or "–"


def _format_day(day: Any) -> str:
    return f"{day}" if day else "no date"


def _names_cell(names: Sequence[str]) -> Cell:
    first, *others = [wording.one_line(name, 40) for name in names[:_NAMED]] or ["–"]
    more = f" + {len(names) - _NAMED:,}" if len(names) > _NAMED else ""
    told = "\n".join(wording.one_line(name, 80) for name in names[:40])
    below = f"{', '.join(others)}{more}" or None
    return Cell(first, sub=below, title=told, order=len(names), values={"": ", ".join(names)})


def _example_cell(call: str) -> Cell:
    return Cell("open", href=filters.page_link("calls", {}, {"call": call}), values={"call_id": call})


def _calls_link(signature: str) -> str:
    return filters.page_link("calls", {}, {"signature": signature})


def show_one(signature: str) -> None:
    """Draw one signature: its whole text, its first and last day, and the tools and models that have it."""
    draw_link("all_errors", "← All errors", filters.page_link("errors", {}, {}))
    st.title("Error signature", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rows = store_queries.ask("signatures", signature=signature, **chosen, limit=1, offset=0).to_dict(
        "records"
    )
    if not rows:
        cards.show_no_matches("calls of this signature")
        return
    row = rows[0]
    with cards.draw_card(
        f"{_layer_words(row['fault_layer'])} · {wording.plural(row['calls'], 'call')}",
        "signatures",
        beside=lambda: _draw_export("signature", chosen, row["calls"], signature),
    ):
        st.code(wording.visible(row["text"] or "–"), language=None, wrap_lines=True)
        first, last = _format_day(row["first_day"]), _format_day(row["last_day"])
        seen = f"First seen {first}, last {last} in this selection."
        new = " New: never seen before the newest day." if row["new"] else ""
        st.caption(f"{seen}{new} Its id stays the same from load to load: {signature[:12]}")
        draw_status(signature)
        draw_notes("signature", signature)
        with st.container(horizontal=True, gap="medium"):
            st.page_link(
                page_file("calls"),
                label=wording.link_label(f"See {wording.plural(row['calls'], 'call')}"),
                query_params={"signature": signature},
                width="content",
            )
            st.page_link(
                page_file("calls"),
                label=wording.link_label("Open the newest"),
                query_params={"call": row["example"]},
                width="content",
            )
    _draw_where(signature, chosen)


def _draw_where(signature: str, chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "Where it occurs",
        "signature_use",
        take=cards.Download(
            "signature", store_queries.ask_later("signature_use", signature=signature, **chosen)
        ),
    ):
        rows = store_queries.ask("signature_use", signature=signature, **chosen).to_dict("records")
        heads = [
            Column("Tool", "name"), Column("Model", "name"), Column("Calls", "number"),
            Column("Sessions", "number"),
            Column("First seen", "tight"), Column("Last seen", "tight"), Column("Newest", "tight"),
        ]  # fmt: skip
        draw_table(
            "signature_use",
            "Where the signature occurs",
            heads,
            [_build_use_row(signature, row) for row in rows],
        )


def _build_use_row(signature: str, row: Row) -> list[Cell]:
    tool, model = wording.one_line(row["tool"], 60), wording.one_line(row["model"], 60)
    narrowed = {"tool": row["tool"], "model": row["model"]}
    return [
        Cell(tool, href=filters.page_link("tools", {}, {"tool_open": row["tool"]}), order=tool),
        Cell(model, order=model),
        Cell(
            f"{row['calls']:,}",
            href=filters.page_link("calls", narrowed, {"signature": signature}),
            order=row["calls"],
        ),
        Cell(f"{row['sessions']:,}", order=row["sessions"]),
        Cell(_format_day(row["first_day"]), order=_format_day(row["first_day"])),
        Cell(_format_day(row["last_day"]), order=_format_day(row["last_day"])),
        _example_cell(row["example"]),
    ]
