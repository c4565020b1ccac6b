"""Widgets whose values are kept in the URL.

The values survive Back after the page was left, unlike those of Streamlit's `bind=`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from callgauge.dashboard.url_keys import require_declared, write_to_url

Value = TypeVar("Value")


def draw_url_widget(
    draw: Callable[[str], Value],
    key: str,
    empty: Value,
    parse: Callable[[str], Value],
    write: Callable[[Value], str] = str,
) -> Value:
    """Draw a widget whose value is kept in the URL as `key`, and return the value.

    `draw` gets the widget's key and returns the value. `parse` turns the URL's text into a value and raises
    ValueError for an invalid text, which counts as `empty`. `write` turns a value into text; the URL has no
    `key` while the value is `empty`.
    """
    require_declared(key)
    seen = f"_url_{key}"
    text = st.query_params.get(key)
    if key not in st.session_state or text != st.session_state.get(seen):
        st.session_state[key] = _parse_or_empty(text, parse, empty)
    value = draw(key)
    written = None if value == empty or value is None else write(value)
    st.session_state[seen] = written
    if written != text:
        write_to_url(key, written)  # last of all: a newer click may end the run here
    return value


def _parse_or_empty(text: str | None, parse: Callable[[str], Value], empty: Value) -> Value:
    try:
        return empty if text is None else parse(text)
    except ValueError:
        return empty


def reset_page_number(key: str, asked: Mapping[str, Any]) -> None:
    """Remove the page number `key` from the URL when the parameters `asked` differ from the last run's."""
    require_declared(key)
    remembered = f"_asked_{key}"
    before, page = st.session_state.get(remembered), st.query_params.get(key)
    # Back brings its own page number along with its filters: that one stays.
    if before is not None and before[0] != asked and before[1] == page:
        write_to_url(key, None)
    st.session_state[remembered] = (dict(asked), st.query_params.get(key))
