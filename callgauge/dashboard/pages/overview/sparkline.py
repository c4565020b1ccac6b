"""Draws a small line chart without axes.

`st.metric` would load Vega, which is slow.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.dashboard.components.controls.component_files import read_source

_HEIGHT = 44  # height in pixels, as in sparkline.css


def draw_sparkline(key: str, values: Sequence[float], words: str) -> None:
    """Draw two or more values as a line. `words` describes the line for screen readers."""
    draw = st.components.v2.component(
        "sparkline",
        html="<div class='spark'></div>",
        css=read_source(__file__, "sparkline.css"),
        js=read_source(__file__, "sparkline.js"),
    )
    draw(key=key, data={"values": list(values), "words": words}, height=_HEIGHT)
