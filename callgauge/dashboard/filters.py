"""The filter bar (days, model, prompt, tool, source) of all pages that count calls, kept in the URL.

The bar is drawn before the page runs, so that its widgets exist on every page and navigation keeps their
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from callgauge.dashboard import wording
from callgauge.dashboard.url_keys import declared_url_keys

DIMENSIONS = ("model", "prompt", "tool", "source")
_LONGEST = 120  # characters of a label: every page sends them all
_DAYS = "days"
_CARRIED = ("smallest", "base_")  # how these keys begin; what they say holds on every page that judges
_EXTENT = "_extent"
_PICKING = "_picking_days"
_ONE_DAY = "_one_day"
_CHOSEN = "_filters"
_LABELS = "_labels"


@dataclass(frozen=True, slots=True)
class Filters:
    """The chosen filters; None means all. The field names are the parameters of the metrics."""

    from_day: date | None = None
    to_day: date | None = None
    models: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None

    def parameters(self) -> dict[str, Any]:
        return asdict(self)

    def active_names(self) -> list[str]:
        """Return the names of the filters that narrow the view."""
        days = ["days"] if self.from_day or self.to_day else []
        return days + [name for name in DIMENSIONS if getattr(self, f"{name}s")]


def draw_filter_bar(
    choices: pd.DataFrame, first: date | None, last: date | None, *, shown: bool = True
) -> None:
    """Draw the filter bar, and keep the chosen filters in the session's state.

    `choices`: the rows of the metric `choices`; `first`, `last`: the first and the last day of the store.
    With `shown` False the widgets are drawn but hidden: without them the URL would lose the filters.
    """
    key = "filterbar" if shown else "filterbar_hidden"
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small", key=key):
        from_day, to_day = _draw_days(first, last)
        chosen = {name: _draw_choice(name, choices[choices.dimension == name]) for name in DIMENSIONS}
        st.button("Reset", on_click=reset, key="reset", type="tertiary", help="Clear all filters")
    st.session_state[_CHOSEN] = Filters(from_day, to_day, **{f"{name}s": chosen[name] for name in DIMENSIONS})


def _draw_days(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    """Return the chosen days; (None, None) for all days, so that calls without a time count too."""
    if first is None or last is None:
        return None, None
    whole = (first, last)
    if (
        st.session_state.get(_EXTENT) not in (None, whole)
        and st.session_state.get(_DAYS) == st.session_state[_EXTENT]
    ):
        # The whole extent was shown and a load widened it: go on showing the whole.
        st.session_state[_DAYS] = whole
    st.session_state[_EXTENT] = whole
    if _ONE_DAY in st.session_state:
        st.session_state[_DAYS] = st.session_state.pop(_ONE_DAY)
    chosen = st.date_input(
        "Days (UTC)",
        whole,
        *whole,
        key=_DAYS,
        bind="query-params",
        on_change=_note_picking,
        format="YYYY-MM-DD",
        width=240,
        label_visibility="collapsed",
    )
    picked = chosen if isinstance(chosen, tuple) else (chosen,)
    _close_single_day(picked)
    if picked == whole or not picked:
        return None, None
    return picked[0], picked[-1]


def _close_single_day(picked: tuple[date, ...]) -> None:
    """Turn a single day that a link names into a range of one day, and rerun the page.

    Otherwise the widget would wait for the second end of the range. Nothing happens when a person has just
    picked the first end: the second end is still to come.
    """
    if len(picked) == 1 and st.session_state.get(_PICKING) != picked:
        st.session_state[_ONE_DAY] = (picked[0], picked[0])
        st.rerun()


def _note_picking() -> None:
    st.session_state[_PICKING] = st.session_state[_DAYS]


def _draw_choice(name: str, rows: pd.DataFrame) -> tuple[str, ...] | None:
    labels = _unique_labels(rows)
    st.session_state.setdefault(_LABELS, {})[name] = labels
    chosen = st.multiselect(
        name.capitalize(),
        list(labels),
        format_func=lambda value: labels.get(value, value),
        key=name,
        bind="query-params",
        placeholder=f"All {name}s",
        width=190,
        wrap=False,
        label_visibility="collapsed",
    )
    return tuple(chosen) or None


def _unique_labels(rows: pd.DataFrame) -> dict[str, str]:
    """Return the label of each value, the most used first. Labels are unique, as the URL holds labels."""
    labels = rows.label.map(lambda label: wording.one_line(label, _LONGEST))
    pairs = zip(rows.value, labels, labels.duplicated(keep=False), strict=True)
    return {value: f"{label} · {_short_value(value)}" if double else label for value, label, double in pairs}


def _short_value(value: str) -> str:
    """Return the value, or 12 digits of its SHA-256 when it is long or has invisible characters."""
    plain = wording.one_line(value, _LONGEST)
    return value if plain == value else sha256(value.encode()).hexdigest()[:12]


def reset() -> None:
    """Clear the filter bar, and the URL keys that the page declares as dropped by Reset."""
    for name in declared_url_keys().dropped:
        st.query_params.pop(name, None)
    for name in DIMENSIONS:
        st.session_state[name] = []
    if _EXTENT in st.session_state:
        st.session_state[_DAYS] = st.session_state[_EXTENT]


def chosen_filters() -> Filters:
    found: Filters = st.session_state.get(_CHOSEN, Filters())
    return found


def active_filter_names() -> list[str]:
    """Return the words for all filters that narrow the view, including the page's own filters."""
    return chosen_filters().active_names() + [
        words for name, words in declared_url_keys().narrowing.items() if st.query_params.get(name)
    ]


def value_label(dimension: str, value: str) -> str:
    """Return the label of a value of a dimension, or the value when it has no label."""
    labels: dict[str, str] = st.session_state.get(_LABELS, {}).get(dimension, {})
    return labels.get(value, value)


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
    pairs += [(_DAYS, day.isoformat()) for day in days or (filters.from_day, filters.to_day) if day]
    kept = [
        (name, text)
        for name, text in st.query_params.items()
        if name.startswith(_CARRIED) and name not in own and text
    ]
    return f"{page}?{urlencode(pairs + list(own.items()) + kept)}"
