"""Builds Plotly figures as plain dicts; building them with graph objects costs more than the queries.

Colours are Streamlit's placeholders for the theme's series colours, so one figure serves light and dark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from callgauge.dashboard import wording
from callgauge.stats import Share

Figure = dict[str, Any]

# The frontend replaces #000001 to #00000a by chartCategoricalColors, in order.
SERIES = tuple(f"#00000{number}" for number in range(1, 7))
# Of the series colours, by what becomes of a call; the same as on every page of calls.
_OUTCOMES = {"clean": SERIES[2], "coerced": SERIES[0], "repaired": SERIES[4], "failed": SERIES[1]}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid")
OTHERS = "other models"
_MARK = "rgba(128,128,128,0.9)"
_BAND = "rgba(128,128,128,0.14)"
_WITH_INTERVALS = 1  # the whiskers of two series hide each other; their ends are in the hover text
_TICK_A_DAY = 12  # days; on a longer axis there are at most _TICKS
_TICKS = 8
_LONGEST_GAP = timedelta(days=3)  # a weekend without calls is no break
CONFIG = {"displayModeBar": False, "responsive": True}


@dataclass(frozen=True, slots=True)
class DayRate:
    """One point of a trend: the share of a series on a day."""

    day: date
    series: str
    share: Share


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled line in a trend, before `day`.

    The marked event may have happened at the beginning of any day from `first` to `last`.
    """

    text: str
    day: date
    first: date
    last: date


def series_order(by_use: Sequence[str]) -> dict[str, int]:
    """Return the colour number of each series with a colour of its own; `by_use`: the most used first.

    When there are more series than colours, the five most used have numbers, and the last colour is for the
    rest.
    """
    first = by_use if len(by_use) <= len(SERIES) else by_use[: len(SERIES) - 1]
    return {name: number for number, name in enumerate(first)}


def draw_trend(
    points: Sequence[DayRate], order: Mapping[str, int], marks: Sequence[Mark] = (), *, others: str = OTHERS
) -> Figure:
    """Return a figure of the rate by day, one line a series; a single series has intervals at its points.

    `order`: the colour number of each series; `others`: the name of the line that sums up the series without
    a number. A mark on a day without data is drawn at the next day with data; a mark after the last day, or
    one that ends before the first, is left out.
    """
    series = _gather_series(points, order, others)
    traces = [
        _draw_line(name, series[name], order.get(name, len(SERIES) - 1), len(series)) for name in series
    ]
    highest = max(_highest_point(trace) for trace in traces)
    longest = max(len(trace["name"]) for trace in traces)
    drawn = layout(height=460, margin={"l": 46, "r": 8, "t": 22 if marks else 8, "b": 40})
    drawn |= {
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.16, "x": 0, "font": {"size": 12}, "entrywidth": 7 * longest},
        "xaxis": _day_axis([point.day for several in series.values() for point in several]),
        "yaxis": _percent_axis(min(1.0, max(0.04, 1.08 * highest))),
    }
    return {"data": traces, "layout": drawn | _draw_marks(drawn["xaxis"]["categoryarray"], marks)}


def draw_flow(moved: Sequence[tuple[str, str, int]]) -> Figure:
    """Return a flow diagram of the calls whose outcome changed, given as (before, after, calls)."""
    left = list(dict.fromkeys(before for before, _, _ in moved))
    right = list(dict.fromkeys(after for _, after, _ in moved))
    lost, won = Counter[str](), Counter[str]()
    for before, after, calls in moved:
        lost[before] += calls
        won[after] += calls
    labels = [f"{name} −{lost[name]:,}" for name in left] + [f"{name} +{won[name]:,}" for name in right]
    link = {
        "source": [left.index(before) for before, _, _ in moved],
        "target": [len(left) + right.index(after) for _, after, _ in moved],
        "value": [calls for _, _, calls in moved],
        "label": [f"{before} → {after}" for before, after, _ in moved],
        "color": "rgba(128,128,128,0.35)",
        "hovertemplate": "%{label}: %{value:,}<extra></extra>",
    }
    node = {
        "label": [wording.in_figure(label) for label in labels],
        "color": [_OUTCOMES.get(name, _MARK) for name in [*left, *right]],
        "hovertemplate": "%{label}<extra></extra>",
        "pad": 18,
        "thickness": 14,
        "line": {"width": 0},
    }
    trace: Figure = {"type": "sankey", "node": node, "link": link, "arrangement": "fixed"}
    height = 90 + 60 * max(len(left), len(right))
    drawn = layout(height=height, margin={"l": 4, "r": 4, "t": 10, "b": 14}) | {"font": {"size": 13}}
    return {"data": [trace], "layout": drawn}


def _draw_marks(days: Sequence[str], marks: Sequence[Mark]) -> Figure:
    """Return the marks' shapes: a line before the day, the text above, a band from `first` to `last`."""
    shapes: list[Figure] = []
    above: list[Figure] = []

    def find_place_before(day: date) -> float | None:
        later = [place for place, drawn in enumerate(days) if drawn >= day.isoformat()]
        return later[0] - 0.5 if later else None

    for mark in marks:
        at, first, last = (
            find_place_before(mark.day),
            find_place_before(mark.first),
            find_place_before(mark.last),
        )
        if at is None or mark.last.isoformat() < days[0]:
            continue
        across = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
        shapes.append(
            across | {"type": "line", "x0": at, "x1": at, "line": {"color": _MARK, "width": 1, "dash": "dot"}}
        )
        if first is not None and last is not None and first < last:
            band = {"type": "rect", "x0": first, "x1": last, "fillcolor": _BAND, "line": {"width": 0}}
            shapes.append(across | band)
        text = {"text": wording.in_figure(mark.text), "x": at, "y": 1, "yref": "paper", "yanchor": "bottom"}
        above.append(text | {"showarrow": False, "font": {"size": 12}})
    return {"shapes": shapes, "annotations": above}


def _gather_series(
    points: Sequence[DayRate], order: Mapping[str, int], others: str
) -> dict[str, list[DayRate]]:
    """Return the points by series in colour order; series without a colour are summed into `others`."""
    summed: dict[tuple[str, date], Share] = {}
    for point in points:
        key = (point.series if point.series in order else others, point.day)
        summed[key] = summed[key] + point.share if key in summed else point.share
    names = sorted({name for name, _ in summed}, key=lambda name: order.get(name, len(order)))
    return {
        name: [DayRate(day, name, summed[series, day]) for series, day in sorted(summed) if series == name]
        for name in names
    }


def _highest_point(trace: Figure) -> float:
    rates: list[float | None] = trace["y"]
    above: list[float] = trace.get("error_y", {}).get("array", [0.0] * len(rates))
    return max(rate + more for rate, more in zip(rates, above, strict=True) if rate is not None)


def _insert_gaps(points: Sequence[DayRate]) -> list[DayRate]:
    """Return the points, with a point without a rate in each gap of over three days: it breaks the line."""
    spaced: list[DayRate] = []
    for point in points:
        if spaced and point.day - spaced[-1].day > _LONGEST_GAP:
            spaced.append(DayRate(spaced[-1].day, point.series, Share(0, 0)))
        spaced.append(point)
    return spaced


def _draw_line(name: str, measured: Sequence[DayRate], number: int, of_series: int) -> Figure:
    points = _insert_gaps(measured)
    trace: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "connectgaps": False,
        "cliponaxis": False,  # a marker at 0% is whole
        "name": wording.in_figure(name),
        "x": [point.day.isoformat() for point in points],
        "y": [point.share.rate for point in points],
        "line": {"color": SERIES[number], "width": 1.8, "dash": DASHES[number]},
        "marker": {
            "color": SERIES[number],
            "size": 6,
            "symbol": ["circle" if point.share.has_enough else "circle-open" for point in points],
        },
        "text": [_hover_text(point) for point in points],
        "hovertemplate": "%{fullData.name}<br>%{x}<br>%{text}<extra></extra>",
    }
    if of_series <= _WITH_INTERVALS:
        trace["error_y"] = _draw_whiskers(points, SERIES[number])
    return trace


def _hover_text(point: DayRate) -> str:
    k, n = point.share.k, point.share.n
    return f"{wording.rate(k, n)} · {wording.fraction(k, n)}<br>95% {wording.interval(point.share.interval)}"


def _draw_whiskers(points: Sequence[DayRate], colour: str) -> Figure:
    spans = [(point.share.interval, point.share.rate or 0.0) for point in points]
    return {
        "type": "data",
        "symmetric": False,
        "array": [bounds.high - rate if bounds else 0 for bounds, rate in spans],
        "arrayminus": [rate - bounds.low if bounds else 0 for bounds, rate in spans],
        "color": colour,
        "thickness": 1,
        "width": 3,
    }


def _day_axis(days: Sequence[date]) -> Figure:
    """Return an axis with one place for each day with data: gaps of months would leave a time axis empty."""
    drawn = sorted(set(days))
    step = 1 if len(drawn) <= _TICK_A_DAY else -(-len(drawn) // _TICKS)
    ticked = drawn[::-1][::step][::-1]
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [day.isoformat() for day in drawn],
        "range": [-0.5, len(drawn) - 0.5],
        "tickvals": [day.isoformat() for day in ticked],
        "ticktext": [_tick_label(day, before) for day, before in zip(ticked, [None, *ticked], strict=False)],
        "showgrid": False,
        "fixedrange": True,
    }


def _tick_label(day: date, before: date | None) -> str:
    """Return a label such as Nov 20, with the year below when the previous tick is in another year."""
    year = f"<br>{day.year}" if before is None or day.year != before.year else ""
    return f"{day:%b} {day.day}{year}"


def _percent_axis(top: float) -> Figure:
    return {
        "range": [0, top],
        "tickformat": ",.0%" if top > 0.05 else ",.1%",
        "fixedrange": True,
        "nticks": 6,
        "zeroline": False,
        "title": None,
    }


def layout(*, height: int, margin: Mapping[str, int]) -> Figure:
    return {"height": height, "margin": dict(margin), "dragmode": False, "uirevision": "kept"}
