"""The list of pages and of saved views in the sidebar.

Streamlit's own list is no valid list for a screen reader (axe: list, listitem), and its links lose the
filters when they are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import streamlit as st

from callgauge.dashboard.components.controls.component_files import beside_folder, read_source
from callgauge.dashboard.components.memory.saved_views import ViewLink

_MOST_VIEWS = 6


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page as the navigation and the palette offer it.

    `href`: a relative URL that keeps the filters. `key`: the letter that opens it after g. `about`: what it
    shows, a sentence.
    """

    section: str
    name: str
    title: str
    about: str
    key: str
    href: str
    current: bool


def draw_navigation(pages: Sequence[PageLink], views: Sequence[ViewLink], all_views: str) -> None:
    """Draw the pages in sections, then the saved views; pages of one section must stand beside each other.

    `all_views`: the relative URL of the list of all views, to which a line leads where there are more.
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
            shown.append({"name": "memory", "title": more, "href": all_views, "current": False})
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
