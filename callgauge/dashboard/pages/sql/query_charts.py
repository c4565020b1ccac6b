"""Plots the result of a query, and describes the rows that are not drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from callgauge.analysis import wording
from callgauge.dashboard.charts import DASHES, SERIES, Figure, layout

_MOST_POINTS = 2_000
_MOST_LABELS = 24


@dataclass(frozen=True, slots=True)
class QueryPlot:
    """A figure, or None when nothing can be drawn. `left_out` describes the rows that are not drawn."""

    figure: Figure | None
    left_out: str


class _PlotPoint(NamedTuple):
    place: Any
    height: float
    series: str


def plot_result(
    kind: str, y: str, across: Sequence[Any], heights: Sequence[Any], series: Sequence[Any] | None = None
) -> QueryPlot:
    """Plot the column `heights` over `across` as bars or lines, with a colour for each value of `series`.

    `kind` is `line` for lines. Any other `kind` means bars. `y` names the series when `series` is None.
    """
    plotted = [
        _PlotPoint(place, float(height), "NULL" if name is None else str(name))
        for place, height, name in zip(across, heights, series or [y] * len(across), strict=True)
        if place is not None and height is not None and math.isfinite(height)
    ]
    names = _largest_series(plotted)
    points = [point for point in plotted if point.series in names][:_MOST_POINTS]
    if not points:
        return QueryPlot(None, "")
    places = [point.place for point in points]
    axis, placed = _continuous_axis(places) if kind == "line" else _category_axis(places)
    traces = [
        _draw_trace(kind, name, number, [point for point in points if point.series == name], placed)
        for number, name in enumerate(names)
    ]
    drawn = layout(height=420, margin={"l": 48, "r": 8, "t": 8, "b": 60}) | {
        "barmode": "group",
        "hovermode": "closest",
        "showlegend": len(names) > 1,
        "legend": {
            "orientation": "h",
            "y": -0.22,
            "x": 0,
            "font": {"size": 12},
            "entrywidth": 7 * max(len(trace["name"]) for trace in traces),
        },
        "xaxis": axis | {"fixedrange": True, "showgrid": False, "title": None, "automargin": True},
        "yaxis": {"fixedrange": True, "rangemode": "tozero", "title": None},
    }
    figure = {"data": traces, "layout": drawn}
    return QueryPlot(figure, _describe_left_out(len(plotted) - len(points), len(across) - len(plotted)))


def _largest_series(points: Sequence[_PlotPoint]) -> list[str]:
    """Return the names of the series with the largest sums, one for each colour."""
    sums: dict[str, float] = {}
    for point in points:
        sums[point.series] = sums.get(point.series, 0) + abs(point.height)
    return sorted(sums, key=lambda name: -sums[name])[: len(SERIES)]


def _describe_left_out(others: int, unknown: int) -> str:
    parts = []
    if others:
        most = f"the {len(SERIES)} largest colours and {_MOST_POINTS:,} points are"
        parts.append(f"{wording.plural(others, 'row')} not drawn: {most}.")
    if unknown:
        parts.append(f"{wording.plural(unknown, 'row')} without a place or a number not drawn.")
    return " ".join(parts)


def _continuous_axis(places: Sequence[Any]) -> tuple[Figure, Callable[[Any], Any]]:
    """Return the x axis of a line chart, and a function that returns the position of a value on this axis."""
    if all(isinstance(place, int | float | Decimal) and not isinstance(place, bool) for place in places):
        return {"type": "linear"}, float
    if all(isinstance(place, date) for place in places):
        return {"type": "date"}, lambda place: place.isoformat()
    return _category_axis(places)


def _category_axis(places: Sequence[Any]) -> tuple[Figure, Callable[[Any], Any]]:
    """Return an axis with evenly spaced values, and a function that returns a value's position."""
    labels = list(dict.fromkeys(str(place) for place in places))
    order = {label: number for number, label in enumerate(labels)}
    step = -(-len(labels) // _MOST_LABELS)
    axis = {
        "type": "linear",
        "tickvals": list(range(0, len(labels), step)),
        "ticktext": [wording.in_figure(wording.shorten(label, 28)) for label in labels[::step]],
        "range": [-0.6, len(labels) - 0.4],
    }
    return axis, lambda place: order[str(place)]


def _draw_trace(
    kind: str, name: str, number: int, points: Sequence[_PlotPoint], placed: Callable[[Any], Any]
) -> Figure:
    look: Figure = {"type": "bar", "marker": {"color": SERIES[number]}}
    if kind == "line":
        line = {"color": SERIES[number], "width": 1.8, "dash": DASHES[number]}
        look = {"type": "scatter", "mode": "lines+markers", "line": line, "marker": {"color": SERIES[number]}}
    return look | {
        "name": wording.in_figure(name),
        "x": [placed(point.place) for point in points],
        "y": [point.height for point in points],
        "text": [f"{wording.in_figure(str(point.place))}: {point.height:,.6g}" for point in points],
        "textposition": "none" if kind == "bar" else "top center",
        "hovertemplate": "%{fullData.name}<br>%{text}<extra></extra>",
    }
