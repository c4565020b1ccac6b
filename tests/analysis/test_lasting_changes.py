"""Which nights find a change, what they compare, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from callgauge.analysis.measures.alerts import (
    Alert,
    AlertReport,
    choose_windows,
    find_alerts,
    first_night,
    leave_out_unused_days,
    list_nights,
)
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import GROUPS, make_shares
from callgauge.stats.over_time.day_effects import (
    LEAST_DAYS,
    DayCounts,
    compare_with_days_before,
    find_unlike_days,
)
from callgauge.stats.over_time.lasting_changes import (
    DailySeries,
    LastingChange,
    Night,
    follow_changes,
)
from callgauge.stats.rates import judge_rates
from tests.analysis.session_shares import of_slice

DAY = date(2026, 11, 20)
Counts = tuple[int, int]


def by_day(
    name: str, now: Counts, *before: Counts, rate: str = "parse_error", total: int = 0, newest: date = DAY
) -> list[Slice]:
    """Slices by day: the newest one, and 28 days before it, on which `before` is repeated."""
    each = [now, *(before[number % len(before)] for number in range(28))]
    return [
        of_slice(name, k, n, also=str(newest - timedelta(number)), rate=rate, total=total or n)
        for number, (k, n) in enumerate(each)
    ]


def report(*series: list[Slice], nights: int = 1) -> AlertReport:
    """What the last night says, or so many nights to it."""
    its = [one for several in series for one in several]
    groups = [one.share.by_group for one in its]
    rows = pd.DataFrame(
        {
            "rate": [one.rate.name for one in its],
            "slice": [one.name for one in its],
            "also": [one.also for one in its],
            "total": [one.total for one in its],
            "sessions": [one.share.sessions for one in its],
            "group_ids": [list(range(GROUPS)) for _ in its],
            "group_k": [list(each[0]) for each in groups if each is not None],
            "group_n": [list(each[1]) for each in groups if each is not None],
        }
    )
    days = sorted({date.fromisoformat(one.also) for one in its})
    calls = dict.fromkeys(days, 500)
    since = days[-nights]
    return find_alerts({"model": rows}, days, list_nights(days, calls, None, since=since))


def alerts(*series: list[Slice], nights: int = 1) -> tuple[Alert, ...]:
    return report(*series, nights=nights).alerts


# --- what a night compares -----------------------------------------------------------------------------


def test_the_newest_day_is_compared_with_the_weeks_before_when_it_has_enough_calls() -> None:
    found = choose_windows({DAY - timedelta(n): 150 for n in range(60)})
    assert found is not None
    assert found.now == (DAY, DAY)
    assert found.before == (DAY - timedelta(28), DAY - timedelta(1))
    assert (found.days_before, found.is_long_enough) == (28, True)


def test_a_quiet_newest_day_is_taken_with_its_week_and_the_past_ends_with_the_store() -> None:
    found = choose_windows({DAY: 3, DAY - timedelta(2): 400, DAY - timedelta(9): 1})
    assert found is not None
    assert found.now == (DAY - timedelta(6), DAY)
    assert found.before == (DAY - timedelta(9), DAY - timedelta(7))
    assert (found.days_before, found.is_long_enough) == (1, False)
    assert choose_windows({DAY: 3}) is None
    assert choose_windows({}) is None


@pytest.mark.parametrize(
    ("a_day", "length", "before"), [(100, 1, 28), (20, 7, 28), (3, 30, 120)], ids=["day", "week", "month"]
)
def test_the_newest_window_is_as_long_as_it_takes_for_enough_calls(
    a_day: int, length: int, before: int
) -> None:
    days = {DAY - timedelta(back): a_day for back in range(200)}
    windows = choose_windows(days, days)
    assert windows is not None
    assert (windows.now[1] - windows.now[0]).days + 1 == length
    assert (windows.before[1] - windows.before[0]).days + 1 == before


def test_nights_are_the_days_with_calls_of_six_weeks_and_a_warm_up() -> None:
    days = [DAY - timedelta(back) for back in reversed(range(200)) if back % 2]
    nights = list_nights(days, dict.fromkeys(days, 500), None, since=first_night(days[-1]))
    assert [days[night.stop - 1] for night in nights] == days[-28:]
    assert all(night.is_single and night.stop - night.start == 1 for night in nights)
    assert {night.start - night.first for night in nights} == {14}


def test_the_oldest_days_change_nothing_that_a_night_finds() -> None:
    random = np.random.default_rng(7)
    series = draw(random, days=150, bad=range(100, 135))  # long over: nights look back beyond their 28 days
    calls = dict.fromkeys(series.days, 500)
    nights = list_nights(series.days, calls, None, since=first_night(DAY))
    days, left = leave_out_unused_days(series.days, nights)
    unused = len(series.days) - len(days)
    assert 0 < unused < 150 - 56 - 28 - 1
    whole, part = follow_changes(series, nights), follow_changes(on_days(series, slice(unused, None)), left)
    assert [one.over is not None for one in whole.changes][:1] == [True]
    assert [move(one, unused) for one in part.changes] == list(whole.changes)
    assert part.compared == whole.compared


def move(change: LastingChange, days: int) -> LastingChange:
    """The same change, with its days as places in a calendar with so many older days."""
    worse_since, back, over = (
        None if place is None else place + days for place in (change.worse_since, change.back, change.over)
    )
    return replace(
        change,
        found=change.found + days,
        began=change.began + days,
        reference=tuple(place + days for place in change.reference),
        worse_since=worse_since,
        back=back,
        over=over,
    )


def on_days(series: DailySeries, days: slice) -> DailySeries:
    """The same series on some of their days."""
    return DailySeries(
        series.days[days],
        series.counts[:, :, days],
        series.sessions[:, days],
        series.totals[:, days],
        series.tables,
    )


def test_without_a_night_all_days_stay() -> None:
    assert leave_out_unused_days([DAY], []) == ([DAY], [])


# --- what it finds -------------------------------------------------------------------------------------


def test_the_worst_comes_first_and_better_ones_come_last() -> None:
    found = alerts(
        by_day("a", (30, 200), (2, 200)),
        by_day("b", (80, 200), (2, 200)),
        by_day("c", (1, 200), (20, 200)),
        by_day("same", (2, 200), (2, 200)),
    )
    assert [(one.name, one.is_worse) for one in found] == [("b", True), ("a", True), ("c", False)]
    assert [one.is_worse for one in alerts(by_day("t", (10, 100), (90, 100), rate="derived_ok"))] == [True]


def test_what_the_days_before_show_as_well_is_no_alert() -> None:
    assert alerts(by_day("steady", (20, 200), (8, 200)))
    assert not alerts(by_day("unsteady", (20, 200), (2, 200), (14, 200)))


def test_a_weekend_is_compared_with_weekends() -> None:
    assert DAY.weekday() == 4
    saturday = DAY + timedelta(1)
    days = [saturday - timedelta(number) for number in range(29)]
    rates = [(20 if day.weekday() >= 5 else 5) + number % 3 for number, day in enumerate(days)]
    several = [of_slice("a", k, 200, also=str(day)) for day, k in zip(days, rates, strict=True)]
    assert not alerts(several)
    as_on_weekdays = [of_slice("a", 6, 200, also=str(saturday)), *several[1:]]
    (found,) = alerts(as_on_weekdays)
    assert found.difference.estimate < -0.05


def test_what_was_hardly_seen_is_not_compared() -> None:
    def compared(several: list[Slice]) -> int:
        return report(several, by_day("other", (5, 100), (5, 100))).compared - 1

    assert compared(by_day("a", (5, 100), (5, 100))) == 1
    assert compared(by_day("a", (5, 10), (5, 100))) == 0
    assert compared(by_day("a", (50, 100), (5, 100), total=1000)) == 0
    assert compared(by_day("new", (50, 100), (0, 0))) == 0
    new = by_day("new", (50, 100), (5, 100))
    assert compared(new[:LEAST_DAYS]) == 0, "the newest day, and one too few before it"
    assert compared(new[: LEAST_DAYS + 1]) == 1
    for sessions, found in ((9, 0), (12, 1)):
        newest = of_slice("a", 5, 100, also=str(DAY), sessions=sessions)
        assert compared([newest, *by_day("a", (5, 100), (5, 100))[1:]]) == found


def test_without_rows_nothing_is_compared() -> None:
    columns = ["rate", "slice", "also", "total", "sessions", "group_ids", "group_k", "group_n"]
    assert find_alerts({"model": pd.DataFrame(columns=columns)}, [DAY], []) == AlertReport((), 0)


# --- what becomes of it --------------------------------------------------------------------------------


def walk(*daily: Counts) -> tuple[Alert, ...]:
    """The alerts after 28 usual days and then these."""
    usual = [(7 + number % 4, 200) for number in range(28)]
    every = [*usual, *daily]
    several = [
        of_slice("a", k, n, also=str(DAY - timedelta(back)))
        for back, (k, n) in zip(reversed(range(len(every))), every, strict=True)
    ]
    return alerts(several, nights=len(daily))


USUAL, BAD, WORSE, NONE = (8, 200), (60, 200), (170, 200), (0, 0)


@pytest.mark.parametrize("days", [1, 2, 5, 12, 30])
def test_a_change_that_stays_stays_open_against_the_days_before_it_began(days: int) -> None:
    (found,) = walk(*[BAD] * days)
    assert found.is_open
    assert found.since == DAY - timedelta(days - 1)
    assert found.baseline[1] == found.since - timedelta(1)
    assert found.days == (found.since, DAY)
    assert found.expected == pytest.approx(0.0425, abs=0.005)
    assert (found.now.k, found.now.n) == (60 * days, 200 * days)


def test_it_is_over_when_the_rate_is_back_and_shown_for_a_week() -> None:
    (found,) = walk(BAD, BAD, USUAL, USUAL)
    assert (found.back, found.over) == (DAY - timedelta(1), DAY - timedelta(1))
    assert found.days == (DAY - timedelta(3), DAY - timedelta(2))
    assert walk(BAD, BAD, *[USUAL] * 7)
    assert not walk(BAD, BAD, *[USUAL] * 8)


def test_half_way_back_is_not_back() -> None:
    (found,) = walk(*[BAD] * 4, *[(30, 200)] * 3)
    assert found.is_open


def test_days_without_observations_say_nothing() -> None:
    (found,) = walk(BAD, NONE, NONE, BAD)
    assert found.is_open


def test_a_change_that_begins_anew_is_another_with_another_key() -> None:
    (first,) = walk(BAD, BAD, USUAL, USUAL)
    again = walk(BAD, BAD, USUAL, USUAL, BAD)
    assert [one.is_open for one in again] == [True, False]
    assert again[0].since == DAY
    assert again[0].key not in {first.key, again[1].key}
    assert again[0].expected == pytest.approx(0.0425, abs=0.005), "not of the bad days before"


def test_a_change_that_becomes_twice_as_large_has_another_key() -> None:
    (before,) = walk(*[BAD] * 3)
    (after,) = walk(*[BAD] * 3, WORSE)
    assert after.worse_since == DAY
    assert after.since == DAY - timedelta(3)
    assert json_day(after) == str(DAY)
    assert json_day(before) == str(before.since)


def json_day(one: Alert) -> str:
    return one.key.rsplit('"', 2)[1]


def test_after_six_weeks_the_new_rate_is_the_usual_one() -> None:
    assert walk(*[BAD] * 42)
    assert not walk(*[BAD] * 43)


def test_the_names_of_alerts_keep_apart_what_hostile_names_mix() -> None:
    (one,) = walk(BAD)
    keys = {replace(one, dimension=a, name=b).key for a, b in (('x", "y', "z"), ("x", 'y", "z'))}
    assert len(keys) == 2


def test_an_early_night_is_the_same_whatever_comes_later() -> None:
    random = np.random.default_rng(4)
    series = draw(random, days=70, bad=range(50, 55))
    nights = [Night(stop - 29, stop - 1, stop, True) for stop in range(35, 71)]
    whole = follow_changes(series, nights)
    for length in (52, 58, 64):
        found = follow_changes(
            on_days(series, slice(length)), [night for night in nights if night.stop <= length]
        )
        expected = [
            one if one.over is None or one.over < length else replace(one, back=None, over=None)
            for one in whole.changes
            if one.found < length
        ]
        assert list(found.changes) == expected


def draw(random: np.random.Generator, *, days: int, bad: range) -> DailySeries:
    """Six series of one table; the first is bad on some days."""
    rate = np.full((6, days), 0.05) * random.lognormal(0, 0.2, (6, days))
    rate[0, bad.start : bad.stop] = 0.4
    n = random.poisson(8, (6, days, GROUPS)) + 1
    k = random.binomial(n, rate[:, :, None])
    calendar = [DAY - timedelta(back) for back in reversed(range(days))]
    totals = n.sum(axis=-1)
    return DailySeries(
        calendar, np.stack([k, n], axis=1).astype(float), totals, totals, np.zeros(6, dtype=int)
    )


# --- the same as for single rates ----------------------------------------------------------------------


def test_thousands_of_rates_are_judged_as_single_ones_are() -> None:
    random = np.random.default_rng(0)
    n = random.poisson(random.choice([0.2, 1, 5, 30], (300, 1)), (300, GROUPS)).astype(float)
    n[:, 0] += 1
    chance = random.beta(0.3, 3, (300, GROUPS)) * random.choice([0, 0.1, 1], (300, 1))
    counts = np.stack([random.binomial(n.astype(int), chance).astype(float), n], axis=1)
    sessions, tables = (n > 0).sum(axis=1), np.arange(300) // 10
    shares = make_shares(
        [
            (int(k.sum()), int(n.sum()), int(several))
            for (k, n), several in zip(counts, sessions, strict=True)
        ],
        counts,
        tables.tolist(),
    )
    enough, effects = judge_rates(counts, sessions, tables)
    assert enough.tolist() == [one.has_enough for one in shares]
    assert effects == pytest.approx([one.design_effect for one in shares], rel=1e-12)


def test_the_p_values_of_many_series_are_those_of_each() -> None:
    random = np.random.default_rng(1)
    k, n = random.binomial(100, 0.1, (40, 20)), np.full((40, 20), 100)
    weekend = np.array([day % 7 > 4 for day in range(21)])
    before = DayCounts(k, n, np.ones((40, 1)), weekend[:20])
    now = DayCounts(
        random.binomial(100, 0.17, (40, 1)), np.full((40, 1), 100), np.ones((40, 1)), weekend[20:]
    )
    rows = replace(before, weekend=np.broadcast_to(weekend[:20], (40, 20)))
    p, rose = find_unlike_days(rows, replace(now, weekend=np.broadcast_to(weekend[20:], (40, 1))))
    for each, one, up in zip(compare_with_days_before(before, now), p, rose, strict=True):
        assert each is not None
        assert one == pytest.approx(each.p) if each.p <= 0.05 else one == 1
        assert up == (each.estimate > 0) or one == 1
