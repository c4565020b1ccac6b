"""The filter bar: a selector of days, and one panel with the values of all dimensions.

The bar is drawn before the page, so every page has the bar's widgets and keeps their values. Hidden
multiselects keep the panel's values in the URL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.component_files import beside_folder, read_source
from callgauge.dashboard.filters import DAYS, DIMENSIONS, RARE, TRIALS, Filters
from callgauge.dashboard.url_keys import declared_url_keys
from callgauge.memory.baselines import Baseline
from callgauge.memory.kept_slices import PARAMETERS
from ingest.time_ranges import PRESETS, Days, TimeRange, read_range

_KEPT_TEXT = "_kept_days"
_REWRITTEN = "_rewritten_days"
_CALENDAR = "_calendar"
_PICK_DATES = "Pick dates"
_INVALID = "_invalid_days"
_PANEL = "filters"
_SHORTENED = 120  # maximum length of a label in the panel


def draw_filter_bar(
    values: Mapping[str, Mapping[str, str]],
    first: date | None,
    last: date | None,
    baselines: Sequence[Baseline] = (),
    *,
    shown: bool = True,
) -> None:
    """Draw the filter bar and keep the selection for the rest of the script run.

    `values` holds the label of each value in the store, by dimension.
    If `shown` is False, the widgets are hidden, and the URL still keeps the filters.
    """
    labels = {name: values.get(name, {}) for name in DIMENSIONS if _is_offered(name, values.get(name, ()))}
    for name, named in labels.items():
        filters.keep_labels(name, named)
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        key="filterbar" if shown else "filterbar_hidden",
    ):
        days = _draw_days(first, last)
        if shown:
            _draw_panel(labels)
            if _has_something_to_reset():
                st.button("Reset", on_click=filters.reset, key="reset", type="tertiary")
    with st.container(key="filter_fields"):
        chosen = {name: _draw_field(name, named) for name, named in labels.items()}
    if invalid := st.session_state.pop(_INVALID, None):
        st.caption(f":red[{wording.in_markdown(invalid, 200)}]")
    from_day, to_day = days or (None, None)
    parameters = {PARAMETERS[name]: several for name, several in chosen.items()}
    filters.keep_choices(Filters(from_day, to_day, **parameters), baselines)


def _is_offered(name: str, values: Iterable[str]) -> bool:
    """Return whether the bar shows a dimension.

    The bar shows a dimension that can narrow the data or has a chosen value.
    """
    is_chosen = name not in TRIALS and (bool(st.session_state.get(name)) or name in st.query_params)
    return is_chosen or filters.can_narrow(name, values)


def _has_something_to_reset() -> bool:
    names = (*DIMENSIONS, *declared_url_keys().resettable)
    return st.session_state.get(DAYS, PRESETS[0]) != PRESETS[0] or any(
        name in st.query_params for name in names
    )


def _draw_panel(labels: Mapping[str, Mapping[str, str]]) -> None:
    """Draw the button that opens the panel, and a removable chip for each chosen value."""
    draw = st.components.v2.component(
        "filters",
        html="<div class='filters'></div>",
        css=read_source(__file__, "buttons.css", "filter_panel.css"),
        js=read_source(beside_folder(__file__), "drawing.js") + read_source(__file__, "filter_panel.js"),
    )
    groups = [
        {
            "name": name,
            "title": wording.dimension(name),
            "plural": wording.plural_of(wording.dimension(name)),
            "rare": name in RARE,
            "values": [_shorten(label) for label in named.values()],
            "chosen": [
                place
                for place, label in enumerate(named.values())
                if label in filters.chosen_labels(name, named)
            ],
        }
        for name, named in labels.items()
    ]
    draw(key=_PANEL, data={"groups": groups}, on_choose_change=_take_choice, width="content")


def _take_choice() -> None:
    event: Any = st.session_state.get(_PANEL)
    choice = event.choose if event is not None else None
    if not isinstance(choice, dict) or choice.get("name") not in DIMENSIONS:
        return
    labels = filters.known_labels(choice["name"])
    chosen = choice.get("values")
    if isinstance(chosen, list):
        values = [_find_value(labels, value) for value in chosen if isinstance(value, dict)]
        st.session_state[choice["name"]] = [value for value in values if value is not None]


def _find_value(labels: Mapping[str, str], shown: Mapping[str, Any]) -> str | None:
    """Return the value that the panel showed as `text`, or None if no value has this label.

    If several values have the same cut label, `place`, the position in the panel, decides.
    """
    place, text = shown.get("place"), shown.get("text")
    alike = [number for number, label in enumerate(labels.values()) if _shorten(label) == text]
    if not alike:
        return None
    return list(labels)[place if place in alike else alike[0]]


def _shorten(label: str) -> str:
    return wording.one_line(label, _SHORTENED)


def _draw_field(name: str, labels: Mapping[str, str]) -> tuple[str, ...] | None:
    """Draw the hidden field of a dimension and return the chosen values, or None for all values."""
    chosen = filters.chosen_labels(name, labels)
    values = st.multiselect(
        wording.dimension(name).capitalize(),
        list(labels),
        format_func=lambda value: labels.get(value, value),
        key=name,
        bind="query-params",
    )
    if [labels[value] for value in values] != chosen:
        # after Back, the widget already has the URL's values, but its state has these values only in the next
        # run
        st.rerun()
    return tuple(values) or None


def _draw_days(first: date | None, last: date | None) -> Days | None:
    """Draw the controls for days and return the chosen days, or None for all days."""
    if first is None or last is None:
        return None
    today = datetime.now(UTC).date()
    text = _draw_range(min(last, today))
    chosen = read_range(text)
    if chosen.first and chosen.last:
        _draw_calendar((chosen.first, chosen.last), first, max(last, today))
    return chosen.resolve(last, today)


def _draw_range(newest: date) -> str:
    """Draw the selector of days and return the chosen days as text. A person can also type a range."""

    def take() -> None:
        text = st.session_state[DAYS] or PRESETS[0]
        if text == _PICK_DATES:
            days = read_range(st.session_state[_KEPT_TEXT]).resolve(newest, newest) or (newest, newest)
            text = TimeRange(first=days[0], last=days[1]).text
        st.session_state[DAYS] = _read_days_text(text, st.session_state[_KEPT_TEXT])

    if _REWRITTEN in st.session_state:
        st.session_state[DAYS] = st.session_state.pop(_REWRITTEN)
    text = st.selectbox(
        "Days",
        [*PRESETS, _PICK_DATES],
        key=DAYS,
        bind="query-params",
        on_change=take,
        accept_new_options=True,
        filter_mode="contains",
        width=220,
        label_visibility="collapsed",
    )
    ends = st.query_params.get_all(DAYS)  # links from before November 2026 contain a range as two values
    range_text = " to ".join(ends) if len(ends) == 2 else str(text)
    days_text = _read_days_text(range_text, PRESETS[0])
    if days_text != text:
        # The link spells the range differently. From the next run on, the widget shows the page's spelling.
        st.session_state[_REWRITTEN] = days_text
        st.rerun()
    st.session_state[_KEPT_TEXT] = days_text
    return days_text


def _read_days_text(text: str, otherwise: str) -> str:
    """Return the range of days in `text`, written as in a link.

    If `text` is invalid, return `otherwise`.
    """
    try:
        return read_range(text).text
    except ValueError as problem:
        st.session_state[_INVALID] = str(problem)
        return otherwise


def _draw_calendar(shown: Days, first: date, last: date) -> None:

    def take() -> None:
        picked = st.session_state[_CALENDAR]
        if len(picked) == 2:
            st.session_state[DAYS] = TimeRange(first=picked[0], last=picked[1]).text

    # Keep the end that a person has already picked, until both ends are picked.
    if len(st.session_state.get(_CALENDAR, ())) != 1:
        st.session_state[_CALENDAR] = shown
    st.date_input(
        "From, to",
        min_value=min(first, shown[0]),
        max_value=max(last, shown[1]),
        key=_CALENDAR,
        on_change=take,
        format="YYYY-MM-DD",
        width=240,
        label_visibility="collapsed",
    )
