"""The page Glossary: the terms of all pages, by subject."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from callgauge.dashboard.components.controls.url_widgets import draw_tabs

_TEXT = Path(__file__).with_name("glossary.md")


def show() -> None:
    head, *subjects = _TEXT.read_text(encoding="utf-8").split("\n## ")
    title, _, words = head.partition("\n")
    st.title(title.removeprefix("# "), anchor=False)
    st.caption(words)
    titles = {_name(text): text.partition("\n")[0] for text in subjects}
    tables = {_name(text): text.partition("\n")[2] for text in subjects}
    with draw_tabs("about", titles) as subject, st.container(key="glossary"):
        st.markdown(tables[subject])


def _name(text: str) -> str:
    return re.sub(r"\W+", "-", text.partition("\n")[0].lower())


show()
