"""Finds what needs attention on the newest night: changed rates, new errors, and errors that are back after a
fix.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd

from callgauge.analysis.load_state import find_last_whole_day
from callgauge.analysis.measures.alerts import Alert, AlertNight, NewError, read_alerts
from callgauge.memory.signature_states import SignatureState
from callgauge.stats.day_spread import LEAST_DAYS


@dataclass(frozen=True, slots=True)
class Attention:
    """The items that need attention on the night `newest`. `days` is the number of days with calls up to that
    night.

    `night` holds the alerts. It is None when there are too few days.
    """

    newest: date
    days: int
    night: AlertNight | None
    new_errors: tuple[NewError, ...]

    @property
    def needing(self) -> list[Alert | NewError]:
        """The open changed rates, the worst first, then new errors, then rates that are back to normal."""
        worse = [alert for alert in self.alerts if alert.is_worse and not alert.part_of]
        open_ones = [alert for alert in worse if alert.is_open]
        return [*open_ones, *self.new_errors, *(alert for alert in worse if not alert.is_open)]

    @property
    def parts(self) -> list[Alert]:
        """Changed rates that belong to another change that needs attention."""
        return [alert for alert in self.alerts if alert.is_worse and alert.part_of]

    @property
    def improved(self) -> list[Alert]:
        return [alert for alert in self.alerts if not alert.is_worse and alert.is_open and not alert.part_of]

    @property
    def alerts(self) -> tuple[Alert, ...]:
        return self.night.alerts if self.night else ()


def find_attention(
    ask: Callable[..., pd.DataFrame], chosen: Mapping[str, Any], night: date | None = None
) -> Attention | None:
    """Return what needs attention on the newest complete night. Return None when no day has a call.

    `ask` returns the rows of a metric. `chosen` holds filters as metric parameters, but filters by day are
    ignored. An alert is left out if the filters exclude all affected calls. `night` replaces the newest night
    by an earlier night. Raises MetricError.
    """
    last = find_last_whole_day(ask)
    last = min(filter(None, (last, night)), default=None)
    if last is None:
        return None
    filters = {name: value for name, value in chosen.items() if name not in ("from_day", "to_day")}
    alert_night = read_alerts(ask, last)
    days = 0
    if alert_night is None:
        rows = ask("call_days", to_day=last, **filters)
        days = int(rows["day"].notna().sum())
        if not len(rows):
            return None
    else:
        matching = tuple(alert for alert in alert_night.alerts if alert.agrees_with(filters))
        alert_night = AlertNight(
            alert_night.night,
            alert_night.series,
            alert_night.tests,
            alert_night.in_a_night,
            alert_night.in_a_week,
            matching,
        )
    errors = ask("new_errors", newest=last, least_days=LEAST_DAYS, **filters)
    new = tuple(NewError(*row) for row in errors.itertuples(index=False, name=None))
    return Attention(last, days, alert_night, new)


@dataclass(frozen=True, slots=True)
class ReturnedError:
    """An error that was marked as fixed and was seen again later. `text` comes from the log.

    `state` is the note about the fix. `calls` and `sessions` count the calls and sessions with the error
    since the fix.
    """

    state: SignatureState
    text: str
    back_day: date
    last_day: date
    calls: int
    sessions: int

    @property
    def key(self) -> str:
        """The name of the alert in the decisions and notes.

        If a fix fails again, the alert gets a new name.
        """
        return json.dumps(["returned", self.state.signature, self.back_day.isoformat()])


def find_returned_errors(
    ask: Callable[..., pd.DataFrame], states: Iterable[SignatureState]
) -> list[ReturnedError]:
    """Return the errors that are back after a fix, the latest first.

    `ask` returns the rows of a metric. Raises MetricError.
    """
    fixed = {
        state.signature: state for state in states if state.state == "fixed" and state.fixed_day is not None
    }
    if not fixed:
        return []
    days = tuple(str(state.fixed_day) for state in fixed.values())
    rows = ask("returned_errors", signatures=tuple(fixed), fixed_days=days).to_dict("records")
    columns = ("back_day", "last_day", "calls", "sessions")
    return [
        ReturnedError(fixed[row["signature_id"]], row["text"] or "–", *(row[name] for name in columns))
        for row in rows
    ]
