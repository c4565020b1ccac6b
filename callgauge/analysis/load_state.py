"""Describes the state of the store: what loads accepted or rejected, failed nightly runs, and sources without
new logs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

import pandas as pd

from callgauge.analysis import wording
from callgauge.memory.nights.past_nights import ServiceState

_USUAL_DAYS, _LEAST_DAYS = 14, 5  # number of days before the newest day, and how many of them must have calls
_LEAST_PART = 0.1  # smallest share of the usual calls on a judged day; as in ingest/store/settling/alerts.py
# normal age in days of the newest turn: a nightly load reads the previous day, and one load may be late
_FRESH_DAYS = 2


def find_last_whole_day(ask: Callable[..., pd.DataFrame]) -> date | None:
    """Return the newest day that can be judged. Return None when there is no such day.

    The day must be complete at the last load. It must have more than a tenth of the usual calls, because
    sessions that continue after midnight leave a few calls on the next day. `ask` returns the rows of a
    metric. Raises MetricError.
    """
    loaded, days = ask("last_load").iloc[0].loaded_at, ask("extent").iloc[0]
    last: date | None = days.last_day
    if last is None:
        return None
    if loaded is not None and not pd.isna(loaded) and days.first_day < loaded.date() <= last:
        last = loaded.date() - timedelta(1)
    rows = ask("slices", rates=("emission",), by="day", from_day=last - timedelta(_USUAL_DAYS), to_day=last)
    calls = {date.fromisoformat(day): int(n) for day, n in zip(rows["slice"], rows["total"], strict=True)}
    newest = calls.pop(last, 0)
    if len(calls) >= _LEAST_DAYS and newest < _LEAST_PART * median(calls.values()):
        return max(calls)
    return last


def describe_share_read(load: pd.Series[Any]) -> str:
    """Return the share of files and lines that were loaded, such as "292 of 397 files, 99.9% of their lines
    read".

    `load` is the row of the metric `last_load`. The lines of rejected files are not counted.
    """
    files, rejected, lines = (int(load[name]) for name in ("files", "rejected_files", "lines"))
    if rejected:
        files_read = f"{files:,} of {wording.plural(files + rejected, 'file')}"
    else:
        files_read = wording.plural(files, "file")
    if not lines:
        return files_read
    left_out = int(load["lines_left_out"])
    share = f"{wording.rate(lines - left_out, lines)} of their lines" if left_out else "all their lines"
    return f"{files_read}, {share} read"


def describe_rejected(files: int, lines: int) -> str:
    """Return the number of rejected files and lines, such as "2 files and 33 lines".

    Return "" if nothing was rejected.
    """
    counts = ((files, "file"), (lines, "line"))
    return " and ".join(wording.plural(number, noun) for number, noun in counts if number)


def describe_silence(silent: Sequence[Mapping[Hashable, Any]], singular: str = "", plural: str = "") -> str:
    """Return which sources sent no new logs, such as "Goose silent for 2 days".

    Return "" if no source is silent. The result contains names from the store. `silent` holds rows with
    `title` and `silent_days`, the longest silence first. `singular` and `plural` are the verbs for one
    source and for several sources.
    """
    if not silent:
        return ""
    longest = write_days(silent[0]["silent_days"])
    if len(silent) == 1:
        words = (wording.one_line(silent[0]["title"], 40), singular, f"silent for {longest}")
    else:
        words = (wording.plural(len(silent), "source"), plural, f"silent, one for {longest}")
    return " ".join(filter(None, words))


def list_silent(
    service: ServiceState, by_format: Sequence[Mapping[Hashable, Any]], now: datetime
) -> Sequence[Mapping[Hashable, Any]]:
    """Return the sources that are silent for longer than callgauge.toml allows, for `describe_silence`.

    If there are none, return the formats that are silent for longer than usual (metric `silent_sources`).
    """
    return [
        {"title": source.name, "silent_days": source.count_silent_days(now)}
        for source in service.find_silent(now)
    ] or by_format


def write_days(days: float) -> str:
    """Write a duration in whole days, or in hours if the duration is shorter than a day."""
    return wording.plural(int(days), "day") if days >= 1 else wording.plural(round(days * 24), "hour")


def describe_night(service: ServiceState, now: datetime) -> str:
    """Return the problem of the last nightly run, such as `last nightly run failed: backup`.

    Return "" if there is no problem.
    """
    if missing := service.find_missing_night(now):
        return f"no nightly run since {wording.utc(missing)}"
    unfinished = service.nights[0].unfinished if service.nights else ()
    if not unfinished:
        return ""
    outcomes = {step.outcome or "broken off" for step in unfinished}
    how = next(outcome for outcome in ("failed", "broken off", "stopped") if outcome in outcomes)
    verb = {"failed": "failed", "broken off": "broke off", "stopped": "was stopped"}[how]
    return f"last nightly run {verb}: {', '.join(step.step for step in unfinished)}"


def lag_days(newest: datetime | None, loaded: datetime | None) -> int:
    """Return how many days old the newest turn was at the last load.

    Return 0 for two days or less, or if the age is unknown. `newest` is the time of the newest turn in the
    store. `loaded` is the time of the last load. Both times are in UTC.
    """
    if newest is None or loaded is None or loaded != loaded or newest != newest:  # NaT is not equal to itself
        return 0
    days = (loaded.date() - newest.date()).days
    return days if days > _FRESH_DAYS else 0


def describe_lag(newest: datetime | None, loaded: datetime | None) -> str:
    """Return the result of `lag_days` in words. Return "" for 0."""
    days = lag_days(newest, loaded)
    if newest is None or not days:
        return ""
    return f"the newest turn is from {newest:%Y-%m-%d}, {wording.plural(days, 'day')} before the load"
