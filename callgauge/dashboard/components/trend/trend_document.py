"""Converts a chart of rates over time to plain charts, for documents that are built without a browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from callgauge.analysis import wording
from callgauge.analysis.measures.trend_lines import LinePoint, Mark, TrendChart, TrendLine
from callgauge.documents.document import (
    Chart,
    ChartAxis,
    ChartBand,
    ChartPoint,
    ChartSeries,
    ChartText,
)

_MOST_TICKS = 8
_HALF = 0.5  # half a day: a mark is drawn just before its day


def convert_trend(chart: TrendChart, words: str) -> list[Chart]:
    """Return one chart with all lines. If each line has its own panel, return one chart for each line."""
    if not chart.has_panels:
        return [_convert_panel(chart, chart.title, words, chart.lines, chart.drawn_marks)]
    return [
        _convert_panel(
            chart,
            f"{chart.title}: {wording.one_line(line.label, 60)}",
            "",
            [line],
            [mark for mark in chart.drawn_marks if not mark.series or line.series in mark.series],
        )
        for line in chart.lines
    ]


def _convert_panel(
    chart: TrendChart, title: str, words: str, lines: Sequence[TrendLine], marks: Sequence[Mark]
) -> Chart:
    start, end = (float(chart.unit.start_of(day).toordinal()) for day in (chart.first, chart.last))
    across = ChartAxis(start - _HALF, end + _HALF, _list_days(chart))
    up = ChartAxis(
        chart.ticks[0],
        chart.ticks[-1],
        [(tick, chart.label_tick(tick)) for tick in chart.ticks],
        chart.y_title,
    )
    bands = [band for mark in marks for band in _list_mark_bands(mark)]
    bands += [ChartBand("y", at.interval.low, at.interval.high) for at in chart.levels if at.interval]
    series = [
        ChartSeries(
            chart.label_level(level),
            [ChartPoint(across.low, level.rate), ChartPoint(across.high, level.rate)],
            line="dashed" if level.interval else "dotted",
            has_points=False,
        )
        for level in chart.levels
    ]
    if chart.whole:
        series += _convert_line(chart, chart.whole, has_points=False)
    series += [converted for line in lines for converted in _convert_line(chart, line)]
    texts = [ChartText(mark.text, mark.day.toordinal() - _HALF, up.high) for mark in marks]
    return Chart(title, words, series, across, up, bands, texts)


def _list_days(chart: TrendChart) -> list[tuple[float, str]]:
    units = chart.list_units()
    step = -(-len(units) // _MOST_TICKS)
    return [(float(start.toordinal()), _label_day(start, chart)) for start in units[::step]]


def _label_day(day: date, chart: TrendChart) -> str:
    return f"{day:%b %Y}" if chart.unit.name == "month" else f"{day.day} {day:%b}"


def _list_mark_bands(mark: Mark) -> Iterator[ChartBand]:
    at = mark.day.toordinal() - _HALF
    yield ChartBand("x", at, at)
    if mark.first < mark.last:
        yield ChartBand("x", mark.first.toordinal() - _HALF, mark.last.toordinal() - _HALF)


def _convert_line(chart: TrendChart, line: TrendLine, *, has_points: bool = True) -> Iterator[ChartSeries]:
    """Return the line, broken at gaps, and a dotted line through the points of incomplete periods."""
    solid: list[ChartPoint] = []
    dotted: list[ChartPoint] = []
    for stretch in line.split_at_gaps(chart.unit.gap):
        points = [_convert_point(chart, point) for point in stretch]
        whole = sum(not point.is_partial for point in stretch)  # only the newest points can be incomplete
        solid += [*points[:whole], _break_line(points)]
        if whole < len(points):
            dotted += [*points[max(0, whole - 1) :], _break_line(points)]
    colour = 0 if line.colour is None else line.colour + 1
    label = wording.one_line(line.label, 60)
    yield ChartSeries(label, solid[:-1], colour, has_points=has_points)
    if dotted:
        yield ChartSeries(label, dotted[:-1], colour, "dotted", has_points=has_points, in_legend=False)


def _break_line(points: Sequence[ChartPoint]) -> ChartPoint:
    return ChartPoint(points[-1].x, None)


def _convert_point(chart: TrendChart, point: LinePoint) -> ChartPoint:
    bounds = point.share.interval if chart.has_intervals else None
    return ChartPoint(
        float(chart.unit.start_of(point.first).toordinal()),
        point.rate,
        bounds.low if bounds else None,
        bounds.high if bounds else None,
        is_hollow=point.is_hollow,
    )
