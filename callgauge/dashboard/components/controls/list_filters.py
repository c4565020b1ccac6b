"""Filters above a list, kept in the URL: a selector of one value, and a search box."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from callgauge.dashboard.components.controls.url_widgets import draw_url_widget


def draw_pick(label: str, key: str, options: Mapping[str, str], *, width: int) -> str | None:
    """Draw a selector and return the chosen value; None for the empty value.

    `options`: the words for each value; `key`: the URL key; `label`: for screen readers.
    """

    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    chosen = draw_url_widget(
        lambda name: st.selectbox(
            label,
            list(options),
            format_func=lambda option: options[option],
            key=name,
            label_visibility="collapsed",
            width=width,
        ),
        key,
        "",
        parse,
    )
    return chosen or None


def draw_search_box(label: str, key: str, placeholder: str, *, width: int) -> str | None:
    """Draw a search box and return its text; None when empty. `label`: for screen readers."""
    searched = draw_url_widget(
        lambda name: st.text_input(
            label,
            key=name,
            type="search",
            live=True,
            placeholder=placeholder,
            label_visibility="collapsed",
            width=width,
        ),
        key,
        "",
        str,
    )
    return searched or None
