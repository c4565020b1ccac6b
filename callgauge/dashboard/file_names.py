"""Builds safe file names of downloads from the page or list, the filter values and the days."""

from __future__ import annotations

import re
from datetime import date

from callgauge.dashboard import filters
from callgauge.dashboard.shown_page import shown_page

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_VALUE, _LONGEST = 24, 120  # maximum lengths of a filter value and of a whole file name
_NAMED = 2  # maximum number of filter values in a file name


def name_file(stem: str, suffix: str) -> str:
    """Return a file name such as `callgauge_models_ranking_slate-coder_20261102-20261129.csv`.

    The name omits the days if all days are chosen. On a page without a filter bar, the name omits days and
    filter values.
    """
    page = shown_page()
    title = page.title.lower()
    parts = [title, "" if stem == title else stem.removeprefix(f"{title}_")]
    if page.is_filtered:
        chosen = filters.chosen_filters()
        values = [
            filters.value_label(name, value)
            for name, several in chosen.by_dimension().items()
            for value in several
        ]
        parts += values[:_NAMED]
        if len(values) > _NAMED:
            parts.append(f"{len(values) - _NAMED}-more")
        if chosen.from_day and chosen.to_day:
            parts.append("-".join(map(_write_day, dict.fromkeys((chosen.from_day, chosen.to_day)))))
    safe = [_UNSAFE.sub("-", part).strip("-.")[:_LONGEST_VALUE] for part in parts]
    return f"{'_'.join(filter(None, ('callgauge', *safe)))[:_LONGEST]}.{suffix}"


def _write_day(day: date) -> str:
    return f"{day:%Y%m%d}"
