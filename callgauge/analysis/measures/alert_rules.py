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

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.measures.alerts import (
    MOST_DAYS,
    STANDS,
    Alert,
    choose_newest_days,
    choose_windows,
    find_alerts,
    first_night,
    list_nights,
)
from callgauge.analysis.measures.attention import AttentionItem, format_day, format_rate
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, make_slices
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
    share = _sum_days(known, days)
    bounds = share.interval
    is_measured = share.n >= MEASURED_ENOUGH * sum(
        total for day, (_, total) in known.items() if days[0] <= day
    )
    if bounds is None or not share.has_enough or not is_measured:
        return RuleFinding(rule, RuleState.TOO_FEW, share, days)
    is_beyond = bounds.low > rule.bound if rule.kind == "above" else bounds.high < rule.bound
    return RuleFinding(rule, RuleState.FIRES if is_beyond else RuleState.QUIET, share, days)


def _sum_days(by_day: DayShares, days: Days) -> Share:
    """Return the rate of some days together; the last of them has calls."""
    first, *others = (share for day, (share, _) in by_day.items() if days[0] <= day <= days[1])
    return sum(others, first)


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
        return RuleFinding(rule, state, _sum_days(by_day, windows.now), windows.now)
    state = RuleState.FIRES if alert.least_change >= rule.bound else RuleState.QUIET
    return RuleFinding(rule, state, alert.now, alert.days, alert.worse_since or alert.since, alert)


def describe_finding(found: RuleFinding, short_label: Callable[[str, str], str]) -> AttentionItem:
    """Return a rule that fires, in words. `short_label`: the label of a value of a dimension.

    Raises ValueError for a rule that does not fire.
    """
    if not found.fires or not found.share or not found.days or not found.since or not found.rate:
        raise ValueError(f"the rule {found.rule.name!r} does not fire")
    rule, share, last = found.rule, found.share, found.days[1]
    bound = f"{100 * rule.bound:g}"
    was = f"was {format_rate(found.alert.expected)}" if found.alert else f"rule: {rule.kind} {bound}%"
    rose = found.alert.rose if found.alert else rule.kind == "above"
    counts = f"{wording.fraction(share.k, share.n)} {found.rate.noun}s, {wording.interval(share.interval)}"
    values = " · ".join(short_label(name, its[0]) for name, its in rule.slice.items())
    own = {name: list(its) for name, its in rule.slice.items()}
    earlier = found.alert.baseline if found.alert else _days_before(found.days)
    query = arm_filters.arm_query("A", own, earlier) | arm_filters.arm_query("B", own, found.days)
    return AttentionItem(
        found.key,
        "▲" if rose else "▼",
        "red",
        f"{wording.one_line(rule.name, 60)}:",
        f"{found.rate.title.lower()} {format_rate(share.rate)} since {format_day(found.since, last)} ({was})",
        f"Rule · {counts}{f' · {values}' if values else ''}",
        "compare",
        query | {"rate": rule.rate},
        share,
    )


def _days_before(days: Days) -> Days:
    """Return as many days, just before these."""
    length = (days[1] - days[0]) + timedelta(1)
    return days[0] - length, days[1] - length
