"""Draws charts as SVG without a browser: a small trend line, and charts with two axes.

Colours are classes of page.css, so a drawing works in light and dark themes and in print.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from callgauge.analysis import wording
from callgauge.documents.document import Chart, ChartAxis, ChartPoint, ChartSeries

_LONGEST = 400
_LABEL = 40
_TREND_WIDTH, _TREND_HEIGHT, _EDGE = 160, 36, 3
_WIDTH, _HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 744, 26, 250  # the area between the axes, in pixels
_BAR_GAP = 0.2  # gap between groups of bars, as a share of one unit of x


def draw_small_trend(points: Sequence[tuple[float, float]], words: str, expected: float | None) -> str:
    """Return a small line chart without axes. A dashed line shows the expected value."""
    heights = [height for _, height in points]
    top = max([*heights, expected or 0.0]) or 1.0
    low = min([*heights, expected if expected is not None else heights[0]])
    span, first = (top - low) or 1.0, points[0][0]
    width = max(1.0, points[-1][0] - first)

    def place(at: float, height: float) -> str:
        x = _EDGE + (_TREND_WIDTH - 2 * _EDGE) * (at - first) / width
        return f"{x:.1f},{_EDGE + (_TREND_HEIGHT - 2 * _EDGE) * (top - height) / span:.1f}"

    line = " ".join(place(*point) for point in points)
    x, y = line.rsplit(" ", 1)[-1].split(",")
    usual = ""
    if expected is not None:
        height = place(first, expected).split(",")[1]
        usual = f'<line class="usual" x1="{_EDGE}" x2="{_TREND_WIDTH - _EDGE}" y1="{height}" y2="{height}"/>'
    return (
        f'<svg class="trend" viewBox="0 0 {_TREND_WIDTH} {_TREND_HEIGHT}" width="{_TREND_WIDTH}" '
        f'height="{_TREND_HEIGHT}" role="img"><title>{escape(words)}</title>{usual}'
        f'<polyline points="{line}"/><circle cx="{x}" cy="{y}" r="2.5"/></svg>'
    )


def draw_interval(low: float | None, estimate: float | None, high: float | None, zero: float | None) -> str:
    """Return a drawing of an interval and its estimate on an axis from 0 to 1.

    Parts outside the axis are cut off. `zero` is the position of a vertical line on the axis.
    """
    ends = [100 * min(1.0, max(0.0, end)) for end in (low, high) if end is not None]
    line = f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="5" y2="5"/>' if len(ends) == 2 else ""
    dot = (
        f'<circle cx="{100 * estimate:.1f}" cy="5" r="3"/>'
        if estimate is not None and 0 <= estimate <= 1
        else ""
    )
    track = '<line class="track" x1="0" x2="100" y1="5" y2="5"/>'
    if zero is not None:
        track += f'<line class="track" x1="{100 * zero:.1f}" x2="{100 * zero:.1f}" y1="0" y2="10"/>'
    return f'<svg class="interval" viewBox="0 0 100 10" width="100" height="10">{track}{line}{dot}</svg>'


def draw_share(share: float) -> str:
    """Return a share as a bar on an axis from 0 to 1."""
    width = 100 * min(1.0, max(0.0, share))
    return (
        '<svg class="share" viewBox="0 0 100 6" width="100" height="6">'
        f'<rect class="track" width="100" height="6"/><rect width="{width:.1f}" height="6"/></svg>'
    )


def draw_chart(chart: Chart) -> str:
    """Return the chart as SVG, with an HTML legend."""
    inside = "".join(_list_marks(chart))
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<title>{escape(chart.words or chart.title)}</title>{inside}</svg>"
    )


def draw_legend(chart: Chart) -> str:
    """Return the names of the series as an HTML list. The result is empty for a single series."""
    named = [series for series in chart.series if series.in_legend]
    if len(named) < 2:
        return ""
    keys = "".join(
        f'<li class="s{series.colour}"><svg width="22" height="10">'
        f"{_draw_key(series)}</svg>{escape(series.name)}</li>"
        for series in named
    )
    return f'<ul class="legend">{keys}</ul>'


def _draw_key(series: ChartSeries) -> str:
    if series.is_bar:
        return '<rect class="bar" x="5" width="12" height="10"/>'
    line = "" if series.line == "none" else f'<path class="line {series.line}" d="M0,5H22"/>'
    return line + ('<circle class="dot" cx="11" cy="5" r="3"/>' if series.has_points else "")


def _list_marks(chart: Chart) -> Iterator[str]:
    for band in chart.bands:
        axis = chart.x if band.axis == "x" else chart.y
        if axis.low <= band.high and band.low <= axis.high:
            yield _draw_band(chart, band.axis, max(band.low, axis.low), min(band.high, axis.high))
    yield from _list_ticks(chart)
    bars = [series for series in chart.series if series.is_bar]
    for number, series in enumerate(bars):
        yield from _list_bars(chart, series, number, len(bars))
    for series in chart.series:
        if not series.is_bar:
            yield f'<g class="s{series.colour}">{"".join(_list_lines(chart, series))}</g>'
    for text in chart.texts:
        x, y = _place_x(chart, text.x), _place_y(chart, text.y)
        yield _write_text(x, y - 4, text.text, text.anchor)


def _draw_band(chart: Chart, axis: str, low: float, high: float) -> str:
    if axis == "x":
        x, y, right, bottom = _place_x(chart, low), float(_TOP), _place_x(chart, high), float(_BOTTOM)
        line = f"M{x:.1f},{y}V{bottom}"
    else:
        x, y, right, bottom = float(_LEFT), _place_y(chart, high), float(_RIGHT), _place_y(chart, low)
        line = f"M{x},{y:.1f}H{right}"
    if low == high:
        return f'<path class="mark" d="{line}"/>'
    box = f'x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" height="{bottom - y:.1f}"'
    return f'<rect class="band" {box}/>'


def _list_ticks(chart: Chart) -> Iterator[str]:
    for at, label in chart.y.ticks:
        y = _place_y(chart, at)
        yield f'<path class="grid" d="M{_LEFT},{y:.1f}H{_RIGHT}"/>'
        yield _write_text(_LEFT - 8, y + 4, label, "end")
    for at, label in chart.x.ticks:
        yield _write_text(_place_x(chart, at), _BOTTOM + 18, label, "middle")
    yield _write_text(_LEFT, 12, chart.y.title, "start")
    yield _write_text(_RIGHT, _HEIGHT - 10, chart.x.title, "end")


def _list_bars(chart: Chart, series: ChartSeries, number: int, bars: int) -> Iterator[str]:
    room = (_RIGHT - _LEFT) / max(1.0, chart.x.high - chart.x.low)  # width of one unit of x
    width = room * (1 - _BAR_GAP) / bars
    ground = _place_y(chart, max(chart.y.low, min(0.0, chart.y.high)))
    for point in series.points:
        if point.y is not None:
            x, y = _place_x(chart, point.x) + (number - bars / 2) * width, _place_y(chart, point.y)
            box = f'y="{min(y, ground):.1f}" width="{width:.1f}" height="{abs(ground - y):.1f}"'
            yield f'<rect class="bar s{series.colour}" x="{x:.1f}" {box}/>'


def _list_lines(chart: Chart, series: ChartSeries) -> Iterator[str]:
    if series.line != "none":
        yield f'<path class="line {series.line}" d="{_write_path(chart, series)}"/>'
    for point in series.points:
        if point.y is not None:
            yield from _list_point_marks(chart, series, point, point.y)


def _write_path(chart: Chart, series: ChartSeries) -> str:
    steps: list[str] = []
    is_new = True
    for point in series.points:
        if point.y is None:
            is_new = True
            continue
        x, y = f"{_place_x(chart, point.x):.1f}", f"{_place_y(chart, point.y):.1f}"
        steps.append(f"M{x},{y}" if is_new else f"H{x}V{y}" if series.is_step else f"L{x},{y}")
        is_new = False
    return "".join(steps)


def _list_point_marks(chart: Chart, series: ChartSeries, point: ChartPoint, height: float) -> Iterator[str]:
    x, y = _place_x(chart, point.x), _place_y(chart, height)
    if point.low is not None and point.high is not None:
        low, high = _place_y(chart, point.low), _place_y(chart, point.high)
        yield f'<path class="whisker" d="M{x:.1f},{low:.1f}V{high:.1f}"/>'
    if point.left is not None and point.right is not None:
        left, right = _place_x(chart, point.left), _place_x(chart, point.right)
        yield f'<path class="whisker" d="M{left:.1f},{y:.1f}H{right:.1f}"/>'
    if series.has_points:
        hollow = " hollow" if point.is_hollow else ""
        yield f'<circle class="dot{hollow}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    if point.label:
        is_right = x > (_LEFT + _RIGHT) / 2
        yield _write_text(x - 6 if is_right else x + 6, y - 6, point.label, "end" if is_right else "start")


def _write_text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text, _LABEL)}</text>'


def _place_x(chart: Chart, value: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * _fraction(chart.x, value)


def _place_y(chart: Chart, value: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * _fraction(chart.y, value)


def _fraction(axis: ChartAxis, value: float) -> float:
    return min(1.0, max(0.0, (value - axis.low) / ((axis.high - axis.low) or 1.0)))


def escape(text: str, limit: int = _LONGEST) -> str:
    """Return a text for HTML and SVG on one line. Invisible characters are shown."""
    return html.escape(wording.one_line(text, limit))
