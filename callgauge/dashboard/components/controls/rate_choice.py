"""Selectors for a rate, a dimension and a reference slice. The URL keeps the chosen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import streamlit as st

from callgauge.analysis.measures.comparisons import SMALLEST, choose_reference
from callgauge.analysis.measures.rates import GROUPS, LEADING, LISTED, RATES, RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.sentences import format_size
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget, write_changed

DIMENSIONS: Mapping[str, str] = {
    "model": "Model",
    "provider": "Host",
    "prompt": "Prompt version",
    "prompt_name": "Prompt",
    "tool": "Tool",
    "mcp_server": "MCP server",
    "definition": "Tool definition",
    "strategy": "Strategy",
    "source": "Source",
    "harness_version": "Agent version",
    "day": "Day",
}
"""The dimensions by which the metric `slices` can group, each with its label."""
_SELECTORS = ("rate", "by", "of", "least", "smallest")
# Choices for the smallest difference of interest, in percentage points.
_POINTS = ("0.5", "1", "2", "5", "10")


def choose_rate(*, among: Sequence[str] = LISTED, words: str | None = None) -> RateDefinition:
    """Draw a selector and return the chosen rate.

    The URL's `rate` holds the name of the rate. `words` replaces the label above the selector.
    """
    leading = [name for name in reversed(LEADING) if name in among]
    others = [
        name for group in GROUPS for name in among if RATES[name].group == group and name not in leading
    ]
    name = choose_one("Rate", "rate", [*leading, *others], "parse_error", name_rate, width=260, words=words)
    return RATES[name]


def name_rate(name: str) -> str:
    """Return the title of a rate for a list of choices.

    Rates that are not leading rates get the name of their group.
    """
    return RATES[name].title if name in LEADING else f"{RATES[name].title} · {RATES[name].group}"


def choose_smallest() -> float:
    """Draw a selector and return the smallest difference of interest as a share (0.01 for one point).

    The URL's `smallest` holds the difference in percentage points.
    """
    points = choose_one(
        "Smallest difference of interest",
        "smallest",
        _POINTS,
        f"{100 * SMALLEST:g}",
        lambda text: format_size(float(text) / 100),
        width=220,
    )
    return float(points) / 100


def read_smallest() -> float:
    """Return the smallest difference of interest from the URL, as a share. Draws no selector."""
    points = st.query_params.get("smallest")
    return float(points) / 100 if points in _POINTS else SMALLEST


def choose_dimension(label: str, *, among: Sequence[str]) -> str:
    """Draw a selector and return a dimension of the metric `slices`.

    The URL's `by` holds the name of the dimension.
    """
    return choose_one(label, "by", among, "model", lambda name: DIMENSIONS[name], width=180)


def choose_one(
    label: str,
    key: str,
    among: Sequence[str],
    empty: str,
    named: Callable[[str], str] = str,
    *,
    width: int | Literal["stretch"] = 200,
    words: str | None = None,
) -> str:
    """Draw a selector and return the chosen value.

    The URL's `key` contains the value, except if the value is `empty`. A URL value outside `among` counts as
    `empty`. `named` returns the label of a value. `words` replaces the label above the selector.
    """

    def draw(name: str) -> str:
        return str(
            st.selectbox(
                label,
                among,
                index=list(among).index(st.session_state[name]),
                key=name,
                format_func=(lambda value: f"{words} {named(value)}") if words else named,
                width=width,
                label_visibility="collapsed" if words else "visible",
                on_change=write_changed,
                args=(name, empty),
            )
        )

    return _keep_in_url(key, among, empty, draw, lambda value: (label, named(value)))


def choose_segment(label: str, key: str, among: Sequence[str], named: Callable[[str], str] = str) -> str:
    """Draw a row of buttons for a few values, and return the chosen value.

    The URL's `key` holds the value, and the first value is the default.
    """

    def draw(name: str) -> str:
        chosen = st.segmented_control(
            label,
            among,
            default=st.session_state[name],
            key=name,
            format_func=named,
            required=True,
            label_visibility="collapsed",
        )
        return str(chosen) if chosen in among else among[0]

    return _keep_in_url(key, among, among[0], draw, lambda value: (label, named(value)))


def choose_toggle(label: str, key: str) -> bool:
    """Draw a switch and return whether the switch is on. When it is on, the URL's `key` is `yes`."""
    return draw_url_widget(
        lambda name: st.toggle(label, st.session_state[name], key=name),
        key,
        False,
        lambda text: text == "yes",
        lambda _: "yes",
    )


def _keep_in_url(
    key: str,
    among: Sequence[str],
    empty: str,
    draw: Callable[[str], str],
    describe: Callable[[str], tuple[str, str]],
) -> str:
    if st.session_state.get(key) not in among:
        # Drop the value that another page's selector with the same key left, if this selector does not offer
        # it.
        st.session_state.pop(key, None)

    def require_known(text: str) -> str:
        if text not in among:
            raise ValueError(text)
        return text

    return draw_url_widget(draw, key, empty, require_known, describe=describe)


def link_here(page: str, narrowed: Mapping[str, str], **changed: str) -> str:
    """Return a link to `page` with the URL values of this module's selectors.

    `changed` replaces some of these values.
    """
    selectors = {key: value for key in _SELECTORS if (value := st.query_params.get(key))}
    return filters.page_link(page, narrowed, selectors | changed)


def baseline_key(dimension: str) -> str:
    """Return the URL key of a dimension's reference value, such as base_model."""
    return f"base_{dimension}"


def choose_baseline(dimension: str, several: Sequence[Slice]) -> Slice:
    """Draw the selector "Compared with" and return the chosen slice.

    The default is the slice with most sessions. The slice without a name may mix several values, so it is
    offered only if there is no other slice.
    """
    usual = choose_reference(several)
    named = [slice_ for slice_ in several if slice_.is_named]
    by_name = {slice_.name: slice_ for slice_ in [usual, *sorted(named, key=_use_key)]}
    name = choose_one(
        "Compared with",
        baseline_key(dimension),
        list(by_name),
        usual.name,
        lambda value: filters.short_label(dimension, value),
        width=280,
    )
    return by_name[name]


def _use_key(slice_: Slice) -> tuple[bool, int, str]:
    return not slice_.is_solid, -(slice_.share.sessions or 0), slice_.name
