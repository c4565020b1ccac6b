"""All calls that match, newest first, in pages; or, with `?call=` in the URL, one of them in full."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from dashboard import answers, filters, testsets, wording
from dashboard.export import csv
from dashboard.newest import CALLS, Page, page
from dashboard.pages import call_view
from dashboard.widgets import cards
from dashboard.widgets.findings import OUTCOME_TONES
from dashboard.widgets.list_filters import pick, search_box
from dashboard.widgets.paging import counted, look_further, newest, nothing_found, pager
from dashboard.widgets.session_links import session_link
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.testset_export import testset_export
from dashboard.widgets.urlstate import put

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
_KEPT = (*filters.OWN, "page")  # what leads back to this list from one of its calls


def show() -> None:
    call_id = st.query_params.get("call")
    if call_id is not None:
        call_view.show(call_id, _kept())
        return
    st.title("Calls", anchor=False)
    chosen = filters.chosen().parameters() | _own_filters()
    _list(chosen)


def _kept() -> dict[str, str]:
    return {name: text for name in _KEPT if (text := st.query_params.get(name))}


def _own_filters() -> dict[str, Any]:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="callfilters"
    ):
        picked = {
            name: pick(label, name, options, width=_WIDTH)
            for name, label, options in (
                ("outcome", "Outcome", OUTCOMES),
                ("fault", "Fault layer", FAULTS),
                ("turns", "Turns", TURNS),
                ("code", "Finding", _codes()),
            )
        }
        search = search_box("Search the raw arguments", "q", "Search raw arguments", width=210)
    signature = st.query_params.get("signature")
    if signature:
        _of_signature(signature)
    return picked | {"search": search, "signature": signature}


def _of_signature(signature: str) -> None:
    """The list is of one error signature: a link from the page Errors set it; say so and let it go."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(
            "dashboard/pages/errors.py",
            label=wording.door(f"Calls of the error signature {wording.in_markdown(signature, 20)}"),
            query_params={"signature": signature},
            width="content",
        )
        st.button("All calls", on_click=put, args=("signature", None), key="no_signature", type="tertiary")


def _codes() -> dict[str, str]:
    codes = answers.ask("findings").code.tolist()
    return {"": "All findings"} | {code: code for code in codes}


def _list(chosen: Mapping[str, Any]) -> None:
    slot = st.container()
    found, pages = newest(CALLS, "page", chosen)
    if found.rows.empty:
        nothing_found(found, "call", lambda: cards.nothing_matches("calls"))
        return
    with (
        slot,
        cards.card(counted(found, "call"), "calls", beside=lambda: _take_away(chosen, found), height=600),
    ):
        records = found.rows.to_dict("records")
        sheet("calls_list", "Calls, newest first", _COLUMNS, [_row(row) for row in records])
        look_further(found, "call")
        pager("page", pages)


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


def _row(row: Mapping[Hashable, Any]) -> list[Cell]:
    ts = row["ts"]
    prompt = row["prompt_id"]
    return [
        Cell(
            f"{ts:%Y-%m-%d %H:%M:%S}" if ts else "no time",
            href=filters.link("calls", {}, _kept() | {"call": row["call_id"]}),
        ),
        Cell(row["outcome"] or "–", tone=OUTCOME_TONES.get(row["outcome"])),
        Cell((row["fault_layer"] or "–").replace("_", " "), tone="warn" if row["fault_layer"] else None),
        Cell(
            f"turn {row['turn']}",
            sub=f"step {row['step']}" if row["step"] is not None else None,
            href=session_link(row["session_id"], call=row["call_id"]) if row["session_id"] else None,
            title=wording.visible(row["session_id"] or "unknown session"),
        ),
        _named(row["model"]),
        _named(filters.label("prompt", prompt) if prompt else None),
        _named(row["tool"]),
        Cell(wording.result_status(row["result_status"])),
        Cell(row["finding"] or "–", mono=row["finding"] is not None),
        Cell(str(row["attempt"]) if row["attempt"] else "", title=row["retry_kind"]),
        Cell(wording.one_line(row["preview"], 160), mono=True),
    ]


def _named(name: str | None) -> Cell:
    shown = wording.one_line(name or "unknown", 120)
    return Cell(shown, title=shown)


def _take_away(chosen: Mapping[str, Any], found: Page) -> None:
    ask = answers.asker()
    capped = f" (first {EXPORTED:,})" if found.found > EXPORTED or not found.whole else ""
    st.download_button(
        f"CSV{capped}",
        lambda: csv(page(ask, CALLS, chosen, EXPORTED).rows.drop(columns="found")),
        "calls.csv",
        "text/csv",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key="export",
    )

    def ids() -> list[str]:
        found_ids: list[str] = page(ask, CALLS, chosen, testsets.MOST).rows.call_id.tolist()
        return found_ids

    testset_export("calls", ids, found.found)


show()
