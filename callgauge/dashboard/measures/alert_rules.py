"""Judges a team's alert rules on the newest night, by the metrics of a store.

A rule on a bound fires when the whole 95 % interval of the rate lies beyond it, over sessions: while days are
alike, a rate at the bound fires on at most 2.5 % of nights. Days that differ fire more often: on such a day
the rate was beyond the bound. A rule on a change fires when the automatic alerts would (`measures.alerts`),
for this one rate: on at most 5 % of nights without a change. Every rule is judged by itself, as a person
chose it before the night; ten rules have ten times the chance of one.
docs/statistics.md has the simulated shares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum

import pandas as pd

from callgauge.dashboard.measures.alerts import (
    MOST_DAYS,
    STANDS,
    Alert,
    choose_newest_days,
    choose_windows,
    find_alerts,
    first_night,
    list_nights,
)
from callgauge.dashboard.measures.rates import RATES, RateDefinition
from callgauge.dashboard.measures.slices import MEASURED_ENOUGH, make_slices
from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.kept_slices import slice_parameters
from callgauge.stats import Share

Ask = Callable[..., pd.DataFrame]
Days = tuple[date, date]
DayShares = Mapping[date, tuple[Share, int]]
"""The rate of each day with calls, and how many there were in all: what could not be measured, too."""


class RuleState(Enum):
    """What a night says of a rule."""

    FIRES = "fires"
    QUIET = "quiet"
    TOO_FEW = "too few calls, sessions or days to tell"
    UNKNOWN = "its rate is not known to this version"


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """What the newest night says of one rule.

    `days`: the newest 1, 7 or 30 days that it was judged on, both inclusive, and `share` its rate on them;
    both None without a call. `since`: the first night without a quiet one after it, where it fires. `alert`:
    the change that a rule on changes found, with what was usual before.
    """

    rule: AlertRule
    state: RuleState
    share: Share | None = None
    days: Days | None = None
    since: date | None = None
    alert: Alert | None = None

    @property
    def rate(self) -> RateDefinition | None:
        return RATES.get(self.rule.rate)

    @property
    def fires(self) -> bool:
        return self.state is RuleState.FIRES

    @property
    def key(self) -> str:
        """The name of the alert in the team's memory; one that begins anew has another."""
        began = self.since.isoformat() if self.since else ""
        return json.dumps(["rule", self.rule.name, began])


def judge_rules(ask: Ask, rules: Sequence[AlertRule], to_day: date | None = None) -> list[RuleFinding]:
    """Return what the newest night says of each rule, those that fire first; muted rules are judged, too.

    `ask`: answers a metric. `to_day`: the night, if not the newest day of the store. Raises MetricError.
    """
    if not rules:
        return []
    last = ask("extent").iloc[0].last_day
    last = min(filter(None, (last, to_day)), default=None)
    if last is None:
        return [RuleFinding(rule, RuleState.TOO_FEW) for rule in rules]
    found = [_judge_rule(ask, rule, last) for rule in rules]
    return sorted(found, key=lambda one: not one.fires)


def _judge_rule(ask: Ask, rule: AlertRule, last: date) -> RuleFinding:
    if rule.rate not in RATES:
        return RuleFinding(rule, RuleState.UNKNOWN)
    rows = ask(
        "slices",
        rates=(rule.rate,),
        also="day",
        **slice_parameters(rule.slice),
        from_day=last - timedelta(MOST_DAYS),
        to_day=last,
    )
    rows = rows[(rows["also"] != "unknown") & (rows["total"] > 0)]
    by_day = {
        date.fromisoformat(one.also): (one.share, one.total) for one in make_slices(rows, related=False)
    }
    if not by_day:
        return RuleFinding(rule, RuleState.TOO_FEW)
    if rule.kind == "changed":
        return _judge_change(rule, rows, by_day)
    newest = max(by_day)
    found = judge_bound(rule, by_day, newest)
    return replace(found, since=_find_first_night(rule, by_day, newest)) if found.fires else found


def judge_bound(rule: AlertRule, by_day: DayShares, night: date) -> RuleFinding:
    """Return what a night says of a rule on a bound, given the rate of each day with calls."""
    known = {day: pair for day, pair in by_day.items() if day <= night}
    days = choose_newest_days(*_count_days(known))
    its = [pair for day, pair in known.items() if days[0] <= day]
    share = sum((share for share, _ in its[1:]), its[0][0])
    bounds = share.interval
    is_measured = share.n >= MEASURED_ENOUGH * sum(total for _, total in its)
    if bounds is None or not share.has_enough or not is_measured:
        return RuleFinding(rule, RuleState.TOO_FEW, share, days)
    is_beyond = bounds.low > rule.bound if rule.kind == "above" else bounds.high < rule.bound
    return RuleFinding(rule, RuleState.FIRES if is_beyond else RuleState.QUIET, share, days)


def _find_first_night(rule: AlertRule, by_day: DayShares, newest: date) -> date:
    """Return the first of the nights on which a rule fired without a quiet night since."""
    since = newest
    for night in sorted((day for day in by_day if newest - timedelta(STANDS) < day < newest), reverse=True):
        state = judge_bound(rule, by_day, night).state
        if state is RuleState.QUIET:
            break
        since = night if state is RuleState.FIRES else since
    return since


def _count_days(by_day: DayShares) -> tuple[dict[date, int], dict[date, int]]:
    """Return how many there are on each day, and in how many sessions."""
    sessions = {day: share.sessions or 0 for day, (share, _) in by_day.items()}
    return {day: total for day, (_, total) in by_day.items()}, sessions


def _judge_change(rule: AlertRule, rows: pd.DataFrame, by_day: DayShares) -> RuleFinding:
    totals, sessions = _count_days(by_day)
    days = sorted(totals)
    windows = choose_windows(totals, sessions)
    if windows is None or not windows.is_long_enough:
        return RuleFinding(rule, RuleState.TOO_FEW)
    nights = list_nights(days, totals, sessions, since=first_night(days[-1]))
    report = find_alerts({"all": rows}, days, nights)
    alert = next((one for one in report.alerts if one.is_open), None)
    if alert is None:
        state = RuleState.QUIET if report.compared else RuleState.TOO_FEW
        return RuleFinding(rule, state, days=windows.now)
    state = RuleState.FIRES if alert.least_change >= rule.bound else RuleState.QUIET
    return RuleFinding(rule, state, alert.now, alert.days, alert.worse_since or alert.since, alert)
