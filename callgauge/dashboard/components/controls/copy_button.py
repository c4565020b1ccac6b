"""Draws a button that copies a text or the URL of a page. The button also works on pages without HTTPS."""

from __future__ import annotations

import streamlit as st

from callgauge.dashboard.components.controls.component_files import read_source

_HTML = "<div class='copy'><button type='button'></button>\n<span role='status'></span></div>"


def copy_text(key: str, label: str, text: str) -> None:
    _draw(key, label, text, None)


def copy_link(key: str, label: str, path: str) -> None:
    """Draw a button that copies the full URL of a page.

    `path` is relative to the current page, as `filters.page_link` returns it. The browser adds the sort order
    of tables.
    """
    _draw(key, label, "", path)


def _draw(key: str, label: str, text: str, path: str | None) -> None:
    draw = st.components.v2.component(
        "copy_button",
        html=_HTML,
        css=read_source(__file__, "copy_button.css"),
        js=read_source(__file__, "copy_button.js"),
    )
    draw(key=key, data={"label": label, "text": text, "path": path}, width="content")
