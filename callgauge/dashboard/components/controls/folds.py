"""A fold whose content is asked for and drawn only while it is open; the URL tells whether it is."""

from __future__ import annotations

from typing import Any

import streamlit as st

from callgauge.dashboard.components.controls.url_widgets import draw_url_widget


def draw_fold(label: str, key: str) -> Any | None:
    """Draw a fold, and return the container for its content; None while it is closed.

    `key`: the URL key, which holds 1 while the fold is open.
    """
    drawn: list[Any] = []

    def draw(name: str) -> bool:
        fold = st.expander(label, key=name, on_change="rerun")
        drawn.append(fold)
        return bool(fold.open)

    is_open = draw_url_widget(draw, key, False, lambda text: text == "1", lambda _: "1")
    return drawn[0] if is_open else None
