"""The list of pages in the sidebar.

Streamlit's own list is no valid list for a screen reader (axe: list, listitem), and its links lose the
filters when they are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import streamlit as st

from callgauge.dashboard.components.controls.component_files import beside_folder, read_source


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


def draw_navigation(pages: Sequence[PageLink]) -> None:
    """Draw the pages in sections; those of one section must stand beside each other."""
    sections = [
        {"title": title, "pages": [asdict(page) for page in several]}
        for title, several in groupby(pages, lambda page: page.section)
    ]
    draw = st.components.v2.component(
        "navigation",
        html="<nav class='pages-list' aria-label='Pages'></nav>",
        css=read_source(__file__, "navigation.css"),
        isolate_styles=False,
        js=read_source(beside_folder(__file__), "drawing.js")
        + read_source(__file__, "icons.js", "navigation.js"),
    )
    draw(key="navigation", data={"sections": sections})
