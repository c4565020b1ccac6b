"""Finds what needs attention on the newest night: changed rates and new errors, by the metrics of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pandas as pd

from callgauge.dashboard.measures.alerts import (
    MOST_DAYS,
    Alert,
    AlertReport,
    NewError,
    choose_windows,
    find_alerts,
    find_echoes,
    first_night,
    list_nights,
)
from callgauge.stats.over_time.day_effects import LEAST_DAYS

_OF_CALLS = ("parse_error", "emission", "tool_rejected", "execution")
_OF_ANY = (*_OF_CALLS, "recorded_ok", "derived_ok")
_LOOKED_AT = {"model": _OF_ANY, "prompt": _OF_ANY, "tool": _OF_CALLS}


@dataclass(frozen=True, slots=True)
class Attention:
    """What the newest night of the chosen filters says.

    `days_before`: on how many of the days before there are calls; None when there is no day before. `report`:
    None with too few of them.
    """

    newest: date
    days_before: int | None
    report: AlertReport | None
    new_errors: tuple[NewError, ...]

    @property
    def needing(self) -> list[Alert | NewError]:
        """Changed rates that are open, the worst first; then new errors, then rates that are back."""
        echoes = find_echoes(self._alerts)
        worse = [one for one in self._alerts if one.is_worse and one.key not in echoes]
        open_ones = [one for one in worse if one.is_open]
        return [*open_ones, *self.new_errors, *(one for one in worse if not one.is_open)]

    @property
    def echoing(self) -> list[Alert]:
        """Changed rates that may be those that need attention, seen by another dimension."""
        echoes = find_echoes(self._alerts)
        return [one for one in self._alerts if one.is_worse and one.key in echoes]

    @property
    def improved(self) -> list[Alert]:
        return [one for one in self._alerts if not one.is_worse and one.is_open]

    @property
    def _alerts(self) -> tuple[Alert, ...]:
        return self.report.alerts if self.report else ()


def find_attention(ask: Callable[..., pd.DataFrame], chosen: Mapping[str, Any]) -> Attention | None:
    """Return what needs attention on the newest of the chosen days; None when no day has a call.

    `ask`: answers a metric. `chosen`: the filters as parameters of the metrics; of them all count but the
    first day, because earlier days are always taken from the store. Raises MetricError.
    """
    last = ask("extent").iloc[0].last_day
    last = min(filter(None, (last, chosen.get("to_day"))), default=None)
    if last is None:
        return None
    within = {**chosen, "from_day": last - timedelta(MOST_DAYS), "to_day": last}
    by_model = ask("slices", rates=_LOOKED_AT["model"], by="model", also="day", **within)
    # Every call counts for this rate, once: of all models together these are the calls of each day.
    rows = by_model[(by_model["rate"] == "emission") & (by_model["also"] != "unknown")]
    if rows.empty:
        return None
    sums = rows.groupby("also")[["total", "sessions"]].sum()
    days = [date.fromisoformat(day) for day in sums.index]
    calls, sessions = (dict(zip(days, sums[name], strict=True)) for name in ("total", "sessions"))
    errors = ask("new_errors", newest=last, least_days=LEAST_DAYS, **_without_days(chosen))
    new = tuple(NewError(*row) for row in errors.itertuples(index=False, name=None))
    windows, newest = choose_windows(calls, sessions), max(days)
    before = windows.days_before if windows else None
    if windows is None or not windows.is_long_enough:
        return Attention(newest, before, None, new)
    days = sorted(days)
    nights = list_nights(days, calls, sessions, since=first_night(newest))
    by_day = {
        dimension: by_model
        if dimension == "model"
        else ask("slices", rates=rates, by=dimension, also="day", **within)
        for dimension, rates in _LOOKED_AT.items()
    }
    return Attention(newest, before, find_alerts(by_day, days, nights), new)


def _without_days(chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in chosen.items() if name not in ("from_day", "to_day")}
