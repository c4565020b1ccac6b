"""The filter bar of all pages that count calls, kept in the URL: days, model, host, prompt and so on.

The host can be chosen where the store knows several. Where a store holds trials, their run and arm can be
chosen, too: without, no page counts them.

The bar is drawn before the page runs, so that its widgets exist on every page and navigation keeps their
values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.time_ranges import PRESETS, Days, TimeRange, read_range
from callgauge.dashboard.url_keys import declared_url_keys, write_to_url
from callgauge.memory.baselines import Baseline
from callgauge.memory.kept_slices import KeptSlice, slice_parameters

_TRIALS = ("run", "arm")
_HOST = "provider"
DIMENSIONS = ("model", _HOST, "prompt", "tool", "source", *_TRIALS)
_ON_BUTTON = 26  # characters of a chosen value on the button of its filter
_DAYS = "days"
_BASELINE = "baseline"
_BEFORE, _NO_BASELINE = "Baseline: days before", "No baseline"
_BASELINE_DAYS, _BASELINE_SLICE = "_baseline_days", "_baseline_slice"
_KEPT_TEXT = "_kept_text_"
_REWRITTEN = "_rewritten_"
_CALENDAR = "_calendar"
_PICK_DATES = "Pick dates"
# What a reader finds worth knowing, and what is compared with, hold on every page: how these keys begin.
_CARRIED = ("smallest", _BASELINE, "base_")
_MISREAD = "_misread"
_CHOSEN = "_filters"
_LABELS = "_labels"


@dataclass(frozen=True, slots=True)
class Filters:
    """The chosen filters; the field names are the parameters of the metrics.

    None means all; but without `runs` and `arms` nothing that is of a trial is counted.
    """

    from_day: date | None = None
    to_day: date | None = None
    models: tuple[str, ...] | None = None
    providers: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None
    arms: tuple[str, ...] | None = None

    def parameters(self) -> dict[str, Any]:
        return asdict(self)

    def active_names(self) -> list[str]:
        """Return the words for the filters that narrow the view."""
        days = ["days"] if self.from_day or self.to_day else []
        return days + [wording.dimension(name) for name in DIMENSIONS if getattr(self, f"{name}s")]


def draw_filter_bar(
    choices: pd.DataFrame,
    first: date | None,
    last: date | None,
    baselines: Sequence[Baseline] = (),
    *,
    shown: bool = True,
) -> None:
    """Draw the filter bar, and keep the chosen filters and the baseline in the session's state.

    `choices`: the rows of the metric `choices`; `first`, `last`: the first and the last day of the store;
    `baselines`: those that the team has kept. With `shown` False the widgets
    are drawn but hidden: without them the URL would lose the filters.
    """
    key = "filterbar" if shown else "filterbar_hidden"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        days = _draw_days(first, last)
        chosen = {
            name: _draw_choice(name, rows)
            for name in DIMENSIONS
            if _is_offered(name, rows := choices[choices.dimension == name])
        }
        st.session_state[_BASELINE_DAYS], st.session_state[_BASELINE_SLICE] = _draw_baseline(days, baselines)
        st.button("Reset", on_click=reset, key="reset", type="tertiary")
    if misread := st.session_state.pop(_MISREAD, None):
        st.caption(f":red[{wording.in_markdown(misread, 200)}]")
    from_day, to_day = days or (None, None)
    st.session_state[_CHOSEN] = Filters(from_day, to_day, **{f"{name}s": its for name, its in chosen.items()})


def _is_offered(name: str, rows: pd.DataFrame) -> bool:
    """Return whether the bar has a choice of this dimension; one that is made is always shown.

    `rows`: those of the metric `choices`. With a single host there is nothing to choose.
    """
    if name == _HOST:
        is_chosen = bool(st.session_state.get(name)) or name in st.query_params
        return is_chosen or _are_several(rows.value)
    return bool(len(rows)) or name not in _TRIALS


def has_several_hosts(labels: Mapping[str, Mapping[str, str]] | None = None) -> bool:
    """Return whether the store knows more than one host, so that pages tell hosts apart.

    `labels`: of the values of each dimension; without, those that the bar shows.
    """
    known = st.session_state.get(_LABELS, {}) if labels is None else labels
    return _are_several(known.get(_HOST, ()))


def _are_several(hosts: Iterable[str]) -> bool:
    return sum(host != "unknown" for host in hosts) > 1


def _draw_days(first: date | None, last: date | None) -> Days | None:
    """Return the chosen days; None for all days, so that calls without a time count too."""
    if first is None or last is None:
        return None
    today = datetime.now(UTC).date()
    text = _draw_range(_DAYS, [*PRESETS, _PICK_DATES], width=190, newest=min(last, today))
    chosen = read_range(text)
    if chosen.first and chosen.last:
        _draw_calendar((chosen.first, chosen.last), first, max(last, today))
    return chosen.resolve(last, today)


def _draw_range(key: str, offered: Sequence[str], *, width: int, newest: date | None = None) -> str:
    """Draw a selector of days in which a range can be typed too, and return its text: offered, or a range.

    The URL's `key` holds the text, unless it is the first one offered. `newest`: the newest day, on which
    the dates end from which a person begins to pick others.
    """
    kept = _KEPT_TEXT + key

    def take() -> None:
        text = st.session_state[key] or offered[0]
        if text == _PICK_DATES and newest:
            days = read_range(st.session_state[kept]).resolve(newest, newest) or (newest, newest)
            text = TimeRange(first=days[0], last=days[1]).text
        st.session_state[key] = _read_text(text, offered, st.session_state[kept])

    if _REWRITTEN + key in st.session_state:
        st.session_state[key] = st.session_state.pop(_REWRITTEN + key)
    text = st.selectbox(
        key.capitalize(),
        offered,
        key=key,
        bind="query-params",
        on_change=take,
        accept_new_options=True,
        filter_mode="contains",
        width=width,
        label_visibility="collapsed",
    )
    ends = st.query_params.get_all(key)  # links of before November 2026 hold a range as two values
    meant = " to ".join(ends) if len(ends) == 2 else str(text)
    known = _read_text(meant, offered, offered[0])
    if known != text:
        # A link's own words: the widget shows them as the page writes them from the next run on.
        st.session_state[_REWRITTEN + key] = known
        st.rerun()
    st.session_state[kept] = known
    return known


def _read_text(text: str, offered: Sequence[str], otherwise: str) -> str:
    """Return the range that a text means, written as links hold it; `otherwise` for what is no range."""
    if text in offered:
        return text
    try:
        return read_range(text).text
    except ValueError as misread:
        st.session_state[_MISREAD] = str(misread)
        return otherwise


def _draw_calendar(shown: Days, first: date, last: date) -> None:
    """Draw a calendar beside the selector of days, from which dates can be picked instead of typed."""

    def take() -> None:
        picked = st.session_state[_CALENDAR]
        if len(picked) == 2:
            st.session_state[_DAYS] = TimeRange(first=picked[0], last=picked[1]).text

    if len(st.session_state.get(_CALENDAR, ())) != 1:  # the first end is picked, the second is to come
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


def _draw_baseline(days: Days | None, kept: Sequence[Baseline]) -> tuple[Days | None, KeptSlice]:
    """Return the days of the chosen baseline (before the chosen days, named, or typed), and its own slice."""
    by_name = {f"Baseline: {wording.one_line(one.name, 40)}": one for one in kept}
    text = _draw_range(_BASELINE, [_BEFORE, *by_name, _NO_BASELINE], width=210)
    if text in by_name:
        return by_name[text].days, by_name[text].slice
    if text == _BEFORE:
        return (_days_before(days, (days[1] - days[0]).days + 1) if days else None), {}
    typed = TimeRange() if text == _NO_BASELINE else read_range(text)
    if typed.length and days:
        return _days_before(days, typed.length), {}
    return ((typed.first, typed.last) if typed.first and typed.last else None), {}


def _days_before(days: Days, length: int) -> Days:
    """Return so many days, just before the given ones."""
    return days[0] - timedelta(length), days[0] - timedelta(1)


def read_trials(choices: pd.DataFrame) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the chosen runs and arms of trials, before the filter bar is drawn; None means none.

    `choices`: the rows of the metric `choices`.
    """
    runs, arms = (_read_choice(name, _unique_labels(choices[choices.dimension == name])) for name in _TRIALS)
    return runs, arms


def _read_choice(name: str, labels: Mapping[str, str]) -> tuple[str, ...] | None:
    chosen = _chosen_labels(name, labels)
    return tuple(value for value, label in labels.items() if label in chosen) or None


def _chosen_labels(name: str, labels: Mapping[str, str]) -> list[str]:
    if name in st.session_state:
        return [labels[value] for value in st.session_state[name] if value in labels]
    # Before the first run the chosen values are only in the URL, which holds their labels.
    known = set(labels.values())
    return [label for label in st.query_params.get_all(name) if label in known]


def _draw_choice(name: str, rows: pd.DataFrame) -> tuple[str, ...] | None:
    labels = _unique_labels(rows)
    st.session_state.setdefault(_LABELS, {})[name] = labels
    chosen = _chosen_labels(name, labels)
    # No popover: it takes a widget out of the page while it is closed, and the URL loses the filter with it.
    # The frame's styles make the fold a list that opens below its button.
    with st.expander(wording.in_markdown(_button_text(name, chosen), 40), key=f"choose_{name}"):
        taken = st.multiselect(
            wording.dimension(name).capitalize(),
            list(labels),
            format_func=lambda value: labels.get(value, value),
            key=name,
            bind="query-params",
            placeholder=f"All {wording.dimension(name)}s",
            filter_mode="contains",
            select_all=False,
            width=340,
        )
    if [labels[value] for value in taken] != chosen:
        st.rerun()  # after Back the widget knows the address's values, and only then does its state
    return tuple(taken) or None


def _button_text(name: str, chosen: Sequence[str]) -> str:
    if len(chosen) == 1 and len(chosen[0]) <= _ON_BUTTON:
        return chosen[0]
    word = wording.dimension(name)
    return wording.plural(len(chosen), word) if chosen else f"{word.capitalize()}s"


def _unique_labels(rows: pd.DataFrame) -> dict[str, str]:
    """Return the label of each value, the most used first. Labels are unique, as the URL holds labels."""
    return wording.unique_labels(rows.value.tolist(), rows.label.tolist())


def reset() -> None:
    """Clear the filter bar, and the URL keys that the page declares as dropped by Reset."""
    for name in declared_url_keys().dropped:
        write_to_url(name, None)
    for name in DIMENSIONS:
        st.session_state[name] = []
    st.session_state[_DAYS] = PRESETS[0]


def show_everything() -> None:
    """Clear the filter bar, and choose all days."""
    reset()
    show_all_days()


def show_all_days() -> None:
    st.session_state[_DAYS] = TimeRange().text


def chosen_baseline() -> Days | None:
    """Return the days that the chosen days are compared with, both inclusive; None without a baseline."""
    found: Days | None = st.session_state.get(_BASELINE_DAYS)
    return found


def baseline_slice() -> KeptSlice:
    """Return what the chosen baseline is pinned to; empty where the filters hold for it, too."""
    found: KeptSlice = st.session_state.get(_BASELINE_SLICE, {})
    return found


def baseline_parameters(chosen: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the parameters of the metrics for the baseline of `chosen` ones; None without a baseline.

    What a baseline is pinned to takes the place of the filter of that dimension.
    """
    days = chosen_baseline()
    if days is None:
        return None
    return {**chosen, **slice_parameters(baseline_slice()), "from_day": days[0], "to_day": days[1]}


def describe_slice(kept: KeptSlice) -> str:
    """Return what a kept slice chooses, in words: heron · fixer@13; all calls where it chooses nothing."""
    words = [
        short_label(name, values[0]) + (f" and {len(values) - 1} more" if len(values) > 1 else "")
        for name, values in kept.items()
    ]
    return " · ".join(words) or "all calls"


def chosen_filters() -> Filters:
    found: Filters = st.session_state.get(_CHOSEN, Filters())
    return found


def active_filter_names() -> list[str]:
    """Return the words for all filters that narrow the view, including the page's own filters."""
    return chosen_filters().active_names() + [
        words for name, words in declared_url_keys().narrowing.items() if st.query_params.get(name)
    ]


def value_label(dimension: str, value: str) -> str:
    """Return the label of a value of a dimension, or the value when it has no label.

    A prompt without a name goes by its id also where prompts go by their names.
    """
    held = "prompt" if dimension == "prompt_name" else dimension
    labels: dict[str, str] = st.session_state.get(_LABELS, {}).get(held, {})
    return labels.get(value, value)


def short_label(dimension: str, value: str) -> str:
    """Return the label of a value of a dimension for a cell or a sentence: on one line, its middle cut."""
    return wording.short_name(value_label(dimension, value), 60)


def page_link(
    page: str,
    narrowed: Mapping[str, str | tuple[str, ...]],
    own: Mapping[str, str],
    days: tuple[date, date] | None = None,
) -> str:
    """Return a relative URL of `page` that keeps the chosen filters.

    `narrowed`: values that replace the filter of a dimension; `own`: the page's own URL keys; `days`: the
    first and the last day, in place of those of the filters.
    """
    filters = chosen_filters()
    values = {name: getattr(filters, f"{name}s") or () for name in DIMENSIONS}
    values |= {name: (value,) if isinstance(value, str) else value for name, value in narrowed.items()}
    pairs = [(name, value_label(name, value)) for name, several in values.items() for value in several]
    text = TimeRange(first=days[0], last=days[1]).text if days else st.query_params.get(_DAYS)
    pairs += [(_DAYS, text)] if text else []
    kept = [
        (name, text)
        for name, text in st.query_params.items()
        if name.startswith(_CARRIED) and name not in own and text
    ]
    return f"{page}?{urlencode(pairs + list(own.items()) + kept)}"
