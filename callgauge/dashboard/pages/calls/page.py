"""The page Calls: a list of matching calls, and one call next to the list.

With `?call=` in the URL, the page shows one call in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from callgauge.analysis import testsets
from callgauge.analysis.day_paging import CALLS, ListPage, read_page
from callgauge.analysis.verdicts.calls import describe_failures, describe_matches
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import (
    ListStep,
    Row,
    draw_pager,
    find_steps,
    offer_further_days,
    read_newest,
    show_nothing_found,
)
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.pages.calls import one_call
from callgauge.dashboard.pages.calls.call_filters import draw_filters, is_narrowed, kept_keys, read_filters
from callgauge.dashboard.pages.calls.call_rows import draw_rows
from callgauge.dashboard.pages.calls.peek import draw_peek
from callgauge.dashboard.shown_page import record_answer

_ORDERED = {
    "time": "time",
    "tool": "tool",
    "outcome": "outcome",
    "fault": "failure stage",
    "result": "result",
    "took": "the tool's time",
    "model": "model",
    "attempt": "attempt",
}


def show() -> None:
    call_id, peeked = st.query_params.get("call"), st.query_params.get("peek")
    if call_id is not None:
        steps = _find_call_steps(call_id) if peeked else None
        back = kept_keys() | ({"peek": call_id} if peeked else {})
        one_call.show(call_id, filters.page_link("calls", {}, back), steps)
        return
    st.title("Calls", anchor=False)
    slot = st.container(key="verdict")
    draw_filters()
    chosen = read_filters()
    listing, pages = read_newest(CALLS, "page", chosen)
    if listing.rows.empty:
        show_nothing_found(listing, "call", lambda: cards.show_no_matches("calls"))
        return
    record_answer(answer := _describe_calls(chosen, listing))
    slot.header(answer, anchor=False)
    if peeked is None:
        _draw_list(chosen, listing, pages, None)
        return
    with st.container(key="list_and_peek"):
        left, right = st.columns((11, 8), gap="small")
        with left:
            _draw_list(chosen, listing, pages, peeked)
        with right, st.container(border=True, key="peek_view", gap="small"):
            before, after = find_steps(CALLS, "page", chosen, (listing, pages), _is_call(peeked))
            draw_peek(peeked, kept_keys("peek"), _step_link(before), _step_link(after))


def _is_call(call_id: str) -> Callable[[Row], bool]:
    return lambda row: row["call_id"] == call_id


def _step_link(step: ListStep | None, *, in_full: bool = False) -> str | None:
    if step is None:
        return None
    call_id = step.row["call_id"]
    page = {"page": str(step.page)} if step.page > 1 else {}
    full = {"call": call_id} if in_full else {}
    return filters.page_link("calls", {}, kept_keys("page", "peek") | page | {"peek": call_id} | full)


def _find_call_steps(call_id: str) -> tuple[str | None, str | None]:
    """Return links to the previous and the next call of the list."""
    chosen = read_filters()
    listed = read_newest(CALLS, "page", chosen)
    before, after = find_steps(CALLS, "page", chosen, listed, _is_call(call_id))
    return _step_link(before, in_full=True), _step_link(after, in_full=True)


def _describe_calls(chosen: Mapping[str, Any], listing: ListPage) -> str:
    layers = store_queries.ask("fault_layers", **filters.chosen_filters().parameters())
    total = int(layers.total.iloc[0])
    if not is_narrowed():
        return describe_failures(layers.to_dict("records"))
    failed = None
    if listing.is_complete and not chosen.get("fault"):
        failures = read_page(store_queries.keep_asking(), CALLS, {**chosen, "fault": "any"}, 1)
        failed = failures.found if failures.is_complete else None
    count = f"{listing.found:,}" + ("" if listing.is_complete else " or more")
    return describe_matches(count, total, failed)


def _draw_list(chosen: Mapping[str, Any], listing: ListPage, pages: int, peeked: str | None) -> None:
    order = chosen.get("order")
    title = f"Sorted by {_ORDERED[order]}" if order else "Newest first"
    read = partial(read_page, store_queries.keep_asking(), CALLS, chosen)

    def listed_ids() -> list[str]:
        ids: list[str] = read(testsets.MOST).rows.call_id.tolist()
        return ids

    with cards.draw_card(
        title,
        "calls",
        beside=lambda: draw_testset_export("calls", listed_ids, listing.found),
        take=cards.Download("calls", lambda: read(cards.MOST_ROWS).rows.drop(columns="found"), "all rows"),
        height=600,
    ):
        draw_rows(listing.rows.to_dict("records"), peeked, is_narrow=peeked is not None)
        offer_further_days(listing, "call")
        draw_pager("page", pages)


show()
