"""What needs attention on the newest night, found by the metrics of a store, and each item in words.

The Overview and the morning report say the same of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Literal

import pandas as pd

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.measures.alerts import (
    MOST_DAYS,
    Alert,
    AlertReport,
    NewError,
    choose_windows,
    find_alerts,
    find_echoes,
    first_night,
    leave_out_unused_days,
    list_nights,
)
from callgauge.memory.signature_states import SignatureState
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
    # Every call counts for this rate, once.
    rows = ask("slices", rates=("emission",), also="day", **within)
    rows = rows[rows["also"] != "unknown"].sort_values("also")
    if rows.empty:
        return None
    days = [date.fromisoformat(day) for day in rows["also"]]
    calls, sessions = (dict(zip(days, rows[name], strict=True)) for name in ("total", "sessions"))
    errors = ask("new_errors", newest=last, least_days=LEAST_DAYS, **_without_days(chosen))
    new = tuple(NewError(*row) for row in errors.itertuples(index=False, name=None))
    windows, newest = choose_windows(calls, sessions), days[-1]
    before = windows.days_before if windows else None
    if windows is None or not windows.is_long_enough:
        return Attention(newest, before, None, new)
    every_night = list_nights(days, calls, sessions, since=first_night(newest))
    used, nights = leave_out_unused_days(days, every_night)
    within["from_day"] = used[0]
    by_day = {
        dimension: ask("slices", rates=rates, by=dimension, also="day", **within)
        for dimension, rates in _LOOKED_AT.items()
    }
    return Attention(newest, before, find_alerts(by_day, used, nights), new)


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
    query = arm_filters.arm_query("A", own, one.baseline) | arm_filters.arm_query("B", own, one.days)
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


def describe_returned(one: ReturnedError) -> AttentionItem:
    """Return an error that is back, in words."""
    version = f" in {wording.one_line(one.state.fixed_in, 40)}" if one.state.fixed_in else ""
    fixed = one.state.fixed_day or one.back_day
    return AttentionItem(
        one.key,
        "▲",
        "red",
        f"Fixed and back: {wording.quote(one.text, 60)},",
        f"{wording.plural(one.calls, 'call')} since {format_day(one.back_day, one.last_day)}",
        f"Fixed{version} on {format_day(fixed, one.last_day)} · {wording.plural(one.sessions, 'session')}",
        "errors",
        {"signature": one.state.signature},
    )
