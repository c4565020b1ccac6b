"""Tests daily series and the changes in them."""

from __future__ import annotations

from datetime import date, timedelta

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.measures.trends import (
    ENOUGH_DAYS,
    DayRate,
    describe_named,
    examined_series,
    find_shifts,
    find_version_shifts,
    group_by_day,
    name_series,
    order_versions,
)
from callgauge.stats import Share
from tests.analysis.session_shares import of_sessions, of_slice

START = date(2026, 11, 1)


def series(name: str, ks: list[int], n: int = 100) -> list[DayRate]:
    return [DayRate(START + timedelta(place), name, Share(k, n)) for place, k in enumerate(ks)]


def test_slices_become_series_in_the_order_of_their_days() -> None:
    days = [("2026-11-02", 5), ("unknown", 5), ("2026-11-01", 5), ("2026-11-03", 0)]
    points = group_by_day([Slice(RATES["parse_error"], "a", day, Share(0, n), 9) for day, n in days])
    assert [point.day.day for point in points["a"]] == [1, 2]


def test_a_shift_has_its_day_and_the_days_it_may_have_been() -> None:
    points = {"a": series("a", [5] * 10 + [20] * 10), "steady": series("steady", [5, 6] * 10)}
    (shift,) = find_shifts(points)
    assert (shift.series, shift.day) == ("a", date(2026, 11, 11))
    assert shift.first <= shift.day <= shift.last
    assert (shift.before, shift.after) == (0.05, 0.2)


def test_a_series_too_short_for_any_certainty_is_not_examined() -> None:
    clear = [0] * 5 + [100] * (ENOUGH_DAYS - 6)
    assert examined_series({"a": series("a", clear)}) == []
    assert len(find_shifts({"a": series("a", [0] * 5 + [100] * (ENOUGH_DAYS - 5))})) == 1


def many_series() -> dict[str, list[DayRate]]:
    """Return eight series, the most used first. "h" has a bad rate but too little data. "g" and "e" have the
    next worst rates.
    """
    rates = {"a": 1, "b": 2, "c": 3, "d": 1, "e": 30, "f": 2, "g": 40}
    points = {name: series(name, [k] * 3, 100) for name, k in rates.items()}
    for place, points_of_series in enumerate(points.values()):
        points_of_series.append(
            DayRate(START + timedelta(9), points_of_series[0].series, Share(0, 100 - place))
        )
    return points | {"h": series("h", [5], 5)}


def test_the_most_used_and_the_worst_are_named() -> None:
    rate = RATES["parse_error"]
    assert name_series(many_series(), rate) == ["a", "b", "c", "e", "g"]
    few = {name: points for name, points in many_series().items() if name < "g"}
    assert name_series(few, rate) == ["a", "b", "c", "d", "e", "f"]
    assert describe_named(many_series(), rate) == (
        "Named of 8: the 3 most used, and the 2 worst others with enough sessions."
    )


def test_a_session_that_goes_on_for_days_counts_once_for_who_is_among_the_worst() -> None:
    three = of_sessions([(20, 30), (20, 30), (20, 30)])
    # the days add up to 18 observations
    days = [DayRate(START + timedelta(day), "long", three) for day in range(6)]
    used = {name: series(name, [1] * 9) for name in "abc"}
    thin = {name: series(name, [0], 9) for name in "vwxyz"}
    assert describe_named(used | {"long": days} | thin, RATES["parse_error"]) == (
        "Named: the 5 most used of 9."
    )
    assert describe_named(
        used | {"f": series("f", [1] * 2)} | {"long": days} | thin, RATES["parse_error"]
    ) == ("Named of 10: the 4 most used, and the worst other with enough sessions.")


def test_of_a_rate_of_which_more_is_better_the_lowest_are_the_worst() -> None:
    assert name_series(many_series(), RATES["recovered"]) == ["a", "b", "c", "d", "f"]


def test_of_a_rate_without_better_or_worse_the_most_used_are_named() -> None:
    assert name_series(many_series(), RATES["refused"]) == ["a", "b", "c", "d", "e"]
    assert describe_named(many_series(), RATES["refused"]) == "Named: the 5 most used of 8."


def of_version(version: str, day: str, k: int, n: int = 200) -> Slice:
    return Slice(RATES["parse_error"], version, day, Share(k, n), n)


def test_versions_stand_in_the_order_of_their_first_day() -> None:
    uses = [("2.0", "2026-11-03"), ("1.9", "2026-11-01"), ("2.0", "2026-11-02"), ("1.10", "2026-11-02")]
    used = order_versions(
        [of_version(*use, k=1) for use in (*uses, ("unknown", "2026-10-01"), ("3", "unknown"))]
    )
    assert [(day, slice_.name, slice_.share.n) for day, slice_ in used] == [
        ("2026-11-01", "1.9", 200),
        ("2026-11-02", "1.10", 200),
        ("2026-11-02", "2.0", 400),
    ]


def test_the_first_bad_version_is_named() -> None:
    ks = [2] * 9 + [20] * 9
    used = order_versions(
        of_version(f"1.{place}", f"2026-11-{place + 1:02d}", k) for place, k in enumerate(ks)
    )
    shifts = find_version_shifts(used)
    assert shifts is not None
    (shift,) = shifts
    assert (shift.version, shift.before, shift.after) == ("1.9", 0.01, 0.1)
    assert find_version_shifts(used[:9]) is None, "too few to tell"
    assert find_version_shifts([(day, of_version(slice_.name, day, 2)) for day, slice_ in used]) == []


def test_a_trend_does_not_end_in_a_day_that_was_not_over() -> None:
    several = [of_slice("owl", 1, 30, also=f"2026-11-{day}") for day in (18, 19, 20)]
    points = group_by_day(several, date(2026, 11, 19))
    assert [point.day.day for point in points["owl"]] == [18, 19]
    assert [point.day.day for point in group_by_day(several, date(2026, 11, 1))["owl"]] == [18, 19, 20]
