"""Draws a chart only when it scrolls into view, because the chart's script is slow to load."""

from __future__ import annotations

from typing import Any

import streamlit as st

from callgauge.dashboard import shown_page
from callgauge.dashboard.components.controls.component_files import read_source
from callgauge.dashboard.plain_charts import read_figure

# Session key: True once the browser has loaded the chart script.
CHARTS_LOADED = "_charts_loaded"
_HTML = "<div class='place' role='status'>The chart is drawn as you scroll to it.</div>"


@st.fragment
def draw_chart(figure: dict[str, Any], *, key: str, alt: str, config: dict[str, Any]) -> None:
    """Draw a Plotly figure, or a placeholder until the figure scrolls into view."""
    shown_page.record_part(key, lambda: [read_figure(figure, alt)])
    if CHARTS_LOADED in st.session_state:
        st.plotly_chart(figure, config=config, key=key, alt=alt)
        return
    height = int(figure["layout"]["height"])
    draw = st.components.v2.component(
        "chart_place",
        html=_HTML,
        css=read_source(__file__, "chart_place.css"),
        js=read_source(__file__, "chart_place.js"),
    )
    draw(key=f"{key}_place", data={"height": height}, on_seen_change=_note_seen)


def _note_seen() -> None:
    st.session_state[CHARTS_LOADED] = True
