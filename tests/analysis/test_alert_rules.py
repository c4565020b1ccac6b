"""Tests that alert rules fire only if there is enough evidence, and that an alert names its first day."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.measures.alert_rules import RuleFinding, RuleState, judge_rules
from callgauge.analysis.metrics.published_store import read_store
from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.kept_slices import KeptSlice
from tests.analysis.made_nights import LAST, Rate, publish_nights, regressed, usual_rate
from tests.analysis.store_fixture import a_call, publish

SINCE = date(2026, 11, 12)
KESTREL: KeptSlice = {"model": ("kestrel-14b",)}


def a_rule(
    kind: Any, bound: float, slice_values: KeptSlice = KESTREL, rate: str = "parse_error"
) -> AlertRule:
    return AlertRule("a rule", rate, kind, bound, "Ada", datetime(2026, 11, 1, tzinfo=UTC), slice_values)


def judge(store: Path, rule: AlertRule, rate: Rate = usual_rate, to_day: date | None = None) -> RuleFinding:
    publish_nights(store, rate)
    with read_store(store, texts=True) as reader:
        (finding,) = judge_rules(reader.ask, [rule], to_day)
    return finding


def test_a_rule_on_a_bound_fires_once_the_whole_interval_is_beyond_it_and_says_since_when(
    store: Path,
) -> None:
    finding = judge(store, a_rule("above", 0.1), regressed(SINCE))
    assert finding.state is RuleState.FIRES
    assert finding.share
    assert finding.share.interval
    assert finding.share.interval.low > 0.1
    # There are only 70 calls a day, so rates are tested by week. The alert starts with the first week that
    # has enough data.
    assert finding.days == (date(2026, 11, 14), LAST)
    assert finding.since == date(2026, 11, 14)
    assert json.loads(finding.key) == ["rule", "a rule", "2026-11-14"]


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(
    ("rule", "state"),
    [
        (a_rule("above", 0.3), RuleState.QUIET),
        (a_rule("above", 0.1, {"model": ("falcon-3",)}), RuleState.QUIET),
        (a_rule("below", 0.5), RuleState.FIRES),
        (a_rule("below", 0.3), RuleState.QUIET),
        (a_rule("above", 0.0, {"model": ("nobody",)}), RuleState.TOO_FEW),
        (a_rule("above", 0.1, rate="a rate of a later version"), RuleState.UNKNOWN),
        (a_rule("changed", 0.0), RuleState.FIRES),
        (a_rule("changed", 0.1), RuleState.FIRES),
        (a_rule("changed", 0.4), RuleState.QUIET),
        (a_rule("changed", 0.0, {"model": ("falcon-3",)}), RuleState.QUIET),
        (a_rule("changed", 0.0, {"model": ("nobody",)}), RuleState.TOO_FEW),
    ],
    ids=lambda value: f"{value.kind} {value.bound}" if isinstance(value, AlertRule) else value.name,
)
def test_what_a_night_says_of_a_rule(store: Path, rule: AlertRule, state: RuleState) -> None:
    assert judge(store, rule, regressed(SINCE)).state is state


def test_a_changed_rate_comes_with_its_first_day_and_what_was_usual(store: Path) -> None:
    finding = judge(store, a_rule("changed", 0.05), regressed(SINCE))
    assert finding.change
    assert finding.since == SINCE
    assert finding.share
    assert (finding.change.before.rate or 0) < 0.1 < (finding.share.rate or 0)


def test_a_night_before_the_change_is_quiet(store: Path) -> None:
    for kind in ("above", "changed"):
        finding = judge(store, a_rule(kind, 0.1), regressed(SINCE), to_day=date(2026, 11, 11))
        assert finding.state is RuleState.QUIET


def test_a_few_bad_calls_are_too_few_to_fire(store: Path) -> None:
    calls = [a_call(number, outcome="failed", fault_layer="syntax") for number in range(1, 6)]
    publish(store, {"tool_calls": calls})
    with read_store(store, texts=True) as reader:
        (finding,) = judge_rules(reader.ask, [a_rule("above", 0.1, {})])
    assert finding.state is RuleState.TOO_FEW
    assert not finding.fires


def test_rules_that_fire_come_first_and_no_rule_asks_nothing(store: Path) -> None:
    publish_nights(store, regressed(SINCE))
    with read_store(store, texts=True) as reader:
        findings = judge_rules(reader.ask, [a_rule("above", 0.9), a_rule("above", 0.1)])
        assert [finding.fires for finding in findings] == [True, False]

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a metric was asked")

    assert judge_rules(refuse, []) == []
