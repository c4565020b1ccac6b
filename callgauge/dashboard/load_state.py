"""Words on the state of the store: what the loads read and rejected, silent sources, old data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from callgauge.dashboard import wording

_FRESH_DAYS = 2  # a night's load sees the day before; one more for a late or missed night


def describe_share_read(load: pd.Series[Any]) -> str:
    """Return how much of the files and of their lines is in: 292 of 397 files, 99.9% of their lines read.

    `load`: the row of the metric `last_load`. How many lines a rejected file has is not known.
    """
    files, rejected, lines = (int(load[name]) for name in ("files", "rejected_files", "lines"))
    if rejected:
        told = f"{files:,} of {wording.plural(files + rejected, 'file')}"
    else:
        told = wording.plural(files, "file")
    if not lines:
        return told
    left_out = int(load["lines_left_out"])
    share = f"{wording.rate(lines - left_out, lines)} of their lines" if left_out else "all their lines"
    return f"{told}, {share} read"


def describe_rejected(files: int, lines: int) -> str:
    """Return what was rejected: 2 files and 33 lines. Empty when nothing was."""
    told = ((files, "file"), (lines, "line"))
    return " and ".join(wording.plural(number, noun) for number, noun in told if number)


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
