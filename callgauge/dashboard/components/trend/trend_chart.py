"""Draws rates over time as lines.

Dragging selects days. A click or a key on a point opens the calls of the point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trend_lines import LinePoint, TimeUnit, TrendChart, TrendLine
from callgauge.dashboard.components.controls.component_files import beside_folder, read_source
from callgauge.dashboard.components.trend.trend_document import convert_trend
from callgauge.dashboard.shown_page import record_part

_LABEL = 60  # maximum length of a series name
_PANEL, _LEGEND, _SINGLE = 224, 28, 340  # pixels, as in trend_chart.js
_COLUMNS = 3  # panels side by side on a wide screen
CallsLink = Callable[[TrendLine], str | None]


def draw_trend_chart(chart: TrendChart, *, key: str, words: str, link_calls: CallsLink) -> None:
    """Draw the chart.

    `link_calls` returns a URL that lists the calls behind a line, or None if no page can list these calls.
    """
    draw = st.components.v2.component(
        "trend_chart",
        html="<div class='trend' role='group' tabindex='0'>\n</div>",
        css=read_source(__file__, "trend_chart.css"),
        js=read_source(beside_folder(__file__), "drawing.js") + read_source(__file__, "trend_chart.js"),
    )
    record_part(key, lambda: convert_trend(chart, words))
    rows = -(-len(chart.lines) // _COLUMNS)
    height = _LEGEND + (rows * _PANEL if chart.has_panels else _SINGLE)
    # Reserve the height until the script has drawn, so that nothing below moves. Then shell.css removes the
    # fixed height.
    draw(key=key, data=send_chart(chart, words, link_calls), height=height)


def send_chart(chart: TrendChart, words: str, link_calls: CallsLink) -> dict[str, Any]:
    """Return the data for trend_chart.js. The format is described at the top of that file."""
    units = chart.list_units()
    numbers = {line.series: number for number, line in enumerate(chart.lines)}
    return {
        "theme": st.context.theme.type,  # another theme has other colours, so the script must run again
        "words": f"{words} Arrow keys go from point to point, Enter opens the calls of a point; "
        "with Shift, arrow keys choose days.",
        "unit": chart.unit.name,
        "intervals": chart.has_intervals,
        "panels": chart.has_panels,
        "ticks": [(tick, chart.label_tick(tick)) for tick in chart.ticks],
        "start": units[0].isoformat(),
        "end": units[-1].isoformat(),
        "units": [unit.isoformat() for unit in units],
        "spans": [
            (max(unit, chart.first).isoformat(), min(chart.unit.end_of(unit), chart.last).isoformat())
            for unit in units
        ],
        "lines": [_send_line(line, chart.unit, link_calls(line)) for line in chart.lines],
        "whole": _send_line(chart.whole, chart.unit, None) if chart.whole else None,
        "marks": [
            {
                "text": mark.text,
                "day": mark.day.isoformat(),
                "first": mark.first.isoformat(),
                "last": mark.last.isoformat(),
                "lines": [numbers[name] for name in mark.series if name in numbers] or None,
            }
            for mark in chart.drawn_marks
        ],
        "levels": [
            {
                "rate": level.rate,
                "low": level.interval.low if level.interval else None,
                "high": level.interval.high if level.interval else None,
                "goal": level.interval is None,
            }
            for level in chart.levels
        ],
        "legend": list(_list_legend(chart)),
    }


def _list_legend(chart: TrendChart) -> Iterator[tuple[str, int | None, str]]:
    """Return the entries of the legend as (kind, colour, label)."""
    if chart.whole:
        yield "whole", None, chart.whole.label
    else:
        yield from (("line", line.colour, wording.one_line(line.label, _LABEL)) for line in chart.lines)
    for level in chart.levels:
        yield "level" if level.interval else "goal", None, chart.label_level(level)


def _send_line(line: TrendLine, unit: TimeUnit, href: str | None) -> dict[str, Any]:
    return {
        "name": wording.one_line(line.label, _LABEL),
        "colour": line.colour,
        "href": href,
        "stretches": [
            [_send_point(point, unit) for point in stretch] for stretch in line.split_at_gaps(unit.gap)
        ],
    }


def _send_point(point: LinePoint, unit: TimeUnit) -> dict[str, Any]:
    bounds = point.share.interval
    return {
        "at": unit.start_of(point.first).isoformat(),
        "from": point.first.isoformat(),
        "to": point.last.isoformat(),
        "rate": point.rate,
        "low": bounds.low if bounds else None,
        "high": bounds.high if bounds else None,
        "hollow": point.is_hollow,
        "partial": point.is_partial,
        "text": describe_point(point),
    }


def describe_point(point: LinePoint) -> list[str]:
    """Return the lines of a point's tooltip: the days, the rate, and notes such as “too little data”."""
    k, n = point.share.k, point.share.n
    days = f"{point.first}" if point.first == point.last else f"{point.first} to {point.last}"
    bounds = wording.interval(point.share.interval)
    lines = [days, f"{wording.rate(k, n)} · {wording.fraction(k, n)}{f' · 95% {bounds}' if bounds else ''}"]
    if point.is_few:
        lines.append("too little data to rely on")
    if point.is_partial:
        lines.append("not complete: the last load saw only a part")
    return lines
