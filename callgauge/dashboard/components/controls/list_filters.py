"""Filters and the sort order of a list, kept in the URL: selectors for one value, and a search box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from callgauge.dashboard.components.controls.url_widgets import draw_url_widget

TURNS: Mapping[str, str] = {
    "": "All turns",
    "succeeded": "Successful turns",
    "not_succeeded": "Unsuccessful turns",
    "recorded_ok": "Reported as successful",
    "recorded_not_ok": "Reported as unsuccessful",
    "derived_ok": "Derived as successful",
    "derived_not_ok": "Derived as unsuccessful",
    "disagree": "Log and derivation disagree",
    "not_ok": "Unsuccessful, reported or derived",
    "retried": "Turns with a retry",
}
"""The values of the filter by turn for the metrics `calls` and `sessions`, each with its label."""
CHAINS: Mapping[str, str] = {
    "": "All retry sequences",
    "any": "In a retry sequence",
    "recovered": "Recovered",
    "abandoned": "Given up",
    "open": "End not known",
    "none": "In no retry sequence",
}
ATTEMPTS: Mapping[str, str] = {
    "": "All attempts",
    "first": "First attempts",
    "retry": "Retries",
    "identical": "Identical retries",
    "changed": "Changed retries",
    "unknown": "Retries, one text missing",
}


@contextmanager
def fold_filters(*keys: str) -> Iterator[None]:
    """Put the selectors that the `with` body draws behind a button, which shows how many are set."""
    count = sum(bool(st.query_params.get(key)) for key in keys)
    label = f"Filter this list: {count} set" if count else "Filter this list"
    with st.popover(label, icon=":material/filter_list:", key="list_filters", width="content"):
        yield


def draw_pick(label: str, key: str, options: Mapping[str, str], *, width: int) -> str | None:
    """Draw a selector and return the chosen value. Return None when nothing is chosen."""

    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    chosen = draw_url_widget(
        lambda name: st.selectbox(
            label,
            list(options),
            index=list(options).index(st.session_state[name]),
            format_func=lambda option: options[option],
            key=name,
            width=width,
        ),
        key,
        "",
        parse,
    )
    return chosen or None


def read_pick(key: str, options: Mapping[str, str]) -> str | None:
    """Return the value that the URL sets for a selector, or None when the URL sets no value."""
    text = st.query_params.get(key)
    return text if text and text in options else None


def read_order(orders: Iterable[str]) -> dict[str, Any]:
    """Return the parameters `order` and `reversed` of a list metric.

    The URL key `order` contains a column, such as `tool`. For the reversed order the key contains `-tool`.
    """
    text = st.query_params.get("order") or ""
    order = text.removeprefix("-")
    return {"order": order, "reversed": text != order or None} if order in orders else {}


def draw_search_box(label: str, key: str, placeholder: str, *, width: int) -> str | None:
    """Draw a search box and return its text.

    Return None when the box is empty. `label` is for screen readers.
    """
    searched = draw_url_widget(
        lambda name: st.text_input(
            label,
            st.session_state[name],
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
