"""Columns of any query's result in, one figure out, and in words what of the rows it does not show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from dashboard import wording
from dashboard.charts import DASHES, SERIES, Figure, layout

_MOST_POINTS = 2_000
_MOST_LABELS = 24


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure, None where there is nothing to draw, and in words what of the rows is not in it."""

    figure: Figure | None
    left_out: str


def plotted(
    kind: str, x: str, y: str, across: Sequence[Any], heights: Sequence[Any], of: Sequence[Any] | None = None
) -> Plot:
    """`heights` over `across` as bars or lines (`kind`), a colour for each value of `of`; `x`, `y`: names."""
    series: dict[str, list[tuple[Any, float]]] = {}
    drawn = unknown = others = 0
    for place, height, name in zip(across, heights, of or [y] * len(across), strict=True):
        known = None if place is None or height is None else float(height)
        label = "NULL" if name is None else str(name)
        if known is None or not math.isfinite(known):
            unknown += 1
        elif drawn == _MOST_POINTS or (label not in series and len(series) == len(SERIES)):
            others += 1
        else:
            series.setdefault(label, []).append((place, known))
            drawn += 1
    if not drawn:
        return Plot(None, "")
    axis, placed = _across([place for its in series.values() for place, _ in its])
    traces = [
        _plotted_series(kind, name, number, [(placed(place), place, height) for place, height in its])
        for number, (name, its) in enumerate(series.items())
    ]
    drawn_as = layout(height=420, margin={"l": 56, "r": 8, "t": 8, "b": 60}) | {
        "barmode": "group",
        "hovermode": "closest",
        "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "y": -0.22, "x": 0, "font": {"size": 12}},
        "xaxis": axis | {"title": {"text": wording.in_figure(x)}, "fixedrange": True, "showgrid": False},
        "yaxis": {"title": {"text": wording.in_figure(y)}, "fixedrange": True, "rangemode": "tozero"},
    }
    return Plot({"data": traces, "layout": drawn_as}, _left_out(others, unknown))


def _left_out(others: int, unknown: int) -> str:
    parts = []
    if others:
        most = f"at most {len(SERIES)} colours and {_MOST_POINTS:,} points"
        parts.append(f"{wording.plural(others, 'row')} not drawn: {most}.")
    if unknown:
        parts.append(f"{wording.plural(unknown, 'row')} without a number not drawn.")
    return " ".join(parts)


def _across(places: Sequence[Any]) -> tuple[Figure, Callable[[Any], Any]]:
    """The axis, and where on it a value stands: numbers and times by their size, others in order."""
    if all(isinstance(place, int | float | Decimal) and not isinstance(place, bool) for place in places):
        return {"type": "linear"}, float
    if all(isinstance(place, date) for place in places):
        return {"type": "date"}, lambda place: place.isoformat()
    labels = list(dict.fromkeys(str(place) for place in places))
    order = {label: number for number, label in enumerate(labels)}
    step = -(-len(labels) // _MOST_LABELS)
    axis = {
        "type": "linear",
        "tickvals": list(range(0, len(labels), step)),
        "ticktext": [wording.in_figure(wording.shortened(label, 28)) for label in labels[::step]],
        "range": [-0.6, len(labels) - 0.4],
    }
    return axis, lambda place: order[str(place)]


def _plotted_series(kind: str, name: str, number: int, points: Sequence[tuple[Any, Any, float]]) -> Figure:
    look: Figure = {"type": "bar", "marker": {"color": SERIES[number]}}
    if kind == "line":
        line = {"color": SERIES[number], "width": 1.8, "dash": DASHES[number]}
        look = {"type": "scatter", "mode": "lines+markers", "line": line, "marker": {"color": SERIES[number]}}
    return look | {
        "name": wording.in_figure(name),
        "x": [at for at, _, _ in points],
        "y": [height for _, _, height in points],
        "text": [f"{wording.in_figure(str(place))}: {height:,.6g}" for _, place, height in points],
        "textposition": "none" if kind == "bar" else "top center",
        "hovertemplate": "%{fullData.name}<br>%{text}<extra></extra>",
    }
