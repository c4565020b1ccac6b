"""Splits a list into pages: the URL holds the page number, and a widget changes the page."""

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


def read_page_of(metric: str, key: str, per_page: int = PER_PAGE, **parameters: Any) -> tuple[list[Row], int]:
    """Return the rows of one page of a list, and the number of pages.

    The URL key `key` holds the page number. Without the key, the number is 1. A page that does not exist has
    no rows.
    """
    all_parameters = {"sources": filters.chosen_filters().sources, **parameters}
    reset_page_number(key, all_parameters)
    rows = store_queries.ask(
        metric, **all_parameters, limit=per_page, offset=per_page * (_page_number(key) - 1)
    )
    if rows.empty:
        rows = store_queries.ask(metric, **all_parameters, limit=per_page, offset=0)
    count = int(rows.found.iloc[0]) if len(rows) else 0
    return list(rows.to_dict("records")), -(-count // per_page)


def _page_number(key: str) -> int:
    text = st.query_params.get(key)
    return int(text) if text and text.isdecimal() and int(text) > 0 else 1


def read_newest(day_list: DayList, key: str, parameters: Mapping[str, Any]) -> tuple[ListPage, int]:
    """Return one page of a list, newest rows first, and the number of pages.

    The URL key `key` holds the page number.
    """
    reset_page_number(key, parameters)
    asked_for = read_page(
        store_queries.keep_asking(),
        day_list,
        parameters,
        day_list.per_page,
        day_list.per_page * (_page_number(key) - 1),
    )
    if asked_for.rows.empty and _page_number(key) > 1:
        write_to_url(key, None)
        asked_for = read_page(store_queries.keep_asking(), day_list, parameters, day_list.per_page)
    return asked_for, -(-asked_for.found // day_list.per_page)


@dataclass(frozen=True, slots=True)
class ListStep:
    """A neighbour of a row in a list, and the number of the page that contains the neighbour."""

    row: Row
    page: int


def find_steps(
    day_list: DayList,
    key: str,
    parameters: Mapping[str, Any],
    listed: tuple[ListPage, int],
    is_chosen: Callable[[Row], bool],
) -> tuple[ListStep | None, ListStep | None]:
    """Return the rows before and after the chosen row. These rows may be on other pages.

    The row before the first row is None, and so is the row after the last. If no row is chosen, the next row
    is the first row of the page.
    """
    listing, pages = listed
    rows = listing.rows.to_dict("records")
    number = _page_number(key)
    at = next((place for place, row in enumerate(rows) if is_chosen(row)), None)
    if at is None:
        return None, ListStep(rows[0], number) if rows else None

    def read_row(page: int, place: int) -> ListStep | None:
        offset = day_list.per_page * (page - 1) + place
        beyond = read_page(store_queries.keep_asking(), day_list, parameters, 1, offset).rows.to_dict(
            "records"
        )
        return ListStep(beyond[0], page) if beyond else None

    before = ListStep(rows[at - 1], number) if at else None
    if at == 0 and number > 1:
        before = read_row(number - 1, day_list.per_page - 1)
    after = ListStep(rows[at + 1], number) if at + 1 < len(rows) else None
    if after is None and number < pages:
        after = read_row(number + 1, 0)
    return before, after


def draw_steps(before: str | None, after: str | None) -> None:
    """Draw links to the previous and the next item, with the shortcuts k and j.

    A link without a target is pale.
    """
    draw_link("step_previous", "↑ Previous", before)
    draw_link("step_next", "↓ Next", after)


def describe_count(listing: ListPage, noun: str) -> str:
    """Return the number of rows with the noun. Add "or more" if some days have not been searched yet."""
    return wording.plural(listing.found, noun) + ("" if listing.is_complete else " or more")


def show_nothing_found(
    listing: ListPage, noun: str, nothing: Callable[[], object], *, among: str = ""
) -> None:
    """Draw the message of an empty page.

    If all days were searched, `nothing` draws the message. Otherwise the message offers to search older days.
    `among` stands before the noun in the message.
    """
    if listing.is_complete:
        nothing()
        return
    st.caption(f"No {among}{noun} was found so far.")
    offer_further_days(listing, noun)


def offer_further_days(listing: ListPage, noun: str) -> None:
    """Draw how far back the search went, and a button to search further.

    Draws nothing when all days were searched.
    """
    if listing.is_complete:
        return
    if listing.is_sorted:
        st.caption(f"Sorted: the {noun}s since {listing.since}. Choose other days or filters to sort others.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        looked = f"Looked through the days back to {listing.since}, the newest first."
        if listing.found >= ENOUGH:
            st.caption(f"{looked} Choose earlier days or other filters to see older ones.", width="content")
        else:
            st.caption(looked, width="content")
            # The days searched so far are cached, so the next run continues with older days.
            st.button(wording.link_label(f"Look for older {noun}s"), key=f"older_{noun}s", type="tertiary")


def draw_pager(key: str, pages: int) -> None:
    if pages > 1:
        draw_url_widget(
            lambda name: st.pagination(pages, default=st.session_state[name], key=name),
            key,
            1,
            lambda text: min(pages, max(1, int(text))),
        )
