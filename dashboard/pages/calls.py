"""All calls that match, newest first, in pages; or, with `?call=` in the URL, one of them in full."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from dashboard import filters, wording
from dashboard.export import csv
from dashboard.pages import answers, call_view, cards
from dashboard.pages.findings import OUTCOME_TONES
from dashboard.pages.sheet import Cell, Column, sheet
from dashboard.pages.urlstate import url_widget

PER_PAGE = 50
EXPORTED = 10_000

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
_OWN = ("outcome", "fault", "turns", "code", "q", "page")


def show() -> None:
    call_id = st.query_params.get("call")
    if call_id is not None:
        back = {name: text for name in _OWN if (text := st.query_params.get(name))}
        call_view.show(call_id, back)
        return
    st.title("Calls", anchor=False)
    chosen = filters.chosen().parameters() | _own_filters()
    _list(chosen)


def _own_filters() -> dict[str, Any]:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="callfilters"
    ):
        picked = {
            "outcome": _pick("Outcome", "outcome", OUTCOMES),
            "fault": _pick("Fault layer", "fault", FAULTS),
            "turns": _pick("Turns", "turns", TURNS),
            "code": _pick("Finding", "code", _codes()),
        }
        search = url_widget(
            lambda key: st.text_input(
                "Search the raw arguments",
                key=key,
                type="search",
                live=True,
                placeholder="Search raw arguments",
                label_visibility="collapsed",
                width=210,
            ),
            "q",
            "",
            str,
        )
    return picked | {"search": search or None}


def _codes() -> dict[str, str]:
    codes = answers.ask("findings").code.tolist()
    return {"": "All findings"} | {code: code for code in codes}


def _pick(label: str, key: str, options: Mapping[str, str]) -> str | None:
    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    chosen = url_widget(
        lambda name: st.selectbox(
            label,
            list(options),
            format_func=lambda option: options[option],
            key=name,
            label_visibility="collapsed",
            width=196,
        ),
        key,
        "",
        parse,
    )
    return chosen or None


def _list(chosen: Mapping[str, Any]) -> None:
    slot = st.container()
    page = max(1, _number(st.query_params.get("page")))
    rows = answers.ask("calls", **chosen, limit=PER_PAGE, offset=PER_PAGE * (page - 1))
    if rows.empty and page > 1:
        st.query_params.pop("page", None)
        rows = answers.ask("calls", **chosen, limit=PER_PAGE, offset=0)
    if rows.empty:
        _nothing()
        return
    found = int(rows.found.iloc[0])
    with (
        slot,
        cards.card(wording.plural(found, "call"), "calls", beside=lambda: _export(chosen, found), height=600),
    ):
        sheet("calls_list", "Calls, newest first", _COLUMNS, [_row(row) for row in rows.to_dict("records")])
        pages = -(-found // PER_PAGE)
        if pages > 1:
            url_widget(
                lambda key: st.pagination(pages, key=key),
                "page",
                1,
                lambda text: min(pages, max(1, int(text))),
            )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 1


def _nothing() -> None:
    own = ["search" if name == "q" else name for name in _OWN if st.query_params.get(name)]
    if own:
        with st.container(border=True):
            st.header("No calls here", anchor=False)
            st.caption(f"Widen or clear: {', '.join(filters.chosen().active() + own)}.")
            st.button("Clear this page's filters", on_click=_clear_own, key="clear_own")
    else:
        cards.nothing_matches("calls")


def _clear_own() -> None:
    for name in _OWN:
        st.query_params.pop(name, None)


_COLUMNS = (
    Column("Time (UTC)", "tight"),
    Column("Model", "short"),
    Column("Tool", "short"),
    Column("Outcome", "tight"),
    Column("Fault layer", "tight"),
    Column("Worst finding", "tight"),
    Column("Attempt", "number", "1 = first of a chain of attempts; empty = in no chain"),
    Column("Raw arguments", "clip"),
)


def _row(row: Mapping[Hashable, Any]) -> list[Cell]:
    own = {name: text for name in _OWN if (text := st.query_params.get(name))}
    ts = row["ts"]
    return [
        Cell(
            f"{ts:%Y-%m-%d %H:%M:%S}" if ts else "no time",
            href=filters.link("calls", {}, own | {"call": row["call_id"]}),
        ),
        _named(row["model"]),
        _named(row["tool"]),
        Cell(row["outcome"] or "–", tone=OUTCOME_TONES.get(row["outcome"])),
        Cell((row["fault_layer"] or "–").replace("_", " "), tone="warn" if row["fault_layer"] else None),
        Cell(row["finding"] or "–", mono=row["finding"] is not None),
        Cell(str(row["attempt"]) if row["attempt"] else "", title=row["retry_kind"]),
        Cell(wording.one_line(row["preview"], 160), mono=True),
    ]


def _named(name: str | None) -> Cell:
    shown = wording.one_line(name or "unknown", 120)
    return Cell(shown, title=shown)


def _export(chosen: Mapping[str, Any], found: int) -> None:
    capped = f" (first {EXPORTED:,})" if found > EXPORTED else ""
    rows = answers.later("calls", **chosen, limit=EXPORTED, offset=0)
    st.download_button(
        f"CSV{capped}",
        lambda: csv(rows().drop(columns="found")),
        "calls.csv",
        "text/csv",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key="export",
    )


show()
