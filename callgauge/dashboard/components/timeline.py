"""Draws the time line of a session: turns, steps, calls, threads of retries.

Text in the data is drawn as text, whatever it holds; what is invisible in it must have been made visible
before. The keys n, p, j, k work while the focus is inside: as WCAG 2.1.4 wants it of keys without Ctrl.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.dashboard.components.controls.component_files import read_source


def draw_timeline(key: str, data: Mapping[str, Any]) -> None:
    """Draw the time line. `data`: what timeline.js says at its head."""
    draw = st.components.v2.component(
        "timeline",
        html="<div class='timeline'>\n</div>",
        css=read_source(__file__, "timeline.css"),
        js=read_source(__file__, "drawing.js", "timeline.js"),
    )
    draw(key=key, data=data)
