"""Simulates a team's alert rules on the nights of a store in which nothing changes: how often they fire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

import numpy as np

from bench.statistics.alert_cells import MOST_FALSE, WALKED, Store, draw_series
from bench.statistics.cells import Cell
from callgauge.analysis.measures.alert_rules import judge_bound
from callgauge.analysis.measures.alerts import list_nights
from callgauge.memory.alert_rules import AlertRule
from callgauge.stats import Share
from callgauge.stats.over_time.lasting_changes import DailySeries, LastingChange, follow_changes

MOST_AT_BOUND = 0.025  # nights on which the rate is at the bound, days being alike
_RATE = 0.05  # of parse errors in a simulated store
_AT = datetime(2026, 11, 1, tzinfo=UTC)
STORES = (
    Store(2_000, 0.0, 0.0, models=1),
    Store(2_000, 0.3, 0.0, models=1),
    Store(100, 0.3, 0.0, models=1),
    Store(2_000, 0.1, 0.2, models=1),
    Store(2_000, 0.1, 0.4, models=1),
)


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often a rule on a bound fires at it and above it, and one on a change without one.

    Days that differ are not held to a band: the rate of such a day was above the bound. `whole` draws more.
    """
    random = np.random.default_rng(seed)
    for store in STORES:
        several = [
            draw_series(store, WALKED, number, random, changed_days=0)
            for number in range(draws * (3 if whole else 1))
        ]
        most = None if store.day_sd else MOST_AT_BOUND
        for bound in (_RATE, 1.5 * _RATE):
            fired = sum(_count_fired(series, bound) for series in several)
            topic = f"nights on which a rule fires: above {bound:.1%}, at a rate of 5 %"
            yield Cell(topic, store.setting, fired, WALKED * len(several), most=most)
        found = [_follow_first(series) for series in several]
        raised = sum(len({one.found for one in its}) for its in found)
        topic = "nights on which a rule on a change first fires"
        yield Cell(topic, store.setting, raised, WALKED * len(several), most=MOST_FALSE)


def _follow_first(series: DailySeries) -> tuple[LastingChange, ...]:
    """Return the changes that the nights find in the first rate, by itself."""
    calls = {day: int(n) for day, n in zip(series.days, series.sums[0, 1], strict=True)}
    nights = list_nights(series.days, calls, None, since=series.days[-WALKED])
    return follow_changes(series.take(np.array([0])), nights).changes


def _count_fired(series: DailySeries, bound: float) -> int:
    rule = AlertRule("a rule", "parse_error", "above", bound, "", _AT)
    by_day: dict[date, tuple[Share, int]] = {
        day: (series.sum_days(0, [place]), int(series.totals[0, place]))
        for place, day in enumerate(series.days)
    }
    return sum(judge_bound(rule, by_day, night).fires for night in series.days[-WALKED:])
