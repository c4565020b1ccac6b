"""What needs attention on the newest night, found by the metrics of a store, and each item in words.

The Overview and the morning report say the same of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Literal

import pandas as pd

from callgauge.dashboard import comparison, wording
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
from callgauge.stats import Share
from callgauge.stats.over_time.day_effects import LEAST_DAYS

_OF_CALLS = ("parse_error", "emission", "tool_rejected", "execution")
_OF_ANY = (*_OF_CALLS, "recorded_ok", "derived_ok")
_HIGH = 0.9
_LOOKED_AT = {"model": _OF_ANY, "prompt": _OF_ANY, "tool": _OF_CALLS}


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """One thing that needs attention, in plain text that may hold log text, and the page that proves it.

    `subject` begins the sentence, `rest` ends it; `counts` is its small print. `share`: the rate that
    changed, as it is now; None for a new error.
    """

    key: str
    sign: Literal["▲", "▼", "○"]
    colour: Literal["red", "green", "gray"]
    subject: str
    rest: str
    counts: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    share: Share | None = None


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


def describe_item(
    one: Alert | NewError, newest: date, short_label: Callable[[str, str], str]
) -> AttentionItem:
    """Return an alert or a new error in words. `short_label`: the label of a value of a dimension."""
    if isinstance(one, NewError):
        return AttentionItem(
            one.key, "▲", "red", f"New error: {wording.quote(one.text, 60)},",
            f"{wording.plural(one.calls, 'call')} since {format_day(one.first_day, newest)}",
            f"{wording.plural(one.sessions, 'session')} · never seen before",
            "errors", {"signature": one.signature_id},
        )  # fmt: skip
    now, usual, began = format_rate(one.now.rate), format_rate(one.expected), format_day(one.since, newest)
    counts = f"{one.dimension.capitalize()} · {wording.fraction(one.now.k, one.now.n)} {one.rate.noun}s"
    counts += f" · q {'< 0.001' if one.q < 0.001 else f'{one.q:.3f}'}"
    if one.back:
        rest = f"back since {format_day(one.back, newest)}"
        counts = f"{now} from {began} on, was {usual}"
    elif one.worse_since:
        rest = f"{now}, worse again since {format_day(one.worse_since, newest)} (was {usual})"
        counts += f" · began {began}"
    else:
        rest = f"{now} since {began} (was {usual})"
    own = {one.dimension: [one.name]}
    query = comparison.arm_query("A", own, one.baseline) | comparison.arm_query("B", own, one.days)
    return AttentionItem(
        one.key,
        "○" if one.back else "▲" if one.rose else "▼",
        "gray" if one.back else "red" if one.is_worse else "green",
        f"{short_label(one.dimension, one.name)}: {one.rate.title.lower()}{',' if one.back else ''}",
        rest,
        counts,
        "compare",
        query | {"rate": one.rate.name},
        one.now,
    )


def format_rate(rate: float | None) -> str:
    """Write a rate with two digits; with three where the rest to 100 % is what one reads."""
    return wording.percent(rate or 0.0, 3 if (rate or 0.0) > _HIGH else 2)


def format_day(day: date, newest: date) -> str:
    """Write a day as 12 Nov, with its year where that is another than the newest day's."""
    return f"{day.day} {day:%b}{'' if day.year == newest.year else f' {day.year}'}"
