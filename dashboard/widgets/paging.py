"""Lists in pages of their own: which one the URL names, its rows, the widget to turn it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.newest import ENOUGH, List, Page, page
from dashboard.widgets.urlstate import begin_again, url_widget

Row = Mapping[Hashable, Any]
PER_PAGE = 25


def paged(metric: str, key: str, per_page: int = PER_PAGE, **asked: Any) -> tuple[list[Row], int]:
    """The rows of the page that the URL names as `key`, and how many pages there are."""
    given = {"sources": filters.chosen().sources, **asked}
    begin_again(key, given)
    rows = answers.ask(metric, **given, limit=per_page, offset=per_page * (_number(key) - 1))
    if rows.empty:
        rows = answers.ask(metric, **given, limit=per_page, offset=0)
    found = int(rows.found.iloc[0]) if len(rows) else 0
    return list(rows.to_dict("records")), -(-found // per_page)


def _number(key: str) -> int:
    text = st.query_params.get(key)
    return int(text) if text and text.isdecimal() and int(text) > 0 else 1


def newest(one: List, key: str, given: Mapping[str, Any]) -> tuple[Page, int]:
    """Of a list that may be very long: the page that the URL names as `key`, and how many pages there are."""
    begin_again(key, given)
    asked_for = page(answers.asker(), one, given, one.per_page, one.per_page * (_number(key) - 1))
    if asked_for.rows.empty and _number(key) > 1:
        st.query_params.pop(key, None)
        asked_for = page(answers.asker(), one, given, one.per_page)
    return asked_for, -(-asked_for.found // one.per_page)


def counted(found: Page, noun: str) -> str:
    """How many there are, in words; or that there are so many at least."""
    return wording.plural(found.found, noun) + ("" if found.whole else " or more")


def nothing_found(found: Page, noun: str, nothing: Callable[[], object], *, among: str = "") -> None:
    """An empty page: `nothing` says so where all days were looked at; else none was found so far.

    `among`: words before the noun.
    """
    if found.whole:
        nothing()
        return
    st.caption(f"No {among}{noun} was found so far.")
    look_further(found, noun)


def look_further(found: Page, noun: str) -> None:
    """Where not all days were looked at: say back to which one, and offer to go on."""
    if found.whole:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        looked = f"Looked through the days back to {found.since}, the newest first."
        if found.found >= ENOUGH:
            st.caption(f"{looked} Choose earlier days or other filters to see older ones.", width="content")
        else:
            st.caption(looked, width="content")
            # What was looked at is remembered: another run goes on behind it.
            st.button(wording.door(f"Look for older {noun}s"), key=f"older_{noun}s", type="tertiary")


def pager(key: str, pages: int) -> None:
    if pages > 1:
        url_widget(
            lambda name: st.pagination(pages, key=name), key, 1, lambda text: min(pages, max(1, int(text)))
        )
