"""Judges a team's alert rules on the newest night, by the metrics of a store.

A rule on a bound fires when the whole 95 % interval of the rate, over sessions, is beyond the bound. If the
true rate is at the bound and days are similar, the rule fires on at most 2.5 % of nights. If days differ, the
rule fires more often, because on some days the rate really is beyond the bound. A rule on a change fires when
the test of the automatic alerts (`stats.over_time.window_changes`) finds a change of this one rate. p-values
are not corrected over several rules, so ten rules have ten times the chance of a false alert.
docs/statistics.md has the simulated shares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import Enum

import pandas as pd

from callgauge.analysis.load_state import find_last_whole_day
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, make_slices
from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.kept_slices import slice_parameters
from callgauge.stats import Difference, Share, place_in_groups
from callgauge.stats.over_time.window_changes import (
    EARLIER,
    STANDS,
    WINDOWS,
    DailySeries,
    choose_first_night,
    follow_changes,
    measure_change,
)

# A bound is judged on the newest day if it has this many calls and sessions, else on the newest 7 or 30 days.
_CALLS = 100
_SESSIONS = 30  # three times the sessions that a verdict needs
_LENGTHS = (1, 7, 30)

Ask = Callable[..., pd.DataFrame]
Days = tuple[date, date]
DayShares = Mapping[date, tuple[Share, int]]
"""For each day with calls: the rate, and the number of calls including unmeasured calls."""


class RuleState(Enum):
    """The result of a rule on one night."""

    FIRES = "fires"
    QUIET = "quiet"
    TOO_FEW = "not enough calls, sessions or days"
    UNKNOWN = "its rate is not known to this version"


@dataclass(frozen=True, slots=True)
class RuleChange:
    """The change that a rule on changes found. `before` is the rate on the baseline days."""

    before: Share
    difference: Difference | None
    rose: bool
    baseline: Days

    @property
    def least_change(self) -> float:
        """The absolute value of the interval end nearer to zero, or 0 when the interval includes zero."""
        difference = self.difference
        return max(difference.low, -difference.high, 0.0) if difference else 0.0


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """The result of one rule on the newest night.

    `days` holds the first and the last judged day. `share` is the rate on these days. `days` and `share` are
    None when no day has a call. If the rule fires, `since` is the first night on which it fired, and after
    which no night was quiet. `change` is the change that a rule on changes found.
    """

    rule: AlertRule
    state: RuleState
    share: Share | None = None
    days: Days | None = None
    since: date | None = None
    change: RuleChange | None = None

    @property
    def rate(self) -> RateDefinition | None:
        return RATES.get(self.rule.rate)

    @property
    def fires(self) -> bool:
        return self.state is RuleState.FIRES

    @property
    def key(self) -> str:
        """The name of the alert in the decisions and notes. A rule that fires again later gets a new name."""
        began = self.since.isoformat() if self.since else ""
        return json.dumps(["rule", self.rule.name, began])


def judge_rules(ask: Ask, rules: Sequence[AlertRule], to_day: date | None = None) -> list[RuleFinding]:
    """Return the result of each rule on the newest night, firing rules first. Includes muted rules.

    `ask` returns the rows of a metric. `to_day` replaces the newest night by an earlier night. Raises
    MetricError.
    """
    if not rules:
        return []
    last = find_last_whole_day(ask)
    last = min(filter(None, (last, to_day)), default=None)
    if last is None:
        return [RuleFinding(rule, RuleState.TOO_FEW) for rule in rules]
    findings = [_judge_rule(ask, rule, last) for rule in rules]
    return sorted(findings, key=lambda finding: not finding.fires)


def _judge_rule(ask: Ask, rule: AlertRule, last: date) -> RuleFinding:
    if rule.rate not in RATES:
        return RuleFinding(rule, RuleState.UNKNOWN)
    rows = ask(
        "slices",
        rates=(rule.rate,),
        also="day",
        **slice_parameters(rule.slice),
        from_day=date.fromordinal(choose_first_night(last.toordinal()) - EARLIER),
        to_day=last,
    )
    rows = rows[(rows["also"] != "unknown") & (rows["total"] > 0)]
    by_day = {
        date.fromisoformat(slice_.also): (slice_.share, slice_.total)
        for slice_ in make_slices(rows, related=False)
    }
    if not by_day:
        return RuleFinding(rule, RuleState.TOO_FEW)
    if rule.kind == "changed":
        return _judge_change(rule, rows, by_day)
    newest = max(by_day)
    finding = judge_bound(rule, by_day, newest)
    return replace(finding, since=_find_first_night(rule, by_day, newest)) if finding.fires else finding


def judge_bound(rule: AlertRule, by_day: DayShares, night: date) -> RuleFinding:
    """Return the result of a rule on a bound for one night, from the rate of each day with calls."""
    up_to_night = {day: pair for day, pair in by_day.items() if day <= night}
    days = _choose_newest_days(up_to_night)
    share = _sum_days(up_to_night, days)
    bounds = share.interval
    is_measured = share.n >= MEASURED_ENOUGH * sum(
        total for day, (_, total) in up_to_night.items() if days[0] <= day
    )
    if bounds is None or not share.has_enough or not is_measured:
        return RuleFinding(rule, RuleState.TOO_FEW, share, days)
    is_beyond = bounds.low > rule.bound if rule.kind == "above" else bounds.high < rule.bound
    return RuleFinding(rule, RuleState.FIRES if is_beyond else RuleState.QUIET, share, days)


def _sum_days(by_day: DayShares, days: Days) -> Share:
    first, *others = (share for day, (share, _) in by_day.items() if days[0] <= day <= days[1])
    return sum(others, first)


def _find_first_night(rule: AlertRule, by_day: DayShares, newest: date) -> date:
    """Return the first night on which a rule fired, and after which no night was quiet."""
    since = newest
    for night in sorted((day for day in by_day if newest - timedelta(STANDS) < day < newest), reverse=True):
        state = judge_bound(rule, by_day, night).state
        if state is RuleState.QUIET:
            break
        since = night if state is RuleState.FIRES else since
    return since


def _choose_newest_days(by_day: DayShares) -> Days:
    """Return the newest 1, 7 or 30 days: the shortest span with enough calls and sessions, or 30 days."""
    newest = max(by_day)
    for length in _LENGTHS:
        start = newest - timedelta(length - 1)
        several = [pair for day, pair in by_day.items() if day >= start]
        sessions = sum(share.sessions or 0 for share, _ in several)
        if sum(total for _, total in several) >= _CALLS and sessions >= _SESSIONS:
            break
    return start, newest


def _judge_change(rule: AlertRule, rows: pd.DataFrame, by_day: DayShares) -> RuleFinding:
    newest = max(by_day)
    first = min(by_day)
    places = [(date.fromisoformat(day) - first).days for day in rows["also"]]
    by_group = place_in_groups(rows["group_ids"], rows["group_k"], rows["group_n"])
    series = DailySeries.from_days((newest - first).days + 1, places, by_group, rows["sessions"].tolist())
    start = max(0, choose_first_night(newest.toordinal()) - first.toordinal())
    walk = follow_changes(series, start)
    days = newest - timedelta(max(WINDOWS) - 1), newest
    change = next((candidate for candidate in walk.changes if candidate.over is None), None)
    if change is None or newest.toordinal() - first.toordinal() - change.since >= STANDS:
        state = RuleState.QUIET if walk.tests else RuleState.TOO_FEW
        return RuleFinding(rule, state, _sum_days(by_day, days), days)
    now = change.list_days((newest - first).days)
    measured = measure_change(series.counts[0], change.baseline, now)
    days, baseline = (
        (first + timedelta(span[0]), first + timedelta(span[-1])) for span in (now, change.baseline)
    )
    rule_change = RuleChange(measured.before, measured.difference, change.rose, baseline)
    state = RuleState.FIRES if rule_change.least_change >= rule.bound else RuleState.QUIET
    return RuleFinding(rule, state, _sum_days(by_day, days), days, days[0], rule_change)
