"""Tests charts of query results. A chart says which rows are omitted, and escapes log content."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from callgauge.dashboard.charts import SERIES
from callgauge.dashboard.pages.sql.query_charts import plot_result
from tests.analysis.store_fixture import HOSTILE


def test_bars_stand_over_their_names_in_order() -> None:
    plot = plot_result("bar", "calls", ["b", "a", None], [Decimal(2), 3, 5])
    assert plot.figure is not None
    (trace,) = plot.figure["data"]
    assert (trace["type"], trace["x"], trace["y"]) == ("bar", [0, 1], [2.0, 3.0])
    assert plot.figure["layout"]["xaxis"]["ticktext"] == ["b", "a"]
    assert plot.left_out == "1 row without a place or a number not drawn."


def test_bars_of_several_colours_stand_in_the_order_of_the_rows_and_the_largest_have_a_colour() -> None:
    days = [date(2026, 1, 1), date(2026, 1, 1), date(2026, 1, 5), date(2026, 2, 1)]
    plot = plot_result("bar", "calls", days, [1, 2, 3, 9], ["a", "b", "a", "b"])
    assert plot.figure is not None
    assert plot.figure["layout"]["xaxis"]["ticktext"] == ["2026-01-01", "2026-01-05", "2026-02-01"]
    assert [(trace["name"], trace["x"]) for trace in plot.figure["data"]] == [("b", [0, 2]), ("a", [0, 1])]


def test_names_that_begin_alike_stay_apart() -> None:
    plot = plot_result("bar", "y", ["a" * 100 + "1", "a" * 100 + "2"], [1, 2])
    assert plot.figure is not None
    assert plot.figure["data"][0]["x"] == [0, 1]


def test_days_and_numbers_stand_where_they_belong() -> None:
    days = plot_result("line", "calls", [date(2026, 1, 1), date(2026, 1, 9)], [1, 2])
    numbers = plot_result("line", "calls", [1, 10], [1, 2])
    assert days.figure is not None
    assert days.figure["layout"]["xaxis"]["type"] == "date"
    assert days.figure["data"][0]["x"] == ["2026-01-01", "2026-01-09"]
    assert numbers.figure is not None
    assert numbers.figure["data"][0]["x"] == [1.0, 10.0]


def test_each_series_has_its_colour_and_more_than_there_are_colours_are_said_to_be_missing() -> None:
    names = [f"m{number}" for number in range(len(SERIES) + 2)]
    plot = plot_result("bar", "y", ["a"] * len(names), [1] * len(names), names)
    assert plot.figure is not None
    assert [trace["name"] for trace in plot.figure["data"]] == names[: len(SERIES)]
    assert plot.left_out.startswith("2 rows not drawn")


def test_what_is_no_number_is_not_drawn() -> None:
    assert plot_result("bar", "y", ["a"], [None]).figure is None
    assert plot_result("bar", "y", ["a"], [float("nan")]).figure is None


def test_hostile_text_is_text_in_a_figure() -> None:
    plot = plot_result("bar", HOSTILE, [HOSTILE], [1], [HOSTILE])
    assert "<img" not in str(plot.figure)
