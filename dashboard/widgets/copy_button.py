"""A text or the path of a page in, a button that copies it out; works without https, too."""

from __future__ import annotations

import streamlit as st

from dashboard.widgets.component_files import source

_HTML = "<div class='copy'><button type='button'></button>\n<span role='status'></span></div>"


def copy_text(key: str, label: str, text: str) -> None:
    _draw(key, label, text, None)


def copy_link(key: str, label: str, path: str) -> None:
    """Copies the whole address of a page; `path` is relative to this one, as `filters.link` gives it."""
    _draw(key, label, "", path)


def _draw(key: str, label: str, text: str, path: str | None) -> None:
    draw = st.components.v2.component(
        "copy_button",
        html=_HTML,
        css=source("copy_button.css"),
        js=source("copy_button.js"),
    )
    draw(key=key, data={"label": label, "text": text, "path": path}, width="content")
