"""Draws lint findings about a tool definition, and the definition in the format of each provider."""

from __future__ import annotations

import json

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.advice import Advice, NotReadableError, find_advice
from callgauge.dashboard.components.advice_table import draw_advice_table
from callgauge.dashboard.components.controls.copy_button import copy_text
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.pages.playground.link_texts import EXPORTS, export_tool
from callgauge.dashboard.pages.playground.parsing import parse_tools_cached

_SHOWN = 20_000


def show(definition: str, which: int) -> None:
    """Draw two expanders: lint findings, and the definition in the format of each provider."""
    advice_list = _find_advice(definition, which)
    number = "" if isinstance(advice_list, str) else f" ({len(advice_list)})"
    if advice := draw_fold(f"Definition lint{number}", "advice"):
        with advice:
            st.caption("Advice of `callgauge lint`.")
            if isinstance(advice_list, str):
                st.caption(f"The lint cannot read this definition: {wording.in_markdown(advice_list, 300)}")
            else:
                draw_advice_table("playground_advice", advice_list, calls=False)
    shapes = draw_fold("Other provider formats", "shapes")
    if shapes is None:
        return
    with shapes:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            shape = choose_segment("Format", "shape", EXPORTS)
            text = _export(definition, which, shape)
            copy_text("copy_export", "Copy", text)
        if shape != "Markdown" and _has_defaults(definition, which):
            st.caption(
                "Declared defaults are left out: the parser applies them, the model does not see them."
            )
        st.code(wording.visible(text[:_SHOWN]), language=None, wrap_lines=True, height=320)
        if len(text) > _SHOWN:
            st.caption(f"The first {_SHOWN:,} of {len(text):,} characters are shown. Copy takes all of them.")


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _find_advice(definition: str, which: int) -> list[Advice] | str:
    """Return the lint findings for the tool with this index, or a sentence on why it cannot be checked."""
    tool = parse_tools_cached(definition).tools[which]
    try:
        return find_advice(tool.name, tool.description, json.dumps(tool.to_json_schema()), ())
    except NotReadableError as refused:
        return str(refused)


def _has_defaults(definition: str, which: int) -> bool:
    tool = parse_tools_cached(definition).tools[which]
    return tool.to_anthropic() != tool.to_anthropic(defaults=True)


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _export(definition: str, which: int, shape: str) -> str:
    return export_tool(parse_tools_cached(definition).tools[which], shape)
