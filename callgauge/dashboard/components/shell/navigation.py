"""Draws the pages and saved views in the sidebar, the command palette, and keyboard shortcuts.

Streamlit's own page list is not used, because screen readers cannot read it and copied links would lose the
filters.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.component_files import beside_folder, read_source
from callgauge.dashboard.components.controls.links import call_link, session_link
from callgauge.dashboard.components.memory.saved_views import ViewLink

# Each entry has the dimension, the heading, the page, and the URL key that the page reads.
_KINDS = (
    ("model", "Models", "models", "model"),
    ("provider", "Hosts", "models", "provider"),
    ("prompt", "Prompts", "prompts", "prompt"),
    ("tool", "Tools", "tools", "tool_open"),
)
# Number of values of each kind that are sent. Further values are sent only if they contain the search text.
_MOST_VALUES = 200
_SHORTEST, _LONGEST = 3, 200  # shortest and longest search text for ids, in characters
_MOST_IDS = 6  # maximum number of sessions, and of calls, that a search shows
_ASKED = "_palette_asked"
_SAVING = "_palette_saving"
_KEY = "palette_find"
_HTML = "<div class='palette'></div>"
_FILES = ("icons.js", "keys.js", "tour.js", "palette.js")
_MOST_VIEWS = 6


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page for the navigation and the palette. `href` is a relative URL that keeps the filters.

    Typing g and then `key` opens the page. `about` says in a sentence what the page is for.
    """

    section: str
    name: str
    title: str
    about: str
    key: str
    href: str
    current: bool


def draw_navigation(pages: Sequence[PageLink], views: Sequence[ViewLink], all_views: str) -> None:
    """Draw the pages in sections, then the saved views. Pages of one section must be adjacent.

    If not all views fit, a line links to `all_views`.
    """
    sections = [
        {"title": title, "pages": [asdict(page) for page in several]}
        for title, several in groupby(pages, lambda page: page.section)
    ]
    if views:
        shown = [
            {"name": view.page, "title": view.title, "href": view.href, "current": False}
            for view in views[:_MOST_VIEWS]
        ]
        if len(views) > _MOST_VIEWS:
            more = f"All {len(views)} views"
            shown.append({"name": "decisions", "title": more, "href": all_views, "current": False})
        sections.append({"title": "Saved views", "pages": shown})
    draw = st.components.v2.component(
        "navigation",
        html="<nav class='pages-list' aria-label='Pages'></nav>",
        css=read_source(__file__, "navigation.css"),
        isolate_styles=False,
        js=read_source(beside_folder(__file__), "drawing.js")
        + read_source(__file__, "icons.js", "navigation.js"),
    )
    draw(key="navigation", data={"sections": sections})


def draw_palette(pages: Sequence[PageLink], views: Sequence[ViewLink], *, may_save: bool, tour: bool) -> None:
    """Draw the button of the palette and install the keyboard shortcuts.

    With `may_save` the palette offers to save the view. With `tour` a new visitor sees the tour.
    """
    with st.container(key="palette"):
        _draw(pages, views, may_save, tour)


def take_save_wish() -> bool:
    """Return True once after a person has chosen to save the view."""
    return bool(st.session_state.pop(_SAVING, False))


@st.fragment
def _draw(pages: Sequence[PageLink], views: Sequence[ViewLink], may_save: bool, tour: bool) -> None:
    # The values are sent only when somebody opens the palette, not with every page.
    search = st.session_state.pop(_ASKED, None)
    is_asked = search is not None and store_queries.is_open()
    draw = st.components.v2.component(
        "palette",
        html=_HTML,
        css=read_source(__file__, "buttons.css", "palette.css"),
        js=read_source(beside_folder(__file__), "drawing.js") + read_source(__file__, *_FILES),
    )
    draw(
        key=_KEY,
        data={
            "pages": [asdict(page) for page in pages],
            "kept": filters.page_link("", {}, {}).removeprefix("?"),
            "values": list_values(search) if is_asked else None,
            "found": {"text": search, "rows": find_ids(search)} if is_asked else None,
            "tour": tour,
            "views": [asdict(view) for view in views],
            "may_save": may_save,
        },
        on_ask_change=_note_asked,
        on_save_change=_note_save,
    )
    if st.session_state.get(_SAVING):
        st.rerun()  # run the whole page: a dialog inside this fragment would close on the fragment's next run


def _note_asked() -> None:
    event = st.session_state.get(_KEY)
    if event is not None:
        st.session_state[_ASKED] = str(event.ask or "").strip()[:_LONGEST]


def _note_save() -> None:
    st.session_state[_SAVING] = True


def list_values(text: str) -> list[dict[str, Any]]:
    """Return the most used models, hosts, prompts and tools, each with its label and its value in the URL.

    If there are too many values to send, values that contain `text` come first.
    """
    choices = store_queries.ask("choices")
    kinds = []
    for dimension, title, page, key in _KINDS:
        rows = choices[choices.dimension == dimension]
        if dimension == "provider" and not filters.has_several_hosts():
            continue
        if len(rows) > _MOST_VALUES:
            holds = rows.label.str.lower().str.contains(text.lower(), regex=False)
            rows = rows.assign(holds=holds).sort_values("holds", ascending=False, kind="stable")
        rows = rows.head(_MOST_VALUES)
        pairs = [_name_value(dimension, key, *pair) for pair in zip(rows.label, rows.value, strict=True)]
        kinds.append({"title": title, "page": page, "key": key, "values": pairs})
    codes = [(code, code) for code in store_queries.ask("findings").code.astype(str)]
    kinds.append(
        {"title": "Diagnostic codes", "page": "calls", "key": "code", "values": codes[:_MOST_VALUES]}
    )
    return kinds


def _name_value(dimension: str, key: str, label: str, value: str) -> tuple[str, str]:
    # A filter key in the URL contains the label; a page's own key contains the value.
    in_url = filters.value_label(dimension, value) if key == dimension else value
    return wording.one_line(label, 120), in_url


def find_ids(text: str) -> list[dict[str, Any]]:
    """Return the sessions and calls whose id contains a text, with links.

    Returns nothing when the text is too short.
    """
    if len(text) < _SHORTEST:
        return []
    rows = store_queries.ask("id_find", text=text, limit=_MOST_IDS).to_dict("records")
    return [
        {
            "group": "Sessions" if row["kind"] == "session" else "Calls",
            "icon": "sessions" if row["kind"] == "session" else "calls",
            "title": wording.one_line(row["shown"], 80),
            "mono": True,
            "about": wording.one_line(row["about"] or "", 80),
            "href": _link(row),
        }
        for row in rows
    ]


def _link(row: dict[Hashable, Any]) -> str:
    if row["kind"] == "call":
        return call_link(row["id"])
    return session_link(row["id"], file=None if pd.isna(row["file_id"]) else int(row["file_id"]))
