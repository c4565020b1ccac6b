"""Widgets whose values are kept in the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from callgauge.dashboard.shown_page import record_setting
from callgauge.dashboard.url_keys import require_declared, write_to_url

Value = TypeVar("Value")


def draw_url_widget(
    draw: Callable[[str], Value],
    key: str,
    empty: Value,
    parse: Callable[[str], Value],
    write: Callable[[Value], str] = str,
    describe: Callable[[Value], tuple[str, str]] | None = None,
) -> Value:
    """Draw a widget whose value is kept in the URL as `key`, and return the value.

    `draw` gets the widget's key and returns the value. `draw` must pass `st.session_state[key]` as the
    widget's default. `parse` turns the URL's text into a value. If `parse` raises ValueError, the value is
    `empty`. `write` turns a value into the URL's text. The URL omits `key` while the value is `empty`, except
    if a link set the key. `describe` returns the name and the value of the choice in words, for shared
    documents.
    """
    require_declared(key)
    seen_key = f"_url_{key}"
    text = st.query_params.get(key)
    if key not in st.session_state or text != st.session_state.get(seen_key):
        st.session_state[key] = _parse_or_empty(text, parse, empty)
    value = draw(key)
    written = None if value == empty or value is None else write(value)
    if value and text == write(value) and _parse_or_empty(text, parse, empty) == value:
        written = text
    record_setting(key, write(value) if value else written, *(describe(value) if describe else ()))
    st.session_state[seen_key] = written
    if written != text:
        write_to_url(key, written)  # this comes last, because a newer click may end the run here
    return value


def write_changed(key: str, empty: str) -> None:
    """Write a newly chosen widget value into the URL. Pass this function as the widget's `on_change`."""
    value = st.session_state[key]
    written = None if value in (empty, None) else str(value)
    st.session_state[f"_url_{key}"] = written
    write_to_url(key, written)


def _parse_or_empty(text: str | None, parse: Callable[[str], Value], empty: Value) -> Value:
    try:
        return empty if text is None else parse(text)
    except ValueError:
        return empty


def reset_page_number(key: str, parameters: Mapping[str, Any]) -> None:
    """Remove the page number `key` from the URL when `parameters` have changed since the last script run."""
    require_declared(key)
    remembered = f"_asked_{key}"
    before, page = st.session_state.get(remembered), st.query_params.get(key)
    # Going Back restores a page number together with the filters, so keep that page number.
    if before is not None and before[0] != parameters and before[1] == page:
        write_to_url(key, None)
    st.session_state[remembered] = (dict(parameters), st.query_params.get(key))


@contextmanager
def draw_tabs(key: str, tabs: Mapping[str, str]) -> Iterator[str]:
    """Draw tabs and give the name of the open tab to the `with` body, which draws the tab's content.

    `tabs` maps names to labels. The URL's `key` contains the name of the open tab. If the key contains no
    known name, the first tab is open.
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


def draw_fold(label: str, key: str, *, opens: bool = False) -> Any | None:
    """Draw an expander, and return the container for its content.

    Return None while the expander is closed. With `opens`, the expander is open at first. After a person has
    opened or closed it, the URL's `key` is 1 or 0.
    """
    at_first = f"_at_first_{key}"
    if key not in st.query_params and st.session_state.get(at_first, opens) != opens:
        del st.session_state[key]
    st.session_state[at_first] = opens
    drawn: list[Any] = []

    def draw(name: str) -> bool:
        fold = st.expander(label, key=name, on_change="rerun")
        drawn.append(fold)
        return bool(fold.open)

    is_open = draw_url_widget(draw, key, opens, lambda text: text == "1", lambda value: str(int(value)))
    return drawn[0] if is_open else None


@st.fragment
def draw_popover(label: str, key: str, draw: Callable[[], None], icon: str | None = None) -> None:
    """Draw a popover. `draw` draws the content when a person opens the popover."""
    popover = st.popover(label, type="tertiary", icon=icon, width="content", key=key, on_change="rerun")
    if is_open(popover):
        with popover:
            draw()


def is_open(popover: PopoverContainer) -> bool:
    return bool(popover.open)
