"""The page Calls: matching calls, newest first, in pages; with `?call=` in the URL, one call in full."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, testsets, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.list_filters import draw_pick, draw_search_box
from callgauge.dashboard.components.controls.paging import (
    describe_count,
    draw_pager,
    offer_further_days,
    read_newest,
    show_nothing_found,
)
from callgauge.dashboard.components.controls.session_links import session_link
from callgauge.dashboard.components.controls.url_widgets import write_to_url
from callgauge.dashboard.components.finding_list import OUTCOME_TONES
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.day_paging import CALLS, ListPage, read_page
from callgauge.dashboard.export import to_csv
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.calls import URL_KEYS, one_call

EXPORTED = 10_000
_WIDTH = 196  # pixels of a filter

OUTCOMES = {
    "": "All outcomes",
    "clean": "Clean",
    "mended": "Mended",
    "coerced": "Coerced",
    "repaired": "Repaired",
    "failed": "Failed",
    "unmeasured": "Unmeasured",
}
FAULTS = {
    "": "All fault layers",
    "any": "Any fault",
    "none": "No fault seen",
    "unknown": "Cannot tell",
    "arguments": "Parse errors",
    "emission": "Emission",
    "syntax": "Syntax",
    "schema": "Schema",
    "tool_rejected": "Tool rejected",
    "execution": "Execution",
    "refused": "Refused",
}
TURNS = {
    "": "All turns",
    "retried": "Turns with a retry",
    "not_ok": "Turns not ok",
    "disagree": "Log and conclusion disagree",
}


def show() -> None:
    call_id = st.query_params.get("call")
    if call_id is not None:
        one_call.show(call_id, _kept_keys())
        return
    st.title("Calls", anchor=False)
    chosen = filters.chosen_filters().parameters() | _own_filters()
    _draw_list(chosen)


def _kept_keys() -> dict[str, str]:
    return {name: text for name in URL_KEYS.dropped if (text := st.query_params.get(name))}


def _own_filters() -> dict[str, Any]:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="callfilters"
    ):
        picked = {
            name: draw_pick(label, name, options, width=_WIDTH)
            for name, label, options in (
                ("outcome", "Outcome", OUTCOMES),
                ("fault", "Fault layer", FAULTS),
                ("turns", "Turns", TURNS),
                ("code", "Finding", _code_options()),
            )
        }
        search = draw_search_box("Search the raw arguments", "q", "Search raw arguments", width=210)
    signature = st.query_params.get("signature")
    if signature:
        _draw_signature_filter(signature)
    return picked | {"search": search, "signature": signature}


def _draw_signature_filter(signature: str) -> None:
    """Draw the error signature that narrows the list of calls, and a button that removes this filter."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(
            page_file("errors"),
            label=wording.link_label(f"Calls of the error signature {wording.in_markdown(signature, 20)}"),
            query_params={"signature": signature},
            width="content",
        )
        st.button(
            "All calls", on_click=write_to_url, args=("signature", None), key="no_signature", type="tertiary"
        )


def _code_options() -> dict[str, str]:
    codes = store_queries.ask("findings").code.tolist()
    return {"": "All findings"} | {code: code for code in codes}


def _draw_list(chosen: Mapping[str, Any]) -> None:
    slot = st.container()
    found, pages = read_newest(CALLS, "page", chosen)
    if found.rows.empty:
        show_nothing_found(found, "call", lambda: cards.show_no_matches("calls"))
        return
    with (
        slot,
        cards.draw_card(
            describe_count(found, "call"), "calls", beside=lambda: _draw_export(chosen, found), height=600
        ),
    ):
        records = found.rows.to_dict("records")
        draw_table("calls_list", "Calls, newest first", _COLUMNS, [_build_row(row) for row in records])
        offer_further_days(found, "call")
        draw_pager("page", pages)


_COLUMNS = (
    Column("Time (UTC)", "tight"),
    Column("Outcome", "tight"),
    Column("Fault layer", "tight"),
    Column("Session", "tight", "Opens it at the call"),
    Column("Model", "short"),
    Column("Prompt", "short"),
    Column("Tool", "short"),
    Column("Result", "tight"),
    Column("Worst finding", "tight"),
    Column("Attempt", "number", "1 = first of a chain of attempts; empty = in no chain"),
    Column("Raw arguments", "clip"),
)


def _build_row(row: Mapping[Hashable, Any]) -> list[Cell]:
    ts = row["ts"]
    prompt = row["prompt_id"]
    return [
        Cell(
            f"{ts:%Y-%m-%d %H:%M:%S}" if ts else "no time",
            href=filters.page_link("calls", {}, _kept_keys() | {"call": row["call_id"]}),
        ),
        Cell(row["outcome"] or "–", tone=OUTCOME_TONES.get(row["outcome"])),
        Cell((row["fault_layer"] or "–").replace("_", " "), tone="warn" if row["fault_layer"] else None),
        Cell(
            f"turn {row['turn']}",
            sub=f"step {row['step']}" if row["step"] is not None else None,
            href=session_link(row["session_id"], call=row["call_id"]) if row["session_id"] else None,
            title=wording.visible(row["session_id"] or "unknown session"),
        ),
        _name_cell(row["model"]),
        _name_cell(filters.value_label("prompt", prompt) if prompt else None),
        _name_cell(row["tool"]),
        Cell(wording.result_status(row["result_status"])),
        Cell(row["finding"] or "–", mono=row["finding"] is not None),
        Cell(str(row["attempt"]) if row["attempt"] else "", title=row["retry_kind"]),
        Cell(wording.one_line(row["preview"], 160), mono=True),
    ]


def _name_cell(name: str | None) -> Cell:
    shown = wording.one_line(name or "unknown", 120)
    return Cell(shown, title=shown)


def _draw_export(chosen: Mapping[str, Any], found: ListPage) -> None:
    ask = store_queries.keep_asking()
    capped = f" (first {EXPORTED:,})" if found.found > EXPORTED or not found.is_complete else ""
    st.download_button(
        f"CSV{capped}",
        lambda: to_csv(read_page(ask, CALLS, chosen, EXPORTED).rows.drop(columns="found")),
        "calls.csv",
        "text/csv",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key="export",
    )

    def ids() -> list[str]:
        found_ids: list[str] = read_page(ask, CALLS, chosen, testsets.MOST).rows.call_id.tolist()
        return found_ids

    draw_testset_export("calls", ids, found.found)


show()
