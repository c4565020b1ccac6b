"""Builds a URL that shows the same view again, even after new data was loaded.

The module also describes the selection in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urljoin

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.shown_page import ShownPage
from callgauge.dashboard.url_keys import declared_url_keys
from ingest.time_ranges import PRESETS, TimeRange, read_range

_LONGEST_VALUE = 60  # maximum length of a filter value in the description
_NAMED = 3


def write_path(page: ShownPage, days: str | None) -> str:
    """Return the relative URL of the view, with `days` and with all default values."""
    pairs = {key: st.query_params.get_all(key) for key in st.query_params}
    if page.is_filtered:
        for name, values in filters.chosen_filters().by_dimension().items():
            pairs[name] = [filters.value_label(name, value) for value in values]
        pairs[filters.DAYS] = [days] if days else []
    for key, setting in page.settings.items():
        pairs[key] = [setting.text] if setting.text else []
    query = urlencode([(key, text) for key, texts in pairs.items() for text in texts])
    return f"{page.name}?{query}" if query else page.name


def fix_days() -> str:
    """Return the chosen days as fixed dates.

    If some calls have no time, the selection "all days" stays, because no range of dates includes those
    calls.
    """
    chosen = filters.chosen_filters()
    if chosen.from_day and chosen.to_day:
        return TimeRange(first=chosen.from_day, last=chosen.to_day).text
    extent = store_queries.ask("extent").iloc[0]
    if extent.first_day is None or extent.last_day is None:
        return TimeRange().text
    parameters = chosen.parameters()
    dated = parameters | {"from_day": extent.first_day, "to_day": extent.last_day}
    counted, total = (store_queries.ask("fault_layers", **query).total.max() for query in (dated, parameters))
    return (
        TimeRange(first=extent.first_day, last=extent.last_day).text if counted == total else TimeRange().text
    )


def moving_days() -> str | None:
    """Return the chosen days if they move with new data ("28 days", "all days").

    Return None for fixed dates.
    """
    text = st.query_params.get(filters.DAYS) or PRESETS[0]
    try:
        days = read_range(text)
    except ValueError:
        return None
    return days.text if days.first is None else None


def find_whole_address(path: str) -> str:
    """Return the full URL of a path, or the path when no browser has sent the server's address."""
    return urljoin(st.context.url, path) if st.context.url else f"/{path.lstrip('.')}"


def describe_view(page: ShownPage) -> dict[str, str]:
    """Return the days, the filters and the settings of the page as a mapping from name to value."""
    settings = {}
    if page.is_filtered:
        settings["Days"] = fix_days().replace(TimeRange().text, "all days")
        for name, values in filters.chosen_filters().by_dimension().items():
            if values:
                settings[wording.dimension(name).capitalize()] = _list_values(name, values)
    for key, words in declared_url_keys().narrowing.items():
        if (text := st.query_params.get(key)) and key not in page.settings:
            settings[words.capitalize()] = wording.one_line(text, _LONGEST_VALUE)
    described = {
        setting.name: setting.value for setting in page.settings.values() if setting.name and setting.value
    }
    return settings | described


def _list_values(name: str, values: tuple[str, ...]) -> str:
    shown = [wording.one_line(filters.value_label(name, value), _LONGEST_VALUE) for value in values[:_NAMED]]
    more = len(values) - _NAMED
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def list_chosen(settings: Mapping[str, str]) -> str:
    """Return the selection as one line of text."""
    return " · ".join(f"{name}: {value}" for name, value in settings.items())
