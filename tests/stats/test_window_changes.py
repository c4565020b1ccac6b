"""Tests the changes of rates that nightly runs find. A change has a first day, and belongs to a series."""

from __future__ import annotations

import numpy as np
import pytest

from callgauge.stats import GROUPS, Share, compare_estimates
from callgauge.stats.differences import find_small_p
from callgauge.stats.over_time.window_changes import (
    BEFORE,
    STANDS,
    DailySeries,
    WindowChange,
    choose_first_night,
    follow_changes,
    locate_change,
    measure_change,
)
from callgauge.stats.rates import estimate_rates, relate_shares

DAYS = 70
FIRST = 40  # the day of the first nightly run


def draw(rates: list[float], seed: int = 1, sessions: int = 40) -> np.ndarray:
    """Return k and n of a simulated series. Sessions have six calls. `rates` has the rate of each day."""
    random = np.random.default_rng(seed)
    counts = np.zeros((2, len(rates), GROUPS))
    for day, rate in enumerate(rates):
        group = random.integers(0, GROUPS, sessions)
        counts[0, day] = np.bincount(group, random.binomial(6, rate, sessions), GROUPS)
        counts[1, day] = np.bincount(group, minlength=GROUPS) * 6
    return counts


def series(*counts: np.ndarray) -> DailySeries:
    several = np.stack(counts)
    return DailySeries(
        several.astype(np.float32), several[:, 1].sum(-1) / 6, np.zeros(len(several), dtype=int)
    )


def walk(*rates: list[float], seed: int = 1) -> tuple[WindowChange, ...]:
    return follow_changes(
        series(*(draw(rates_of_series, seed + n) for n, rates_of_series in enumerate(rates))), FIRST
    ).changes


def changed(since: int, until: int = DAYS, *, usual: float = 0.03, to: float = 0.2) -> list[float]:
    return [to if since <= day < until else usual for day in range(DAYS)]


def test_estimates_of_many_rates_are_those_of_a_table() -> None:
    counts = np.stack([draw([rate] * 20, seed=n).sum(1) for n, rate in enumerate((0.02, 0.05, 0.1, 0.1))])
    tables = np.array([0, 0, 1, 1])
    shares = relate_shares([Share.from_groups(each[0], each[1], 800) for each in counts], tables.tolist())
    estimates = estimate_rates(counts, np.full(4, 800), tables)
    for row, share in enumerate(shares):
        assert share.estimate
        estimate = estimates.make_estimate(row)
        assert estimate.effective_n == pytest.approx(share.estimate.effective_n)
        assert estimate.freedom == pytest.approx(share.estimate.freedom)
        assert estimates.has_enough[row] == share.has_enough


def test_small_p_values_are_those_of_compare_estimates_and_large_ones_are_1() -> None:
    counts = np.stack([draw([rate] * 20, seed=n).sum(1) for n, rate in enumerate((0.05, 0.06, 0.12, 0.05))])
    estimates = estimate_rates(counts, np.full(4, 800), np.zeros(4, dtype=int))
    first, other = estimates.take(np.array([0, 2])), estimates.take(np.array([3, 1]))
    pairs = [(first.make_estimate(row), other.make_estimate(row)) for row in range(2)]
    same, risen = (difference.p for difference in compare_estimates(pairs))
    assert same > 0.05
    assert find_small_p(first, other).tolist() == [1.0, pytest.approx(risen)]


def test_a_change_is_found_with_its_first_day_and_baseline() -> None:
    (change,) = walk(changed(55), changed(DAYS))
    assert (change.series, change.rose, change.over) == (0, True, None)
    assert change.since == 55
    assert 55 <= change.found <= 57
    assert change.baseline == tuple(range(55 - BEFORE, 55))
    assert change.q <= 0.02


def test_a_rate_that_falls_is_a_change_too() -> None:
    (change,) = walk(changed(55, usual=0.3, to=0.05))
    assert not change.rose


def test_a_series_in_which_nothing_changes_has_none() -> None:
    assert walk(*([0.05] * DAYS for _ in range(6))) == ()


def test_a_change_is_over_within_a_week_after_the_rate_is_back_and_its_days_are_no_baseline() -> None:
    rates = [0.2 if 45 <= day < 53 or day >= 64 else 0.03 for day in range(DAYS)]
    first, second = walk(rates)
    assert first.since == 45
    assert first.over is not None
    assert 53 <= (first.back or 0) <= first.over <= 60
    assert second.since == 64
    assert set(second.baseline).isdisjoint(range(45, first.back or 45))
    assert len(second.baseline) == BEFORE


def test_an_open_change_stays_while_it_lasts_and_then_is_the_usual_rate() -> None:
    counts = draw([0.03] * 40 + [0.2] * (STANDS + 20))
    changes = follow_changes(series(counts), FIRST).changes
    assert [(change.since, change.over) for change in changes] == [(40, None)]


def test_a_change_needs_enough_sessions_and_days_before() -> None:
    few = draw(changed(55), sessions=2)
    assert follow_changes(series(few[:, :58]), FIRST).changes == ()
    short = draw([0.03] * 4 + [0.3] * 3)
    assert follow_changes(series(short), 0).changes == ()


def test_the_newest_night_says_how_much_it_tested() -> None:
    changes = follow_changes(series(draw([0.05] * DAYS), draw([0.05] * DAYS, sessions=1)), FIRST)
    # There is one session per day, so only the window of fourteen days has enough sessions.
    assert (changes.series, changes.tests) == (2, 5)


def test_days_that_differ_make_a_change_less_sure() -> None:
    random = np.random.default_rng(5)
    before, now = list(range(28)), list(range(28, 35))
    calm = draw([0.05] * 28 + [0.09] * 7)
    rates = [float(rate) for rate in random.choice([0.01, 0.09], 28)]
    restless = draw(rates + [0.09] * 7)
    sure, unsure = (measure_change(counts, before, now).difference for counts in (calm, restless))
    assert sure
    assert unsure
    assert sure.high - sure.low < unsure.high - unsure.low
    assert sure.p < unsure.p


def test_a_change_is_in_one_part_alone_in_one_most_or_in_none() -> None:
    before, now = list(range(28)), list(range(28, 40))

    def halves(first: float, other: float) -> list[np.ndarray]:
        return [draw([0.03] * 28 + [rate] * 12, seed=n) for n, rate in enumerate((first, other))]

    for parts, place in (
        (halves(0.03, 0.2), (1, True)),
        (halves(0.3, 0.07), (0, False)),
        (halves(0.1, 0.1), None),
    ):
        assert locate_change(parts[0] + parts[1], parts, before, now) == place


def test_the_first_night_stays_the_same_for_four_weeks() -> None:
    newest = 28 * 26_000
    firsts = {choose_first_night(newest + day) for day in range(28)}
    assert len(firsts) == 1
    assert newest - min(firsts) >= STANDS
