"""A text or the path of a page in, a button that copies it out; works without https, too."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_FOLDER = Path(__file__).parent
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
        css=(_FOLDER / "copy_button.css").read_text(encoding="utf-8"),
        js=(_FOLDER / "copy_button.js").read_text(encoding="utf-8"),
    )
    draw(key=key, data={"label": label, "text": text, "path": path}, width="content")
