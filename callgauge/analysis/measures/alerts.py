"""Reads the alerts that the load found: which rates changed, since when, for which calls, and whether the
rates are back to normal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import pandas as pd

from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.slices import make_slices, merge_slices
from callgauge.memory.kept_slices import PARAMETERS
from callgauge.stats import Difference, Interval, Share
from callgauge.stats.over_time.window_changes import STANDS

SHOWN_AFTER = 7
"""The number of days on which pages still show an alert that is over."""

Ask = Callable[..., pd.DataFrame]
Days = tuple[date, date]


@dataclass(frozen=True, slots=True)
class AlertPlace:
    """The value of another dimension that all, or most, of the affected calls have."""

    dimension: str
    value: str
    is_only: bool


@dataclass(frozen=True, slots=True)
class Alert:
    """A changed rate of one value of a dimension, or of a pair of values of two dimensions.

    `key` is the name of the alert in the decisions and notes. `values` holds the affected value of each
    dimension. `found` is the night that found the change. `since` is the first day of the change. `back` is
    the first day on which the rate was back to normal. `over` is the night that showed this. `now` is the
    rate on the `days` of the change, with its `interval`. `before` is the rate on the days of the `baseline`.
    `difference` is `now` minus `before`, with an interval that includes the variation between days. It is
    None if unknown. `q` is the corrected p-value on the night `found`. `part_of` is the key of the alert that
    includes this alert.
    """

    key: str
    values: Mapping[str, str]
    rate: RateDefinition
    found: date
    since: date
    back: date | None
    over: date | None
    rose: bool
    now: Share
    interval: Interval | None
    before: Share
    difference: Difference | None
    q: float
    days: Days
    baseline: Days
    part_of: str | None = None
    place: AlertPlace | None = None

    @property
    def is_open(self) -> bool:
        return self.over is None

    @property
    def is_worse(self) -> bool:
        return self.rose != self.rate.is_good

    @property
    def least_change(self) -> float:
        """The absolute value of the interval end nearer to zero, or 0 when the interval includes zero."""
        difference = self.difference
        return max(difference.low, -difference.high, 0.0) if difference else 0.0

    def agrees_with(self, chosen: Mapping[str, Any]) -> bool:
        """Return True when the filters `chosen` (metric parameters) select some of the affected calls."""
        values = dict(self.values)
        if self.place and self.place.is_only:
            values[self.place.dimension] = self.place.value
        return all(
            not (wanted := chosen.get(PARAMETERS.get(dimension, f"{dimension}s"))) or value in wanted
            for dimension, value in values.items()
        )


@dataclass(frozen=True, slots=True)
class NewError:
    """An error that was first seen on `first_day`, with its number of calls. `text` comes from the log."""

    signature_id: str
    fault_layer: str
    text: str
    first_day: date
    calls: int
    sessions: int

    @property
    def key(self) -> str:
        """The name of the alert in the decisions and notes."""
        return json.dumps(["error", self.signature_id, self.first_day.isoformat()])


@dataclass(frozen=True, slots=True)
class AlertNight:
    """The alerts of a night, the worst first, and how large a change must be to be found.

    `series` is the number of compared rates. `tests` is the number of comparisons. `in_a_night` and
    `in_a_week` are the smallest rises of a model's parse errors that are likely to be found in a night and in
    a week, as shares or None.
    """

    night: date
    series: int
    tests: int
    in_a_night: float | None
    in_a_week: float | None
    alerts: tuple[Alert, ...] = field(default=())


def read_alerts(ask: Ask, night: date | None = None) -> AlertNight | None:
    """Return the alerts of the newest night, or the alerts of an earlier `night` with today's knowledge.

    Return None when the store has too few days or calls to find changes. `ask` returns the rows of a metric.
    Raises MetricError.
    """
    rows = ask("alerts").to_dict("records")
    if not rows:
        return None
    newest = _read_day(rows[0]["night"])
    shown = newest if night is None else min(night, newest)
    several = [_make_alert(row, shown) for row in rows if isinstance(row["alert_key"], str)]
    alerts = [alert for alert in several if alert and _is_shown(alert, shown)]
    if shown < newest:
        alerts = [_recount(ask, alert) for alert in alerts]
    keys = {alert.key for alert in alerts}
    alerts = [alert if alert.part_of in keys else replace(alert, part_of=None) for alert in alerts]
    first = rows[0]
    return AlertNight(
        shown,
        int(first["series"]),
        int(first["tests"]),
        _read_number(first["in_a_night"]),
        _read_number(first["in_a_week"]),
        tuple(sorted(alerts, key=_order)),
    )


def _is_shown(alert: Alert, night: date) -> bool:
    if alert.since <= night - timedelta(STANDS):
        return False
    return alert.over is None or alert.over > night - timedelta(SHOWN_AFTER)


def _order(alert: Alert) -> tuple[object, ...]:
    """Return the sort key of an alert: worse rates first, then open alerts, then the largest change."""
    return not alert.is_worse, not alert.is_open, -alert.least_change, alert.q, alert.key


def _make_alert(row: Mapping[Hashable, Any], night: date) -> Alert | None:
    """Return an alert as it was known on a night.

    Return None if the alert was found later or the rate is unknown.
    """
    found_day, since = _read_day(row["found"]), _read_day(row["since"])
    if found_day > night or row["rate"] not in RATES:
        return None
    over = _read_day_or_none(row["closed"])
    over = over if over and over <= night else None
    back = _read_day_or_none(row["back"]) if over else None
    values = {str(row["dimension"]): str(row["name"])}
    if isinstance(row["second_dimension"], str):
        values[row["second_dimension"]] = str(row["second_name"])
    kind = row["where_kind"] if isinstance(row["where_kind"], str) else None
    sizes = [_read_number(row[name]) for name in ("difference", "low", "high", "low_now", "high_now")]
    estimate, low, high, low_now, high_now = sizes
    is_measured = estimate is not None and low is not None and high is not None
    return Alert(
        key=row["alert_key"],
        values=values,
        rate=RATES[row["rate"]],
        found=found_day,
        since=since,
        back=back,
        over=over,
        rose=bool(row["rose"]),
        now=Share(int(row["k_now"]), int(row["n_now"])),
        interval=None if low_now is None or high_now is None else Interval(low_now, high_now),
        before=Share(int(row["k_before"]), int(row["n_before"])),
        difference=Difference(estimate or 0.0, low or 0.0, high or 0.0, row["q"], "")
        if is_measured
        else None,
        q=float(row["q"]),
        days=(since, back - timedelta(1) if back else night),
        baseline=(_read_day(row["first_before"]), _read_day(row["last_before"])),
        part_of=row["part_of"] if isinstance(row["part_of"], str) else None,
        place=AlertPlace(row["where_dimension"], row["where_value"], kind == "only") if kind else None,
    )


def _recount(ask: Ask, alert: Alert) -> Alert:
    filters = {PARAMETERS[dimension]: (value,) for dimension, value in alert.values.items()}
    rows = ask("slices", rates=(alert.rate.name,), from_day=alert.days[0], to_day=alert.days[1], **filters)
    whole = merge_slices(make_slices(rows, related=False))
    return replace(alert, now=whole.share, interval=whole.share.interval) if whole else alert


def _read_day(value: Any) -> date:
    day: date = value.date() if hasattr(value, "date") else value
    return day


def _read_day_or_none(value: Any) -> date | None:
    return None if pd.isna(value) else _read_day(value)


def _read_number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)
