"""A text in, the text as it is being edited out; Streamlit's own text area reports only when left."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_FOLDER = Path(__file__).parent
_HTML = "<label for='text'></label>\n<textarea id='text' spellcheck='false' autocomplete='off'></textarea>"


def editor(key: str, label: str, text: str, *, height: int) -> str:
    """What the editor holds; it begins with `text`. Another `key` is another editor. `height`: pixels."""
    draw = st.components.v2.component(
        "editor",
        html=_HTML,
        css=(_FOLDER / "editor.css").read_text(encoding="utf-8"),
        js=(_FOLDER / "editor.js").read_text(encoding="utf-8"),
    )
    edited = draw(
        key=key,
        data={"label": label, "text": text, "height": height},
        default={"text": text},
        on_text_change=lambda: None,
    )
    return str(edited.text)
