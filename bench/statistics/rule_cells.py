"""Simulates how often a team's alert rules fire in a store whose rates do not change.

Each rule is checked once per night.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import numpy as np

from bench.statistics.alert_cells import BEFORE, MOST_FALSE, WALKED, DrawnStore, Store, draw_store
from bench.statistics.cells import Cell
from callgauge.analysis.measures.alert_rules import judge_bound
from callgauge.memory.alert_rules import AlertRule
from callgauge.stats import Share
from callgauge.stats.over_time.window_changes import DailySeries, follow_changes

# largest allowed share of nights on which a rule fires, if the rate is at the bound and all days are equal
MOST_AT_BOUND = 0.025
_AT = datetime(2026, 11, 1, tzinfo=UTC)
_FIRST = date(2026, 9, 1)
STORES = (Store(40), Store(4), Store(40, sizes="pareto"), Store(40, day_sd=0.3))


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often alert rules fire.

    A rule with a bound is tested with a rate at the bound, and with a rate below the bound. A rule about a
    change is tested without a change. When days differ, some days really exceed the bound, so rules may fire
    on any number of nights. With `whole`, three times as many stores are simulated.
    """
    for place, store in enumerate(STORES):
        several = [
            draw_store(store, WALKED, [seed, place, number]) for number in range(draws * (3 if whole else 1))
        ]
        most = None if store.day_sd else MOST_AT_BOUND
        for bound in (store.usual, 1.5 * store.usual):
            fired = sum(_count_fired(drawn, bound) for drawn in several)
            topic = f"nights on which a rule fires: above {bound:.1%}, at a rate of 5 %"
            yield Cell(topic, store.setting, fired, WALKED * len(several), most=most)
        raised = sum(len({change.found for change in _follow_first(drawn)}) for drawn in several)
        topic = "nights on which a rule on a change first fires"
        yield Cell(topic, store.setting, raised, WALKED * len(several), most=MOST_FALSE)


def _take_first(drawn: DrawnStore) -> DailySeries:
    place = drawn.find_place("parse_error", "model", 0)
    return DailySeries(
        drawn.series.counts[place : place + 1],
        drawn.series.sessions[place : place + 1],
        np.zeros(1, dtype=int),
    )


def _follow_first(drawn: DrawnStore):  # type: ignore[no-untyped-def]
    return follow_changes(_take_first(drawn), BEFORE).changes


def _count_fired(drawn: DrawnStore, bound: float) -> int:
    rule = AlertRule("a rule", "parse_error", "above", bound, "", _AT)
    series = _take_first(drawn)
    by_day = {}
    for day in range(series.sessions.shape[1]):
        k, n = series.counts[0, :, day].astype(float)
        by_day[_FIRST + timedelta(day)] = (
            Share.from_groups(k, n, int(series.sessions[0, day])),
            int(n.sum()),
        )
    return sum(judge_bound(rule, by_day, night).fires for night in [*by_day][-WALKED:])
