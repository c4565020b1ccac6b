"""Draws the time line of a session: turns, steps, calls, threads of retries.

Text in the data is drawn as plain text, never as HTML; the caller must make invisible characters visible.
keys.js presses the jump links on the keys n, p, j and k, wherever the focus is on the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.dashboard import components
from callgauge.dashboard.components.controls.component_files import read_source


def draw_timeline(key: str, data: Mapping[str, Any]) -> None:
    """Draw the time line. `data` has the format that the head of timeline.js describes."""
    draw = st.components.v2.component(
        "timeline",
        html="<div class='timeline'>\n</div>",
        css=read_source(__file__, "timeline.css"),
        js=read_source(components.__file__, "drawing.js") + read_source(__file__, "timeline.js"),
    )
    draw(key=key, data=data)
