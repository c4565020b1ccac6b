"""Links to another view of the same page.

A click on a link adds one entry to the browser's history and keeps the Streamlit session.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import streamlit as st

from callgauge.analysis.texts.url_texts import LinkError, pack_text
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.component_files import beside_folder, read_source

_HTML = "<div class='page-link'>\n</div>"


def draw_link(
    key: str, label: str, href: str | None, *, arrives: bool = False, appears: bool = False
) -> None:
    """Draw a link to a relative URL, or a pale label if there is no URL.

    With `arrives`, the page scrolls to the link after the URL has changed. With `appears`, the page scrolls
    to the link only when the link is drawn for the first time and is in the lower half of the window or
    outside.
    """
    draw = st.components.v2.component(
        "page_link",
        html=_HTML,
        css=read_source(__file__, "page_links.css"),
        js=read_source(beside_folder(__file__), "drawing.js") + read_source(__file__, "page_links.js"),
        # The script of the keyboard shortcuts must find the link, which an isolated component would hide.
        isolate_styles=False,
    )
    draw(
        key=key, data={"label": label, "href": href, "arrives": arrives, "appears": appears}, width="content"
    )


def session_link(session: str, *, file: int | None = None, **place: str | int | None) -> str:
    """Return a relative URL that opens a session.

    Pass the id of the `file` when several sources contain this session id. The page then shows the turn, step
    or call in `place`.
    """
    named = {"session": session, "file": file, **place}
    return filters.page_link(
        "sessions", {}, {name: str(value) for name, value in named.items() if value not in (None, "")}
    )


def call_link(call: str) -> str:
    return filters.page_link("calls", {}, {"call": call})


def draw_replay_link(tool: str, definition: str = "", query: Mapping[str, str] | None = None) -> None:
    """Draw a link that parses a tool's stored calls again.

    Draw nothing when the store has no call of the tool. The linked page uses `definition`. If `definition` is
    too long for a link, the page uses the newest stored definition. `query` holds further URL keys.
    """
    if not store_queries.is_open():
        return
    if tool not in filters.read_labels().get("tool", {}):
        return
    own = {**(query or {}), "tab": "stored", "replay_tool": tool}
    with suppress(LinkError):
        own |= {"definition": pack_text(definition)} if definition.strip() else {}
    label = "Try on stored calls" if "definition" in own else "Try another definition"
    draw_link("replay_link", label, filters.page_link("playground", {}, own))
