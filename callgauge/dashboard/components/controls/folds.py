"""Folds and popovers whose content is asked for and drawn only while they are open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

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


@st.fragment
def draw_popover(label: str, key: str, draw: Callable[[], None]) -> None:
    """Draw a popover; `draw` draws its content once it is opened, without a run of the page.

    A page has a dozen of them, and the content of all would be most of what the browser has to draw. In a row
    of other things it needs a container as wide as its content.
    """
    popover = st.popover(label, type="tertiary", width="content", key=key, on_change="rerun")
    if is_open(popover):
        with popover:
            draw()


def is_open(popover: PopoverContainer) -> bool:
    return bool(popover.open)
