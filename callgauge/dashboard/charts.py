"""Builds Plotly figures as plain dicts; building them with graph objects costs more than the queries.

Colours are Streamlit's placeholders for the theme's series colours, so one figure serves light and dark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.measures.trends import DayRate
from callgauge.stats import Interval, Share

Figure = dict[str, Any]

# The frontend replaces #000001 to #00000a by chartCategoricalColors, in order.
SERIES = tuple(f"#00000{number}" for number in range(1, 7))
# Of the series colours, by what becomes of a call; the same as on every page of calls.
_OUTCOMES = {"clean": SERIES[2], "coerced": SERIES[0], "repaired": SERIES[4], "failed": SERIES[1]}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "solid")
OTHERS = "other models"
# Greys that stand out of a light and of a dark page (3.9 : 1 and 4.7 : 1).
_MARK = "rgba(128,128,128,0.9)"
_BAND = "rgba(128,128,128,0.14)"
_GOAL = "rgb(0,150,110)"
_WITH_INTERVALS = 1  # the whiskers of two series hide each other; their ends are in the hover text
_FAR = 2  # times the highest rate: a goal beyond it is written at the edge, for a scale that shows the rates
_NEAR_ALL = 0.5  # where all rates are above this, the scale does not begin at zero
_DAY = timedelta(days=1)
# The mode bar holds one button: a picture of the chart to take away.
CONFIG = {
    "displayModeBar": True,
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "png", "filename": "callgauge_chart", "scale": 2},
    "responsive": True,
}


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """What one point of a trend spans. `gap`: a longer stretch without a point breaks the line."""

    name: str
    axis_title: str
    tick_format: str
    gap: timedelta

    def start_of(self, day: date) -> date:
        """Return the first day of the unit that `day` is in; weeks begin on Monday."""
        if self.name == "week":
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self.name == "month" else day


_UNITS = {  # the longest span of days that each unit is for
    92: TimeUnit("day", "Day (UTC)", "%b %-d\n%Y", timedelta(days=3)),  # a weekend is no break
    800: TimeUnit("week", "Week from Monday (UTC)", "%b %-d\n%Y", timedelta(days=14)),
    date.max.toordinal(): TimeUnit("month", "Month (UTC)", "%b\n%Y", timedelta(days=62)),
}


def choose_unit(first: date, last: date) -> TimeUnit:
    """Return the unit of a trend from the day `first` to `last`: days, weeks or, for years, months."""
    return next(unit for longest, unit in _UNITS.items() if (last - first).days <= longest)


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled line in a trend, before `day`.

    The marked event may have happened at the beginning of any day from `first` to `last`.
    """

    text: str
    day: date
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Level:
    """A labelled rate across a trend: a goal, or a baseline with its interval as a band."""

    text: str
    rate: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """A figure of rates over time.

    `beyond`: points of too few observations that lie beyond the scale. `cut`: intervals that go on beyond it.
    """

    figure: Figure
    unit: TimeUnit
    beyond: int
    cut: int


def series_order(names: Sequence[str], fixed: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the colour number of each of at most six series.

    `fixed`: numbers that series have on every page; a series keeps its own where it is free. The last colour
    is a grey as that of the series without a name: it is for six series, beside which there is none.
    """
    wanted, most = fixed or {}, max(len(SERIES) - 1, len(names))
    own = {name: wanted[name] for name in names if wanted.get(name, most) < most}
    free = iter(number for number in range(most) if number not in own.values())
    return {name: own[name] if name in own else next(free) for name in names}


def draw_trend(
    points: Sequence[DayRate],
    order: Mapping[str, int],
    marks: Sequence[Mark] = (),
    *,
    others: str = OTHERS,
    title: str = "",
    y_title: str = "Share of calls",
    levels: Sequence[Level] = (),
    named: Callable[[str], str] = str,
) -> Trend:
    """Return a figure of the rate over time, one line a series; a single series has intervals at its points.

    `order`: the colour number of each series; `others`: the name of the grey line that sums up the series
    without a number. `named` returns the label of a series. A point is a day, or a week or month of a long
    time. The scale holds the rates that have enough observations; others beyond it stand at its edge.
    """
    days = [point.day for point in points]
    unit = choose_unit(min(days), max(days))
    series = _gather_series(points, order, others, unit)
    bottom, top = _choose_scale(series, levels)
    traces = [
        _draw_line(
            others if name not in order else named(name), its, order.get(name), unit, bottom, top, len(series)
        )
        for name, its in series.items()
    ]
    longest = max(len(trace["name"]) for trace in traces)
    drawn = layout(height=460, margin={"l": 56, "r": 8, "t": 76 if marks else 58, "b": 40})
    drawn |= {
        "title": {
            "text": wording.in_figure(title, 200),
            "subtitle": {"text": f"{min(days)} to {max(days)}", "font": {"size": 11}},
            "x": 0,
            "xref": "container",
            "y": 0.99,
            "yanchor": "top",
            "font": {"size": 12, "weight": 400},
        },
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.24, "x": 0, "font": {"size": 12}, "entrywidth": 7 * longest},
        "xaxis": _time_axis(days, unit),
        "yaxis": _percent_axis(bottom, top, y_title),
    }
    shapes, above = _draw_marks(unit.start_of(min(days)), max(days), marks)
    lines, labels = _draw_levels(levels, bottom, top)
    beyond = sum(
        not point.share.has_enough and not bottom <= (point.share.rate or 0.0) <= top
        for its in series.values()
        for point in its
    )
    figure: Figure = {
        "data": traces,
        "layout": drawn | {"shapes": shapes + lines, "annotations": above + labels},
    }
    cut = sum(
        not (bottom <= bounds.low and bounds.high <= top)
        for its in series.values()
        for point in its
        if len(series) <= _WITH_INTERVALS and (bounds := point.share.interval)
    )
    return Trend(figure, unit, beyond, cut)


def draw_flow(moved: Sequence[tuple[str, str, int]]) -> Figure:
    """Return a flow diagram of the calls whose outcome changed, given as (before, after, calls)."""
    left = list(dict.fromkeys(before for before, _, _ in moved))
    right = list(dict.fromkeys(after for _, after, _ in moved))
    lost, won = Counter[str](), Counter[str]()
    for before, after, calls in moved:
        lost[before] += calls
        won[after] += calls
    labels = [f"{wording.outcome(name)} −{lost[name]:,}" for name in left]
    labels += [f"{wording.outcome(name)} +{won[name]:,}" for name in right]
    link = {
        "source": [left.index(before) for before, _, _ in moved],
        "target": [len(left) + right.index(after) for _, after, _ in moved],
        "value": [calls for _, _, calls in moved],
        "label": [f"{wording.outcome(before)} → {wording.outcome(after)}" for before, after, _ in moved],
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


def _draw_marks(first: date, last: date, marks: Sequence[Mark]) -> tuple[list[Figure], list[Figure]]:
    """Return the marks' shapes and texts: a line before the day, a band from `first` to `last` of the mark.

    A mark that ends before the first drawn day, or is after the last one, is left out.
    """
    shapes: list[Figure] = []
    above: list[Figure] = []
    for mark in marks:
        if mark.last < first or mark.day > last:
            continue
        across = {"yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
        at = _moment_before(max(mark.day, first))
        shapes.append(
            across | {"type": "line", "x0": at, "x1": at, "line": {"color": _MARK, "width": 1, "dash": "dot"}}
        )
        if mark.first < mark.last:
            span = {"x0": _moment_before(max(mark.first, first)), "x1": _moment_before(min(mark.last, last))}
            shapes.append(across | span | {"type": "rect", "fillcolor": _BAND, "line": {"width": 0}})
        text = {"text": wording.in_figure(mark.text), "x": at, "y": 1, "yref": "paper", "yanchor": "bottom"}
        above.append(text | {"showarrow": False, "font": {"size": 12}})
    return shapes, above


def _moment_before(day: date) -> str:
    """Return the noon before a day, on which points are drawn at midnight."""
    return f"{(day - _DAY).isoformat()} 12:00"


def _draw_levels(levels: Sequence[Level], bottom: float, top: float) -> tuple[list[Figure], list[Figure]]:
    """Return the lines and bands of levels, and their texts at the right; one beyond the scale is a text."""
    shapes: list[Figure] = []
    texts: list[Figure] = []
    for level in levels:
        across = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
        colour = _MARK if level.interval else _GOAL
        arrow = " ↑" if level.rate > top else " ↓" if level.rate < bottom else ""
        if not arrow:
            line = {"color": colour, "width": 1.5, "dash": "dash"}
            shapes.append(across | {"type": "line", "y0": level.rate, "y1": level.rate, "line": line})
        if level.interval:
            low, high = (min(top, max(bottom, end)) for end in (level.interval.low, level.interval.high))
            band = {"type": "rect", "y0": low, "y1": high, "fillcolor": _BAND, "line": {"width": 0}}
            shapes.append(across | band)
        place = {"x": 1, "xref": "paper", "xanchor": "right", "y": min(top, max(bottom, level.rate))}
        texts.append(
            place
            | {
                "text": wording.in_figure(level.text) + arrow,
                "yanchor": "top" if level.rate > top else "bottom",
                "showarrow": False,
                "font": {"size": 12, "color": colour},
            }
        )
    return shapes, texts


def _gather_series(
    points: Sequence[DayRate], order: Mapping[str, int], others: str, unit: TimeUnit
) -> dict[str, list[DayRate]]:
    """Return the points by series in colour order, one for each unit of time.

    Series without a colour are summed up as `others`, the last.
    """
    summed: dict[tuple[str, date], Share] = {}
    for point in points:
        key = (point.series if point.series in order else others, unit.start_of(point.day))
        summed[key] = summed[key] + point.share if key in summed else point.share
    names = sorted({name for name, _ in summed}, key=lambda name: order.get(name, len(SERIES)))
    return {
        name: [DayRate(day, name, summed[series, day]) for series, day in sorted(summed) if series == name]
        for name in names
    }


def _choose_scale(series: Mapping[str, Sequence[DayRate]], levels: Sequence[Level]) -> tuple[float, float]:
    """Return the lowest and the highest rate of the scale.

    It holds the points that have enough observations (all, where none has), the intervals of a single series
    up to twice the highest rate, and levels that are not far beyond.
    """
    every = [point.share for its in series.values() for point in its]
    shares = [share for share in every if share.has_enough] or every
    rates = [share.rate for share in shares if share.rate is not None]
    low, high = min(rates), max(rates)
    farthest = _FAR * max(high, 0.02)
    if len(series) <= _WITH_INTERVALS:
        bounds = [found for share in shares if (found := share.interval)]
        high = max(high, min(farthest, max(found.high for found in bounds)))
        low = min(low, max(low / _FAR, min(found.low for found in bounds)))
    near = [level.rate for level in levels if level.rate <= farthest]
    top = min(1.0, max(0.04, 1.08 * max(high, *near, 0.0)))
    lowest = min([low, *near])
    return (math.floor(10 * lowest) / 10 if lowest > _NEAR_ALL else 0.0), top


def _insert_gaps(points: Sequence[DayRate], gap: timedelta) -> list[DayRate]:
    """Return the points, with a point without a rate in each gap that is longer: it breaks the line."""
    spaced: list[DayRate] = []
    for point in points:
        if spaced and point.day - spaced[-1].day > gap:
            spaced.append(DayRate(spaced[-1].day + _DAY, point.series, Share(0, 0)))
        spaced.append(point)
    return spaced


def _draw_line(
    name: str,
    measured: Sequence[DayRate],
    number: int | None,
    unit: TimeUnit,
    bottom: float,
    top: float,
    of_series: int,
) -> Figure:
    """Return the line of a series; without a colour number it is grey."""
    points = _insert_gaps(measured, unit.gap)
    colour = _MARK if number is None else SERIES[number]
    trace: Figure = {
        "type": "scatter",
        "mode": "lines+markers",
        "connectgaps": False,
        "cliponaxis": False,  # a marker at 0% is whole
        "name": wording.in_figure(name),
        "x": [point.day.isoformat() for point in points],
        "y": [
            None if (rate := point.share.rate) is None else min(top, max(bottom, rate)) for point in points
        ],
        "line": {"color": colour, "width": 1.8, "dash": "solid" if number is None else DASHES[number]},
        "marker": {
            "color": colour,
            "size": 6,
            "symbol": [_symbol(point.share, bottom, top) for point in points],
        },
        "text": [_hover_text(point) for point in points],
        "hovertemplate": "%{fullData.name}<br>%{x|%Y-%m-%d}<br>%{text}<extra></extra>",
    }
    if of_series <= _WITH_INTERVALS:
        trace["error_y"] = _draw_whiskers(points, colour, bottom, top)
    return trace


def _symbol(share: Share, bottom: float, top: float) -> str:
    """Return the marker of a point: hollow with too few observations, a triangle beyond the scale."""
    rate = share.rate or 0.0
    shape = "triangle-up" if rate > top else "triangle-down" if rate < bottom and share.n else "circle"
    return shape if share.has_enough else f"{shape}-open"


def _hover_text(point: DayRate) -> str:
    k, n = point.share.k, point.share.n
    return f"{wording.rate(k, n)} · {wording.fraction(k, n)}<br>95% {wording.interval(point.share.interval)}"


def _draw_whiskers(points: Sequence[DayRate], colour: str, bottom: float, top: float) -> Figure:
    def within(value: float) -> float:
        return min(top, max(bottom, value))

    spans = [(point.share.interval, within(point.share.rate or 0.0)) for point in points]
    return {
        "type": "data",
        "symmetric": False,
        "array": [within(bounds.high) - rate if bounds else 0 for bounds, rate in spans],
        "arrayminus": [rate - within(bounds.low) if bounds else 0 for bounds, rate in spans],
        "color": colour,
        "thickness": 1,
        "width": 0,  # a cap would close an interval that the scale cuts
    }


def _time_axis(days: Sequence[date], unit: TimeUnit) -> Figure:
    """Return an axis of time: a day without data keeps its place."""
    first, last = unit.start_of(min(days)), unit.start_of(max(days))
    beside = unit.gap / 4
    axis: Figure = {
        "type": "date",
        "range": [_moment(first, -beside), _moment(last, beside)],
        "tickformat": unit.tick_format,
        "nticks": 10,
        "title": {"text": unit.axis_title, "standoff": 8},
        "showgrid": False,
        "fixedrange": True,
    }
    if (last - first).days <= 10:
        axis["dtick"] = 86_400_000  # milliseconds: no ticks within a day
    return axis


def _moment(day: date, later: timedelta) -> str:
    return (datetime(day.year, day.month, day.day) + later).isoformat(" ", "minutes")  # noqa: DTZ001


def _percent_axis(bottom: float, top: float, title: str) -> Figure:
    return {
        "range": [bottom, top],
        "tickformat": ",.0%" if top - bottom > 0.05 else ",.1%",
        "fixedrange": True,
        "nticks": 6,
        "zeroline": False,
        "title": {"text": title, "standoff": 8},
    }


def layout(*, height: int, margin: Mapping[str, int]) -> Figure:
    return {"height": height, "margin": dict(margin), "dragmode": False, "uirevision": "kept"}
