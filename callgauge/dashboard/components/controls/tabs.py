"""Tabs of which the open one is kept in the URL; the closed ones are not drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from callgauge.dashboard.components.controls.url_widgets import draw_url_widget


@contextmanager
def draw_tabs(key: str, tabs: Mapping[str, str]) -> Iterator[str]:
    """Draw tabs; the body of the `with` statement draws the content of the open one, whose name it gets.

    `tabs`: the label of each tab by its name. The URL's `key` holds the name of the open tab unless it is the
    first. A name in the URL that is none of `tabs` counts as the first.
    """
    names, labels = list(tabs), list(tabs.values())
    drawn: Sequence[Any] = ()

    def draw(widget: str) -> str:
        nonlocal drawn
        drawn = st.tabs(labels, key=widget, on_change="rerun")
        return next((label for label, tab in zip(labels, drawn, strict=True) if tab.open), labels[0])

    def parse(name: str) -> str:
        if name not in tabs:
            raise ValueError(name)
        return tabs[name]

    label = draw_url_widget(draw, key, labels[0], parse, lambda text: names[labels.index(text)])
    place = labels.index(label)
    with drawn[place]:
        yield names[place]
