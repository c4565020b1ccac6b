"""Paging of a list: the page number in the URL, the rows of that page, and the widget to turn pages."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import ENOUGH, DayList, ListPage, read_page
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget, reset_page_number
from callgauge.dashboard.url_keys import write_to_url

Row = Mapping[Hashable, Any]
PER_PAGE = 25


def read_page_of(metric: str, key: str, per_page: int = PER_PAGE, **asked: Any) -> tuple[list[Row], int]:
    """Return the rows of the page that the URL names as `key`, and the number of pages.

    `asked`: the parameters of the metric. The first page when the URL names none or an empty page.
    """
    given = {"sources": filters.chosen_filters().sources, **asked}
    reset_page_number(key, given)
    rows = store_queries.ask(metric, **given, limit=per_page, offset=per_page * (_page_number(key) - 1))
    if rows.empty:
        rows = store_queries.ask(metric, **given, limit=per_page, offset=0)
    found = int(rows.found.iloc[0]) if len(rows) else 0
    return list(rows.to_dict("records")), -(-found // per_page)


def _page_number(key: str) -> int:
    text = st.query_params.get(key)
    return int(text) if text and text.isdecimal() and int(text) > 0 else 1


def read_newest(one: DayList, key: str, given: Mapping[str, Any]) -> tuple[ListPage, int]:
    """Return the page of a list paged by day that the URL names as `key`, and the number of pages."""
    reset_page_number(key, given)
    asked_for = read_page(
        store_queries.keep_asking(), one, given, one.per_page, one.per_page * (_page_number(key) - 1)
    )
    if asked_for.rows.empty and _page_number(key) > 1:
        write_to_url(key, None)
        asked_for = read_page(store_queries.keep_asking(), one, given, one.per_page)
    return asked_for, -(-asked_for.found // one.per_page)


@dataclass(frozen=True, slots=True)
class ListStep:
    """A row before or after another one, and the number of the page that it is on."""

    row: Row
    page: int


def find_steps(
    one: DayList,
    key: str,
    given: Mapping[str, Any],
    listed: tuple[ListPage, int],
    is_chosen: Callable[[Row], bool],
) -> tuple[ListStep | None, ListStep | None]:
    """Return the rows before and after the chosen one, also across pages; None where the list ends.

    `key`, `given`, `listed`: as `read_newest` takes and gives them. Where no row of the page is chosen, the
    first one comes next.
    """
    found, pages = listed
    rows = found.rows.to_dict("records")
    number = _page_number(key)
    at = next((place for place, row in enumerate(rows) if is_chosen(row)), None)
    if at is None:
        return None, ListStep(rows[0], number) if rows else None

    def read_row(page: int, place: int) -> ListStep | None:
        offset = one.per_page * (page - 1) + place
        beyond = read_page(store_queries.keep_asking(), one, given, 1, offset).rows.to_dict("records")
        return ListStep(beyond[0], page) if beyond else None

    before = ListStep(rows[at - 1], number) if at else None
    if at == 0 and number > 1:
        before = read_row(number - 1, one.per_page - 1)
    after = ListStep(rows[at + 1], number) if at + 1 < len(rows) else None
    if after is None and number < pages:
        after = read_row(number + 1, 0)
    return before, after


def draw_steps(before: str | None, after: str | None) -> None:
    """Draw links to the item before and after, which the keys k and j press too; pale without a link."""
    draw_link("step_previous", "↑ Previous", before)
    draw_link("step_next", "↓ Next", after)


def describe_count(found: ListPage, noun: str) -> str:
    """Return the number of rows found with the noun, and the words or more for a lower bound."""
    return wording.plural(found.found, noun) + ("" if found.is_complete else " or more")


def show_nothing_found(found: ListPage, noun: str, nothing: Callable[[], object], *, among: str = "") -> None:
    """Draw the message of an empty page.

    `nothing` draws the message when all days were searched. Otherwise the message says that none was found so
    far, with an offer to search further. `among`: words before the noun.
    """
    if found.is_complete:
        nothing()
        return
    st.caption(f"No {among}{noun} was found so far.")
    offer_further_days(found, noun)


def offer_further_days(found: ListPage, noun: str) -> None:
    """Draw how far back days were searched, and offer to search further; nothing when all days were."""
    if found.is_complete:
        return
    if found.is_sorted:
        st.caption(f"Sorted: the {noun}s since {found.since}. Choose other days or filters to sort others.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        looked = f"Looked through the days back to {found.since}, the newest first."
        if found.found >= ENOUGH:
            st.caption(f"{looked} Choose earlier days or other filters to see older ones.", width="content")
        else:
            st.caption(looked, width="content")
            # What was looked at is remembered: another run goes on behind it.
            st.button(wording.link_label(f"Look for older {noun}s"), key=f"older_{noun}s", type="tertiary")


def draw_pager(key: str, pages: int) -> None:
    if pages > 1:
        draw_url_widget(
            lambda name: st.pagination(pages, default=st.session_state[name], key=name),
            key,
            1,
            lambda text: min(pages, max(1, int(text))),
        )
