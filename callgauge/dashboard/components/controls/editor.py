"""A text editor that sends the typed text to the server while a person types.

Streamlit's own text area sends the text only when the area loses the focus.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from callgauge.dashboard.components.controls.component_files import read_source

# The HTML contains label and height from the start, because setting them later would move the page below.
_HTML = """<label for='text'>{label}</label>
<textarea id='text' spellcheck='false' autocomplete='off' style='height: {height}px'></textarea>"""
_LABEL = 22  # pixels
# Longest text that is sent, in UTF-16 units: enough for a million characters of any kind.
_LONGEST = 2_000_002


def editor(
    key: str,
    label: str,
    text: str,
    *,
    height: int,
    version: int = 0,
    placeholder: str = "",
    on_run: Callable[[str], None] | None = None,
) -> str:
    """Draw the editor and return its current text.

    The editor starts with `text`. A new `version` resets the editor to `text`. Ctrl+Enter calls `on_run` with
    the current text before the page is drawn.
    """
    draw = st.components.v2.component(
        f"editor_{key}_{height}",
        html=_HTML.format(label=escape(label), height=height),
        css=read_source(__file__, "editor.css"),
        js=read_source(__file__, "editor.js"),
    )
    draw(
        key=key,
        height=height + _LABEL,  # height until the script runs; then a person can resize the editor
        data={
            "label": label,
            "text": text,
            "height": height,
            "version": version,
            "placeholder": placeholder,
            "longest": _LONGEST,
            "runs": on_run is not None,
        },
        default={"edit": None},
        on_edit_change=lambda: None,
        on_run_change=lambda: on_run(str(st.session_state[key].run)) if on_run else None,
    )
    return edited_text(key, text, version)


def edited_text(key: str, text: str, version: int) -> str:
    """Return the text of the editor `key`, or `text` when nobody has typed since the last reset."""
    edited = st.session_state[key].edit
    if not edited or edited["version"] != version:
        return text
    return str(edited["text"])
