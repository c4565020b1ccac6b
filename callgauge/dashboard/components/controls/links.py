"""Links to another view of the same page: `st.page_link` does nothing there but load the page again.

Each adds one entry to the browser's history and keeps the session.
"""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from callgauge.analysis.texts.url_texts import LinkError, pack_text
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.component_files import beside_folder, read_source
from callgauge.dashboard.page_files import page_file

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


def session_link(session: str, *, file: int | None = None, **place: str | int | None) -> str:
    """Return a relative URL that opens a session.

    `file`: the id of the file, for a session id that several sources share. `place`: the turn, step or call
    to show.
    """
    named = {"session": session, "file": file, **place}
    return filters.page_link(
        "sessions", {}, {name: str(value) for name, value in named.items() if value not in (None, "")}
    )


def call_link(call: str) -> str:
    return filters.page_link("calls", {}, {"call": call})


def draw_replay_link(tool: str, definition: str = "") -> None:
    """Draw a link that replays a tool's calls; nothing when the store has no call of the tool.

    `definition`: the definition to replay the calls under. A definition that is too long for a link is left
    out: Replay then starts from the newest definition in the store.
    """
    if not store_queries.is_open():
        return
    choices = store_queries.ask("choices")
    if tool not in choices[choices.dimension == "tool"].value.tolist():
        return
    given = {"replay_tool": tool}
    with suppress(LinkError):
        given |= {"definition": pack_text(definition)} if definition.strip() else {}
    label = "Replay its calls under this definition" if "definition" in given else "Replay its calls"
    st.page_link(
        page_file("replay"),
        label=label,
        icon=":material/history:",
        query_params=given,
        width="content",
    )
