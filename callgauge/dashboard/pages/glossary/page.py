"""The page Glossary: the words of all pages, by subject."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_TEXT = Path(__file__).with_name("glossary.md")


def show() -> None:
    title, _, rest = _TEXT.read_text(encoding="utf-8").partition("\n")
    st.title(title.removeprefix("# "), anchor=False)
    with st.container(key="glossary"):
        st.markdown(rest)


show()
