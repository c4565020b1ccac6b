"""One definition in, what its lint says of it and the same tool as each provider takes it out."""

from __future__ import annotations

import json

import streamlit as st

from dashboard import wording
from dashboard.advice import Advice, NotReadableError, advice
from dashboard.pages.playground_read import tools_of
from dashboard.playground import EXPORTS, exported
from dashboard.widgets import cards
from dashboard.widgets.advice_table import advice_table
from dashboard.widgets.copy_button import copy_text
from dashboard.widgets.rate_choice import segments

_SHOWN = 20_000  # characters of an export


def show(definition: str, which: int) -> None:
    with cards.card("What the definition could say better", caption="Read by the lint (callgauge lint)."):
        found = _advice(definition, which)
        if isinstance(found, str):
            st.caption(f"The lint cannot read this definition: {wording.in_markdown(found, 300)}")
        else:
            advice_table("playground_advice", found, calls=False)
    with cards.card("The same tool in other shapes"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            shape = segments("Shape", "shape", EXPORTS)
            text = _exported(definition, which, shape)
            copy_text("copy_export", "Copy", text)
        st.code(wording.visible(text[:_SHOWN]), language=None, wrap_lines=True, height=320)
        if len(text) > _SHOWN:
            st.caption(f"The first {_SHOWN:,} of {len(text):,} characters are shown; all of them are copied.")


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _advice(definition: str, which: int) -> list[Advice] | str:
    """The findings, or why there are none to be had."""
    tool = tools_of(definition).tools[which]
    try:
        return advice(tool.name, tool.description, json.dumps(tool.to_json_schema()), ())
    except NotReadableError as refused:
        return str(refused)


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _exported(definition: str, which: int, shape: str) -> str:
    return exported(tools_of(definition).tools[which], shape)
