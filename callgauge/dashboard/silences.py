"""Words for sources that have stopped giving data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any

from callgauge.dashboard import wording

_FRESH_DAYS = 2  # a night's load sees the day before; one more for a late or missed night


def describe_silence(silent: Sequence[Mapping[Hashable, Any]], one: str = "", several: str = "") -> str:
    """Return which sources are silent: Goose silent for 2 days. Empty when none is. Contains stored text.

    `silent`: rows of the metric `silent_sources`, the longest silence first. `one` and `several`: the verb.
    """
    if not silent:
        return ""
    longest = wording.plural(silent[0]["silent_days"], "day")
    if len(silent) == 1:
        words = (wording.one_line(silent[0]["title"], 40), one, f"silent for {longest}")
    else:
        words = (wording.plural(len(silent), "source"), several, f"silent, one for {longest}")
    return " ".join(filter(None, words))


def describe_lag(newest: datetime | None, loaded: datetime | None) -> str:
    """Return how old the newest turn was at the load; empty where that is two days or less, or not known.

    `newest`, `loaded`: the times of the newest turn of the store and of its last load, in UTC.
    """
    if newest is None or loaded is None or loaded != loaded or newest != newest:  # NaT is not itself
        return ""
    days = (loaded.date() - newest.date()).days
    if days <= _FRESH_DAYS:
        return ""
    return f"the newest turn is from {newest:%Y-%m-%d}, {wording.plural(days, 'day')} before the load"
