"""Links to another view of the same page: `st.page_link` does nothing there but load the page again.

Each adds one entry to the browser's history and keeps the session.
"""

from __future__ import annotations

import streamlit as st

from callgauge.dashboard.components.controls.component_files import beside_folder, read_source

_HTML = "<div class='page-link'>\n</div>"


def draw_link(key: str, label: str, href: str | None, *, arrives: bool = False) -> None:
    """Draw a link to a relative URL, as `filters.page_link` returns it; without a URL the label, pale.

    `arrives`: the page is scrolled to the link where it is out of sight, each time its URL is another.
    """
    draw = st.components.v2.component(
        "page_link",
        html=_HTML,
        css=read_source(__file__, "page_links.css"),
        js=read_source(beside_folder(__file__), "drawing.js") + read_source(__file__, "page_links.js"),
        isolate_styles=False,  # so that a key can find and press the link
    )
    draw(key=key, data={"label": label, "href": href, "arrives": arrives}, width="content")
