"""Figures are plain data that says what it shows: colours by model, gaps, intervals, no markup from a log."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from callgauge.analysis.measures.trends import DayRate
from callgauge.dashboard.charts import (
    OTHERS,
    SERIES,
    Level,
    Mark,
    choose_unit,
    draw_flow,
    draw_trend,
    series_order,
)
from callgauge.stats import Interval, Share
from tests.analysis.session_shares import of_sessions
from tests.analysis.test_trends import series

DAY = date(2026, 11, 20)
SEVEN = [f"model-{number}" for number in range(7)]
GREY = "rgba(128,128,128,0.9)"


def drawn(*given: Any, **more: Any) -> dict[str, Any]:
    return draw_trend(*given, **more).figure


def on_days(*rates: tuple[int, int], step: int = 1) -> list[DayRate]:
    """A series "a": k of n on each of the days from DAY on."""
    return [
        DayRate(DAY + timedelta(days=step * place), "a", Share(k, n)) for place, (k, n) in enumerate(rates)
    ]


def test_a_model_keeps_its_colour_whatever_else_is_shown() -> None:
    order = series_order(["a", "b", "c"])
    alone = drawn([DayRate(DAY, "b", Share(1, 50))], order)
    assert alone["data"][0]["line"]["color"] == SERIES[1]


def test_six_models_have_their_own_colours() -> None:
    assert list(series_order(SEVEN[:6])) == SEVEN[:6]


def test_a_series_keeps_the_colour_that_it_has_on_every_page() -> None:
    order = series_order(["b", "worst", "a"], {"a": 0, "b": 1, "worst": 17})
    assert order == {"b": 1, "worst": 2, "a": 0}


def test_of_more_models_the_rest_is_summed_into_one_grey_series() -> None:
    figure = drawn([DayRate(DAY, name, Share(1, 10)) for name in SEVEN], series_order(SEVEN[:5]))
    assert [trace["name"] for trace in figure["data"]] == [*SEVEN[:5], OTHERS]
    assert figure["data"][-1]["text"][0].startswith("10% · 2 / 20")
    assert figure["data"][-1]["line"]["color"] == GREY


def test_no_line_is_drawn_across_days_without_data() -> None:
    figure = drawn(
        [DayRate(DAY, "a", Share(1, 50)), DayRate(DAY + timedelta(days=9), "a", Share(2, 50))], {"a": 0}
    )
    assert figure["data"][0]["y"] == [0.02, None, 0.04]


def test_the_axis_is_time_and_a_day_without_data_keeps_its_place() -> None:
    axis = drawn(on_days((1, 50), (1, 50), step=30), {"a": 0})["layout"]["xaxis"]
    assert axis["type"] == "date"
    assert axis["range"] == ["2026-11-19 06:00", "2026-12-20 18:00"]
    assert axis["title"]["text"] == "Day (UTC)"


@pytest.mark.parametrize(
    ("days", "unit"), [(0, "day"), (92, "day"), (93, "week"), (800, "week"), (801, "month")]
)
def test_a_long_time_is_drawn_by_week_or_month(days: int, unit: str) -> None:
    assert choose_unit(DAY, DAY + timedelta(days=days)).name == unit


def test_a_point_of_a_week_sums_up_its_days() -> None:
    """20 November 2026 is a Friday."""
    trend = draw_trend(on_days(*[(1, 50)] * 120), {"a": 0})
    (line,) = trend.figure["data"]
    assert line["x"][:2] == ["2026-11-16", "2026-11-23"]
    assert line["text"][0].startswith("2.0% · 3 / 150<br>")
    assert line["text"][1].startswith("2.0% · 7 / 350<br>")
    assert trend.figure["layout"]["xaxis"]["title"]["text"] == "Week from Monday (UTC)"


def test_a_line_over_years_breaks_where_months_are_empty() -> None:
    (line,) = drawn(on_days((1, 50), (1, 50), (1, 50), step=500), {"a": 0})["data"]
    assert line["y"] == [0.02, None, 0.02, None, 0.02]


def test_a_thin_day_does_not_flatten_the_scale_and_stands_at_its_edge() -> None:
    trend = draw_trend(on_days((1, 100), (2, 100), (3, 3)), {"a": 0})
    (line,) = trend.figure["data"]
    top = trend.figure["layout"]["yaxis"]["range"][1]
    assert top < 0.1
    assert line["y"] == [0.01, 0.02, top]
    assert line["marker"]["symbol"] == ["circle", "circle", "triangle-up-open"]
    assert line["error_y"]["array"][2] == 0
    assert line["text"][2].startswith("100% · 3 / 3")
    assert trend.beyond == 1


def test_where_all_days_are_thin_the_scale_holds_them() -> None:
    trend = draw_trend(on_days((1, 4), (2, 4)), {"a": 0})
    assert trend.beyond == 0
    assert trend.figure["layout"]["yaxis"]["range"][1] >= 0.5


def test_rates_near_all_do_not_begin_at_zero() -> None:
    trend = draw_trend(on_days((97, 100), (95, 100), (0, 2)), {"a": 0})
    assert trend.figure["layout"]["yaxis"]["range"] == [pytest.approx(0.8, abs=0.11), 1.0]
    assert trend.figure["data"][0]["marker"]["symbol"][2] == "triangle-down-open"


def test_a_goal_is_a_dashed_line_with_its_words() -> None:
    layout = drawn(on_days((4, 100), (5, 100)), {"a": 0}, levels=[Level("goal ≤ 5%", 0.05)])["layout"]
    (line,) = layout["shapes"]
    assert (line["y0"], line["y1"], line["line"]["dash"]) == (0.05, 0.05, "dash")
    assert [text["text"] for text in layout["annotations"]] == ["goal ≤ 5%"]


def test_a_goal_far_beyond_the_rates_is_words_at_the_edge() -> None:
    layout = drawn(on_days((1, 1000), (2, 1000)), {"a": 0}, levels=[Level("goal ≤ 50%", 0.5)])["layout"]
    assert layout["shapes"] == []
    assert layout["yaxis"]["range"][1] < 0.1
    assert [text["text"] for text in layout["annotations"]] == ["goal ≤ 50% ↑"]


def test_a_baseline_is_a_line_in_the_band_of_its_interval() -> None:
    level = Level("baseline 4.0%", 0.04, Interval(0.03, 0.05))
    line, band = drawn(on_days((4, 100)), {"a": 0}, levels=[level])["layout"]["shapes"]
    assert (line["type"], line["y0"]) == ("line", 0.04)
    assert (band["type"], band["y0"], band["y1"]) == ("rect", 0.03, 0.05)


def test_a_chart_says_what_it_shows() -> None:
    layout = drawn(on_days((4, 100)), {"a": 0}, title="Parse <b>errors</b>", y_title="Share of turns")[
        "layout"
    ]
    assert layout["title"]["text"] == "Parse &lt;b&gt;errors&lt;/b&gt;"
    assert layout["yaxis"]["title"]["text"] == "Share of turns"


def test_a_single_series_is_named_and_its_markers_at_zero_are_whole() -> None:
    figure = drawn([DayRate(DAY, "a", Share(0, 50))], {"a": 0})
    assert figure["layout"]["showlegend"]
    assert not figure["data"][0]["cliponaxis"]


def test_a_series_is_named_by_its_label() -> None:
    (line,) = drawn([DayRate(DAY, "3f2a", Share(1, 50))], {"3f2a": 0}, named=lambda name: f"fixer@{name}")[
        "data"
    ]
    assert line["name"] == "fixer@3f2a"


def test_a_single_series_has_whiskers_and_the_axis_holds_them() -> None:
    figure = drawn([DayRate(DAY, "a", Share(25, 50))], {"a": 0})
    (above,) = figure["data"][0]["error_y"]["array"]
    assert 0.1 < above < 0.2
    assert figure["layout"]["yaxis"]["range"][1] > 0.5 + above


def test_two_series_have_none_since_theirs_would_overlap() -> None:
    figure = drawn([DayRate(DAY, name, Share(1, 50)) for name in SEVEN[:2]], series_order(SEVEN[:2]))
    assert all("error_y" not in trace for trace in figure["data"])


def test_a_point_of_few_calls_is_hollow() -> None:
    figure = drawn(
        [DayRate(DAY, "a", Share(1, 29)), DayRate(DAY + timedelta(days=1), "a", Share(1, 30))], {"a": 0}
    )
    assert figure["data"][0]["marker"]["symbol"] == ["circle-open", "circle"]


def test_a_name_cannot_bring_markup() -> None:
    figure = drawn([DayRate(DAY, "<b>x</b>", Share(1, 50))], {"<b>x</b>": 0})
    assert figure["data"][0]["name"] == "&lt;b&gt;x&lt;/b&gt;"


def test_the_interval_of_a_point_knows_that_calls_of_a_session_are_alike() -> None:
    alone = Share(10, 100)
    alike = of_sessions([(10, 10)] + [(0, 10)] * 9, range(10))  # of ten sessions one failed throughout
    texts = [drawn([DayRate(DAY, "a", share)], {"a": 0})["data"][0]["text"][0] for share in (alone, alike)]
    assert [text.split("<br>")[1] for text in texts] == ["95% 5.5–17.4%", "95% 1.2–49.6%"]


def test_a_point_of_few_sessions_is_hollow() -> None:
    days = [(DAY, 9), (DAY + timedelta(days=1), 10)]
    points = [DayRate(day, "a", of_sessions([(1, 10)] * many, range(many))) for day, many in days]
    figure = drawn(points, {"a": 0})
    assert figure["data"][0]["marker"]["symbol"] == ["circle-open", "circle"]


def test_the_rest_that_is_summed_keeps_a_session_of_several_models_together() -> None:
    """Ten sessions, each with all of the models: what fails, fails with all of them."""
    share = of_sessions([(10, 10)] * 2 + [(0, 10)] * 8, range(10))
    figure = drawn([DayRate(DAY, name, share) for name in SEVEN], series_order(SEVEN[:5]))
    rest, one = (figure["data"][place]["text"][0].split("<br>") for place in (-1, 0))
    assert (rest[0], one[0]) == ("20.0% · 40 / 200", "20.0% · 20 / 100")
    assert rest[1] == one[1]
    assert rest[1].startswith("95% ")


def test_a_flow_leads_from_the_outcomes_before_to_those_after() -> None:
    figure = draw_flow([("coerced", "clean", 5), ("coerced", "failed", 2), ("repaired", "failed", 1)])
    (trace,) = figure["data"]
    assert trace["node"]["label"] == ["coerced −7", "repaired −1", "clean +5", "failed +3"]
    assert list(
        zip(trace["link"]["source"], trace["link"]["target"], trace["link"]["value"], strict=True)
    ) == [
        (0, 2, 5),
        (0, 3, 2),
        (1, 3, 1),
    ]


def test_a_mark_is_a_line_and_a_band_where_it_may_have_been_another_day() -> None:
    day = date(2026, 11, 3)
    marks = [Mark("A", day, day, day), Mark("<b>", day, date(2026, 11, 2), date(2026, 11, 4))]
    layout = draw_trend(series("a", [1] * 5), {"a": 0}, marks).figure["layout"]
    assert [(shape["type"], shape["x0"], shape["x1"]) for shape in layout["shapes"]] == [
        ("line", "2026-11-02 12:00", "2026-11-02 12:00"),
        ("line", "2026-11-02 12:00", "2026-11-02 12:00"),
        ("rect", "2026-11-01 12:00", "2026-11-03 12:00"),
    ]
    assert [text["text"] for text in layout["annotations"]] == ["A", "&lt;b&gt;"]


def test_marks_beyond_the_days_are_left_out() -> None:
    early, late = date(2026, 10, 1), date(2026, 12, 1)
    marks = [Mark("A", early, early, early), Mark("B", late, late, late)]
    assert draw_trend(series("a", [1] * 5), {"a": 0}, marks).figure["layout"]["shapes"] == []
