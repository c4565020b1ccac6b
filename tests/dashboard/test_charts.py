"""Figures are plain data that says what it shows: colours by model, gaps, intervals, no markup from a log."""

from __future__ import annotations

from datetime import date, timedelta

from callgauge.dashboard.charts import OTHERS, SERIES, DayRate, draw_flow, draw_trend, series_order
from callgauge.stats import Share
from tests.dashboard.session_shares import of_sessions

DAY = date(2026, 11, 20)
SEVEN = [f"model-{number}" for number in range(7)]


def test_a_model_keeps_its_colour_whatever_else_is_shown() -> None:
    order = series_order(["a", "b", "c"])
    alone = draw_trend([DayRate(DAY, "b", Share(1, 50))], order)
    assert alone["data"][0]["line"]["color"] == SERIES[1]


def test_six_models_have_their_own_colours() -> None:
    assert list(series_order(SEVEN[:6])) == SEVEN[:6]


def test_of_more_models_the_rest_is_summed_into_one_series() -> None:
    figure = draw_trend([DayRate(DAY, name, Share(1, 10)) for name in SEVEN], series_order(SEVEN))
    assert [trace["name"] for trace in figure["data"]] == [*SEVEN[:5], OTHERS]
    assert figure["data"][-1]["text"][0].startswith("10% · 2 / 20")
    assert figure["data"][-1]["line"]["color"] == SERIES[5]


def test_no_line_is_drawn_across_days_without_data() -> None:
    figure = draw_trend(
        [DayRate(DAY, "a", Share(1, 50)), DayRate(DAY + timedelta(days=9), "a", Share(2, 50))], {"a": 0}
    )
    assert figure["data"][0]["y"] == [0.02, None, 0.04]


def test_each_day_with_data_has_its_place_and_of_few_days_each_its_tick() -> None:
    days = [DAY, DAY + timedelta(days=1), DAY + timedelta(days=60)]
    axis = draw_trend([DayRate(day, "a", Share(1, 50)) for day in days], {"a": 0})["layout"]["xaxis"]
    assert axis["categoryarray"] == ["2026-11-20", "2026-11-21", "2027-01-19"]
    assert axis["ticktext"] == ["Nov 20<br>2026", "Nov 21", "Jan 19<br>2027"]


def test_of_many_days_a_few_have_a_tick_the_newest_among_them() -> None:
    days = [DAY + timedelta(days=number) for number in range(30)]
    axis = draw_trend([DayRate(day, "a", Share(1, 50)) for day in days], {"a": 0})["layout"]["xaxis"]
    assert len(axis["tickvals"]) == 8
    assert axis["tickvals"][-1] == "2026-12-19"


def test_a_single_series_is_named_and_its_markers_at_zero_are_whole() -> None:
    figure = draw_trend([DayRate(DAY, "a", Share(0, 50))], {"a": 0})
    assert figure["layout"]["showlegend"]
    assert not figure["data"][0]["cliponaxis"]


def test_a_single_series_has_whiskers_and_the_axis_holds_them() -> None:
    figure = draw_trend([DayRate(DAY, "a", Share(25, 50))], {"a": 0})
    (above,) = figure["data"][0]["error_y"]["array"]
    assert 0.1 < above < 0.2
    assert figure["layout"]["yaxis"]["range"][1] > 0.5 + above


def test_two_series_have_none_since_theirs_would_overlap() -> None:
    figure = draw_trend([DayRate(DAY, name, Share(1, 50)) for name in SEVEN[:2]], series_order(SEVEN[:2]))
    assert all("error_y" not in trace for trace in figure["data"])


def test_a_point_of_few_calls_is_hollow() -> None:
    figure = draw_trend(
        [DayRate(DAY, "a", Share(1, 29)), DayRate(DAY + timedelta(days=1), "a", Share(1, 30))], {"a": 0}
    )
    assert figure["data"][0]["marker"]["symbol"] == ["circle-open", "circle"]


def test_a_name_cannot_bring_markup() -> None:
    figure = draw_trend([DayRate(DAY, "<b>x</b>", Share(1, 50))], {"<b>x</b>": 0})
    assert figure["data"][0]["name"] == "&lt;b&gt;x&lt;/b&gt;"


def test_the_interval_of_a_point_knows_that_calls_of_a_session_are_alike() -> None:
    alone = Share(10, 100)
    alike = of_sessions([(10, 10)] + [(0, 10)] * 9, range(10))  # of ten sessions one failed throughout
    spans = [
        draw_trend([DayRate(DAY, "a", share)], {"a": 0})["data"][0]["error_y"] for share in (alone, alike)
    ]
    assert spans[1]["array"][0] > 2 * spans[0]["array"][0]


def test_a_point_of_few_sessions_is_hollow() -> None:
    days = [(DAY, 9), (DAY + timedelta(days=1), 10)]
    points = [DayRate(day, "a", of_sessions([(1, 10)] * many, range(many))) for day, many in days]
    figure = draw_trend(points, {"a": 0})
    assert figure["data"][0]["marker"]["symbol"] == ["circle-open", "circle"]


def test_the_rest_that_is_summed_keeps_a_session_of_several_models_together() -> None:
    """Ten sessions, each with all of the models: what fails, fails with all of them."""
    share = of_sessions([(10, 10)] * 2 + [(0, 10)] * 8, range(10))
    figure = draw_trend([DayRate(DAY, name, share) for name in SEVEN], series_order(SEVEN))
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
