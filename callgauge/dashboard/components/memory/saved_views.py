"""Saved views: the list that a person sees, and the dialog that saves the current URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    author_name,
    draw_author_field,
    read_records,
    take_author,
)
from callgauge.dashboard.viewer import current_viewer
from callgauge.memory.views import SavedView, save_view
from callgauge.serving.moved_pages import find_page

_NAMED = 2  # maximum number of chosen values in the suggested name


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A saved view as the navigation and the palette show it.

    `page` is the page with its icon. `href` is the URL of the view.
    """

    title: str
    about: str
    page: str
    href: str


def list_views(titles: Mapping[str, str]) -> list[ViewLink]:
    """Return the saved views that this person sees, their own views first.

    Views of unknown pages are skipped.
    """
    return [
        ViewLink(
            wording.one_line(view.name, 60),
            _describe(view, titles[page]),
            page,
            view_link(view),
        )
        for view in visible_views(read_records().views)
        if (page := find_page(view.page, ())[0]) in titles
    ]


def visible_views(views: Sequence[SavedView]) -> list[SavedView]:
    """Return the saved views that this person sees: their own views first, then shared views.

    Without sign-in all views are visible.
    """
    me, is_signed_in = author_name(), bool(current_viewer().name)
    visible = [view for view in views if view.shared or view.owner == me or not is_signed_in]
    return sorted(visible, key=lambda view: view.owner != me)


def _describe(view: SavedView, page: str) -> str:
    whose = view.owner and view.owner != author_name()
    by = f" · {wording.one_line(view.owner, 40)}" if whose else ""
    return f"{page}{by}"


def view_link(view: SavedView) -> str:
    """Return the relative URL of a view.

    The stored query is encoded again, so that the URL cannot lead to another site.
    """
    page, query = find_page(view.page, parse_qsl(view.query, keep_blank_values=True))
    return f"{page}?{urlencode(query)}" if query else page


def read_query() -> str:
    """Return the query string of the current URL."""
    pairs = [(key, value) for key in st.query_params for value in st.query_params.get_all(key)]
    return urlencode(pairs)


@st.dialog("Save this view")
def ask_view_name(page: str, title: str, query: str) -> None:
    """Ask for a name and save the current URL under this name."""
    with st.form("save_view", border=False):
        st.caption("Saves the page with its filters. A range such as 7 days moves with time.")
        name = st.text_input("Name", suggest_name(title), key="view_name", max_chars=200)
        shared = st.checkbox("For the whole team", value=True, key="view_shared")
        draw_author_field("view_by")
        is_sent = st.form_submit_button("Save view", type="primary")
    if is_sent:
        owner = take_author("view_by")
        if any((view.owner, view.name) == (owner, name.strip()) for view in read_records().views):
            st.error("You have a view with this name. Choose another name.")
            return
        apply_change(lambda file: save_view(file, name, page, query, owner=owner, shared=shared))


def suggest_name(title: str) -> str:
    """Return a suggested name for the current view, made of the page and the first chosen values."""
    values = [
        filters.short_label(name, value)
        for name, several in filters.chosen_filters().by_dimension().items()
        for value in several
    ]
    days = st.query_params.get(filters.DAYS)
    return " · ".join([title, *values[:_NAMED], *([days] if days else [])])
