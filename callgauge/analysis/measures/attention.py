"""What needs attention on the newest night: changed rates, new errors, and fixed errors that are back.

The Overview and the morning report show the same. `analysis/verdicts/alerts.py` has the sentences.
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
    """What the night `newest` says. `days`: with calls, up to this night. `night`: None with too few."""

    newest: date
    days: int
    night: AlertNight | None
    new_errors: tuple[NewError, ...]

    @property
    def needing(self) -> list[Alert | NewError]:
        """Changed rates that are open, the worst first; then new errors, then rates that are back."""
        worse = [one for one in self.alerts if one.is_worse and not one.part_of]
        open_ones = [one for one in worse if one.is_open]
        return [*open_ones, *self.new_errors, *(one for one in worse if not one.is_open)]

    @property
    def parts(self) -> list[Alert]:
        """Changed rates that are part of one that needs attention."""
        return [one for one in self.alerts if one.is_worse and one.part_of]

    @property
    def improved(self) -> list[Alert]:
        return [one for one in self.alerts if not one.is_worse and one.is_open and not one.part_of]

    @property
    def alerts(self) -> tuple[Alert, ...]:
        return self.night.alerts if self.night else ()


def find_attention(
    ask: Callable[..., pd.DataFrame], chosen: Mapping[str, Any], night: date | None = None
) -> Attention | None:
    """Return what needs attention on the newest night that is over; None when no day has a call.

    `ask`: answers a metric. `chosen`: filters as parameters of the metrics; days among them do not count. An
    alert is left out where they leave nothing of what it is about. `night`: an earlier one. Raises
    MetricError.
    """
    last = find_last_whole_day(ask)
    last = min(filter(None, (last, night)), default=None)
    if last is None:
        return None
    filters = {name: value for name, value in chosen.items() if name not in ("from_day", "to_day")}
    known = read_alerts(ask, last)
    days = 0
    if known is None:
        rows = ask("slices", rates=("emission",), by="day", to_day=last, **filters)
        days = int((rows["slice"] != "unknown").sum())
        if not len(rows):
            return None
    else:
        kept = tuple(one for one in known.alerts if one.agrees_with(filters))
        known = AlertNight(known.night, known.series, known.tests, known.in_a_night, known.in_a_week, kept)
    errors = ask("new_errors", newest=last, least_days=LEAST_DAYS, **filters)
    new = tuple(NewError(*row) for row in errors.itertuples(index=False, name=None))
    return Attention(last, days, known, new)


@dataclass(frozen=True, slots=True)
class ReturnedError:
    """An error that somebody has fixed and that was seen after the day of the fix; `text` is log text.

    `state`: what the team noted when it was fixed. `calls`, `sessions`: since then.
    """

    state: SignatureState
    text: str
    back_day: date
    last_day: date
    calls: int
    sessions: int

    @property
    def key(self) -> str:
        """The name of the alert in the team's memory; another fix that does not hold has another."""
        return json.dumps(["returned", self.state.signature, self.back_day.isoformat()])


def find_returned_errors(
    ask: Callable[..., pd.DataFrame], states: Iterable[SignatureState]
) -> list[ReturnedError]:
    """Return the fixed errors that are back, those seen last first. `ask`: answers a metric.

    Raises MetricError.
    """
    fixed = {one.signature: one for one in states if one.state == "fixed" and one.fixed_day is not None}
    if not fixed:
        return []
    days = tuple(str(one.fixed_day) for one in fixed.values())
    rows = ask("returned_errors", signatures=tuple(fixed), fixed_days=days).to_dict("records")
    told = ("back_day", "last_day", "calls", "sessions")
    return [
        ReturnedError(fixed[row["signature_id"]], row["text"] or "–", *(row[name] for name in told))
        for row in rows
    ]
