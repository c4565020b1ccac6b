"""Draws the timeline of a session: turns, steps, calls, and lines that connect retries.

All data is drawn as plain text, never as HTML. The caller must make invisible characters visible. The keys n,
p, j and k follow the jump links.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.dashboard import components
from callgauge.dashboard.components.controls.component_files import read_source


def draw_timeline(key: str, data: Mapping[str, Any]) -> None:
    """Draw the timeline. The format of `data` is described at the top of timeline.js."""
    draw = st.components.v2.component(
        "timeline",
        html="<div class='timeline'>\n</div>",
        css=read_source(__file__, "timeline.css"),
        js=read_source(components.__file__, "drawing.js") + read_source(__file__, "timeline.js"),
    )
    draw(key=key, data=data)
