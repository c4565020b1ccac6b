"""Tests the content of a rate chart."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from callgauge.analysis.measures.trend_lines import (
    OTHERS,
    Level,
    Mark,
    TrendChart,
    TrendLine,
    assign_colours,
    choose_unit,
    make_trend_chart,
)
from callgauge.analysis.measures.trends import DayRate
from callgauge.stats import Share
from tests.analysis.session_shares import of_sessions

DAY = date(2026, 11, 20)  # a Friday
SEVEN = [f"model-{number}" for number in range(7)]


def on_days(*rates: tuple[int, int], step: int = 1) -> list[DayRate]:
    """Return a series with the name "a", with k hits of n calls on each day from DAY on."""
    return [
        DayRate(DAY + timedelta(days=step * place), "a", Share(k, n)) for place, (k, n) in enumerate(rates)
    ]


def chart_of(*rates: tuple[int, int], step: int = 1, **more: Any) -> TrendChart:
    return make_trend_chart(on_days(*rates, step=step), {"a": 0}, **more)


def line_of(*rates: tuple[int, int], step: int = 1, **more: Any) -> TrendLine:
    (line,) = chart_of(*rates, step=step, **more).lines
    return line


def test_a_model_keeps_its_colour_whatever_else_is_shown() -> None:
    (line,) = make_trend_chart([DayRate(DAY, "b", Share(1, 50))], assign_colours(["a", "b", "c"])).lines
    assert (line.series, line.colour) == ("b", 1)


def test_six_models_have_their_own_colours() -> None:
    assert list(assign_colours(SEVEN[:6])) == SEVEN[:6]


def test_a_series_keeps_the_colour_that_it_has_on_every_page() -> None:
    colours = assign_colours(["b", "worst", "a"], {"a": 0, "b": 1, "worst": 17})
    assert colours == {"b": 1, "worst": 2, "a": 0}


def test_of_more_models_the_rest_is_summed_into_one_grey_line() -> None:
    chart = make_trend_chart([DayRate(DAY, name, Share(1, 10)) for name in SEVEN], assign_colours(SEVEN[:5]))
    assert [line.label for line in chart.lines] == [*SEVEN[:5], OTHERS]
    rest = chart.lines[-1]
    assert (rest.series, rest.colour) == (None, None)
    assert (rest.points[0].share.k, rest.points[0].share.n) == (2, 20)


@pytest.mark.parametrize(("models", "has_panels"), [(1, False), (3, False), (4, True)])
def test_more_than_three_lines_have_a_panel_each_before_the_sum_of_all(models: int, has_panels: bool) -> None:
    names = SEVEN[:models]
    chart = make_trend_chart([DayRate(DAY, name, Share(1, 50)) for name in names], assign_colours(names))
    assert chart.has_panels == has_panels
    if chart.whole:
        assert [point.share.n for point in chart.whole.points] == [50 * models]


def test_no_line_connects_points_across_days_without_data() -> None:
    line = line_of((1, 50), (2, 50), step=9)
    assert [len(stretch) for stretch in line.split_at_gaps(timedelta(days=3))] == [1, 1]


@pytest.mark.parametrize(
    ("days", "unit"), [(0, "day"), (92, "day"), (93, "week"), (800, "week"), (801, "month")]
)
def test_a_long_time_is_drawn_by_week_or_month(days: int, unit: str) -> None:
    assert choose_unit(DAY, DAY + timedelta(days=days)).name == unit


def test_a_point_of_a_week_sums_up_its_days() -> None:
    line = line_of(*[(1, 50)] * 120)
    assert [(point.first, point.last, point.share.n) for point in line.points[:2]] == [
        (DAY, date(2026, 11, 22), 150),
        (date(2026, 11, 23), date(2026, 11, 29), 350),
    ]


def test_every_point_with_enough_data_is_within_the_scale() -> None:
    rates = [(0, 40), (40, 40), (3, 400)]
    chart = make_trend_chart(
        [
            DayRate(DAY + timedelta(place), name, Share(*rate))
            for place, rate in enumerate(rates)
            for name in "ab"
        ],
        {"a": 0, "b": 1},
    )
    assert chart.left_out == 0
    assert chart.ticks[0] <= 0
    assert chart.ticks[-1] >= 1


def test_a_point_of_little_data_far_off_is_left_out_and_does_not_flatten_the_scale() -> None:
    line = line_of((1, 100), (2, 100), (3, 3))
    assert [point.rate for point in line.points] == [0.01, 0.02]
    assert [point.rate for point in line.left_out] == [1.0]


def test_a_point_of_little_data_nearby_is_drawn_hollow() -> None:
    line = line_of((3, 100), (2, 100), (1, 29))
    assert [point.is_hollow for point in line.points] == [False, False, True]


def test_where_all_points_have_little_data_the_scale_contains_them() -> None:
    chart = chart_of((1, 4), (2, 4))
    assert chart.left_out == 0
    assert chart.ticks[-1] >= 0.5


def test_rates_near_all_do_not_begin_at_zero() -> None:
    chart = chart_of((97, 100), (95, 100), (0, 2))
    assert chart.ticks[0] > 0.5
    assert chart.left_out == 1


def test_the_interval_of_a_single_line_is_within_the_scale() -> None:
    chart = chart_of((25, 50))
    (point,) = chart.lines[0].points
    assert chart.has_intervals
    assert point.share.interval is not None
    assert chart.ticks[0] <= point.share.interval.low < point.share.interval.high <= chart.ticks[-1]


def test_a_near_goal_is_within_the_scale_and_a_far_one_does_not_stretch_it() -> None:
    assert chart_of((4, 100), (5, 100), levels=[Level("goal", 0.2)]).ticks[-1] >= 0.2
    assert chart_of((1, 1000), (2, 1000), levels=[Level("goal", 0.5)]).ticks[-1] < 0.1


def test_a_day_that_the_last_load_saw_in_part_is_partial_and_hollow() -> None:
    chart = chart_of((4, 100), (5, 100), (6, 100), last_whole=DAY + timedelta(1))
    assert [point.is_partial for point in chart.lines[0].points] == [False, False, True]
    assert chart.lines[0].points[-1].is_hollow
    assert [point.first for point in chart.partial] == [DAY + timedelta(2)]


def test_a_week_is_partial_until_its_sunday_is_over() -> None:
    days = 101  # the last day is 28 February, a Sunday
    sunday = DAY + timedelta(days - 1)
    whole, part = (
        chart_of(*[(4, 100)] * days, last_whole=last).lines[0].points[-1].is_partial
        for last in (sunday, sunday - timedelta(1))
    )
    assert (whole, part) == (False, True)


def test_a_point_of_few_sessions_is_hollow() -> None:
    days = [(DAY, 9), (DAY + timedelta(days=1), 10)]
    points = [DayRate(day, "a", of_sessions([(1, 10)] * many, range(many))) for day, many in days]
    (line,) = make_trend_chart(points, {"a": 0}).lines
    assert [point.is_hollow for point in line.points] == [True, False]


def test_the_rest_that_is_summed_keeps_a_session_of_several_models_together() -> None:
    """Each of the ten sessions uses all models. If one model fails in a session, all models fail in it."""
    share = of_sessions([(10, 10)] * 2 + [(0, 10)] * 8, range(10))
    chart = make_trend_chart([DayRate(DAY, name, share) for name in SEVEN], assign_colours(SEVEN[:5]))
    rest, line_share = (chart.lines[place].points[0].share for place in (-1, 0))
    assert (rest.n, line_share.n) == (200, 100)
    assert rest.interval == line_share.interval


def test_marks_beyond_the_days_are_left_out() -> None:
    early, late = DAY - timedelta(40), DAY + timedelta(40)
    inside = Mark("C", DAY, DAY, DAY)
    marks = [Mark("A", early, early, early), Mark("B", late, late, late), inside]
    assert chart_of((1, 50), (1, 50), marks=marks).drawn_marks == [inside]
