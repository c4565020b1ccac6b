"""Converts the Plotly figures of the pages to plain series, for documents built without a browser."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal

from callgauge.dashboard.charts import SERIES, Figure
from callgauge.documents.document import (
    Chart,
    ChartAxis,
    ChartBand,
    ChartPoint,
    ChartSeries,
)

_TAG = re.compile(r"<[^>]*>")
_MOST_TICKS = 8
_LINES: Mapping[str, Literal["solid", "dashed", "dotted"]] = {"dot": "dotted", "solid": "solid"}


def read_figure(figure: Figure, words: str) -> Chart:
    """Return the chart in a figure with one x axis and one y axis. `words` describes the chart."""
    layout = figure["layout"]
    x_drawn, y_drawn = layout.get("xaxis", {}), layout.get("yaxis", {})
    series = [_read_trace(trace, x_drawn, y_drawn) for trace in figure["data"]]
    points = [point for line in series for point in line.points if point.y is not None]
    across = _read_axis(x_drawn, [point.x for point in points])
    up = _read_axis(y_drawn, [point.y for point in points if point.y is not None])
    bands = [band for shape in layout.get("shapes", ()) if (band := _read_band(shape, y_drawn))]
    return Chart("", words, series, across, up, bands)


def _read_trace(trace: Figure, x_axis: Figure, y_axis: Figure) -> ChartSeries:
    is_bar = trace["type"] == "bar"
    line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace.get("mode", "lines")
    colour = str(marker.get("color") or line.get("color") or "")
    labels = trace.get("text") if "text" in mode else None
    points = []
    for place, (across, up) in enumerate(zip(trace["x"], trace["y"], strict=True)):
        at, height = _read_value(across, x_axis), _read_value(up, y_axis)
        if at is not None:
            low, high = _read_reach(trace.get("error_y"), place, up, y_axis)
            left, right = _read_reach(trace.get("error_x"), place, across, x_axis)
            label = _plain(labels[place]) if labels else ""
            points.append(ChartPoint(at, height, low, high, left, right, label=label))
    return ChartSeries(
        _plain(trace.get("name", "")),
        points,
        SERIES.index(colour) + 1 if colour in SERIES else 0,
        _LINES.get(line.get("dash", "solid"), "dashed") if "lines" in mode else "none",
        is_step=line.get("shape") == "hv",
        has_points="markers" in mode,
        is_bar=is_bar,
        in_legend=trace.get("showlegend", True) and bool(trace.get("name")),
    )


def _read_reach(
    reach: Figure | None, place: int, value: Any, axis: Figure
) -> tuple[float | None, float | None]:
    if not reach or not isinstance(value, int | float):
        return None, None
    below, above = reach["arrayminus"][place], reach["array"][place]
    return (
        (_read_value(value - below, axis), _read_value(value + above, axis))
        if below or above
        else (None, None)
    )


def _read_value(value: Any, axis: Figure) -> float | None:
    """Return the position of a value on its axis.

    A day becomes the number of days since year 1. On a logarithmic axis, a number becomes its decimal
    logarithm.
    """
    if value is None:
        return None
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return moment.toordinal() + (moment.hour * 60 + moment.minute) / 1440
    if axis.get("type") == "log":
        return math.log10(value) if value > 0 else None
    return float(value)


def _read_axis(axis: Figure, values: Sequence[float]) -> ChartAxis:
    title = axis.get("title") or {}
    low, high = _read_ends(axis, values)
    if "tickvals" in axis:
        places = [_read_value(value, axis) for value in axis["tickvals"]]
        named = zip(places, map(_plain, axis.get("ticktext") or axis["tickvals"]), strict=True)
        ticks = [(place, text) for place, text in named if place is not None]
    elif axis.get("type") == "date":
        ticks = _choose_days(low, high)
    else:
        ticks = _choose_numbers(low, high, str(axis.get("tickformat", "")))
    within = [(place, text) for place, text in ticks if low <= place <= high]
    return ChartAxis(low, high, within, _plain(title.get("text", "")))


def _read_ends(axis: Figure, values: Sequence[float]) -> tuple[float, float]:
    if "range" in axis:
        # On a logarithmic axis, the range already contains exponents.
        plain = {} if axis.get("type") == "log" else axis
        low, high = (_read_value(end, plain) for end in axis["range"])
        if low is not None and high is not None:
            return low, high
    low, high = min(values, default=0.0), max(values, default=1.0)
    low = min(low, 0.0) if axis.get("rangemode") == "tozero" else low
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _choose_days(low: float, high: float) -> list[tuple[float, str]]:
    first, last = math.ceil(low), math.floor(high)
    step = max(1, math.ceil((last - first + 1) / _MOST_TICKS))
    days = [date.fromordinal(number) for number in range(first, last + 1, step)]
    return [(float(day.toordinal()), f"{day.day} {day:%b}") for day in days]


def _choose_numbers(low: float, high: float, form: str) -> list[tuple[float, str]]:
    rough = (high - low) / 5 or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.99)
    places = [
        number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]
    if form.endswith("%"):
        decimals = max(0, -math.floor(math.log10(step * 100) + 1e-9))
        return [(place, f"{100 * place:.{decimals}f}%") for place in places]
    return [(place, f"{place:,.10g}") for place in places]


def _read_band(shape: Figure, y_axis: Figure) -> ChartBand | None:
    low, high = (_read_value(shape[f"y{end}"], y_axis) for end in (0, 1))
    return None if low is None or high is None else ChartBand("y", min(low, high), max(low, high))


def _plain(text: Any) -> str:
    """Return a label from a figure without its HTML tags."""
    return html.unescape(_TAG.sub(" ", str(text))).strip()
