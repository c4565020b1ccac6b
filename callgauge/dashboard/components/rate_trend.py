"""Draws a card with rates by day. Marks show the days on which a rate or a prompt changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from string import ascii_uppercase

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import find_last_whole_day
from callgauge.analysis.measures import trend_lines, trends
from callgauge.analysis.measures.alerts import Alert, read_alerts
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice, merge_slices
from callgauge.analysis.measures.trend_lines import Level, Mark, TrendChart, TrendLine
from callgauge.analysis.measures.trends import DayRate, RateShift
from callgauge.analysis.verdicts.alerts import describe_alert
from callgauge.analysis.verdicts.goals import format_goal
from callgauge.analysis.verdicts.sentences import LESS
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.memory.goals import read_goals
from callgauge.dashboard.components.memory.note_list import draw_trend_note_control
from callgauge.dashboard.components.memory.trend_marks import (
    find_trend_decisions,
    find_trend_notes,
)
from callgauge.dashboard.components.slice_table import FILTERED
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.trend.trend_chart import draw_trend_chart
from callgauge.dashboard.shown_slices import ask_slices
from callgauge.memory.decisions import RecordedDecision
from callgauge.memory.notes import Note

_MARKED = 20  # newest marks that are listed below the chart
_LISTED = 14  # rows of the table of points before "Show all"

Points = Mapping[str, Sequence[DayRate]]


@dataclass(frozen=True, slots=True)
class TrendEvent:
    """An event on a day: a mark in the chart and a row in the table below."""

    day: date
    what: str
    detail: str = ""


def draw_rate_trend(
    title: str,
    several: Sequence[Slice],
    rate: RateDefinition,
    by: str,
    *,
    key: str,
    take: cards.Download | None = None,
    events: Sequence[TrendEvent] = (),
    why: Callable[[Sequence[RateShift]], Mapping[RateShift, str]] | None = None,
    before: Sequence[Slice] | None = None,
) -> None:
    """Draw the card with rates by day.

    `several` holds slices by the dimension `by` and by day. The chart marks changes of rates, `events`,
    alerts on a series, and the team's decisions and notes. `why` returns for each change a text about other
    events on the days of the change. Horizontal lines show the team's goal and the rate of the baseline.
    `before` holds the baseline's slices, if known.
    """
    last_whole = store_queries.derive(find_last_whole_day, "last whole day")
    every = trends.group_by_day(several)
    points = trends.group_by_day(several, last_whole)  # only complete days are tested for changes
    days = sorted({point.day for series in every.values() for point in series})
    unit = trend_lines.choose_unit(days[0], days[-1]) if days else None
    title = title.replace("by day", f"by {unit.name}") if unit else title
    with cards.draw_card(
        title,
        "slices",
        beside=lambda: draw_trend_note_control(key, by, list(points), days[-1]) if days else None,
        take=take,
        height=520,
        verdict="change",
    ):
        if not unit:
            st.caption(f"No day with a measured {rate.noun}. Widen the filters or choose another rate.")
            return
        shifts = _cached_shifts(points)
        span = (days[0], days[-1])
        alerts = _find_alerts(rate, by, points)
        marked = {event: alert for alert in alerts if (event := _mark_alert(alert)).day >= span[0]}
        notes = map(_make_event, find_trend_notes(by, points, span))
        decisions = map(_describe_decision, find_trend_decisions(by, points, span))
        letters = _assign_letters([*shifts, *events, *marked, *notes, *decisions])
        colours = series_colours(by, points, rate)
        chart = trend_lines.make_trend_chart(
            [point for series in every.values() for point in series],
            colours,
            _make_marks(letters, {event: alert.values[by] for event, alert in marked.items()}),
            last_whole=last_whole,
            others=f"other {wording.plural_of(DIMENSIONS[by].lower())}",
            title=title,
            y_title=f"Share of {rate.noun}s",
            levels=_make_levels(rate, by, points, before),
            name_series=lambda name: filters.value_label(by, name),
        )
        words = _describe_lines(rate, by, points, colours)
        draw_trend_chart(
            chart, key=key, words=words, link_calls=lambda line: _link_calls(line, rate, by, span)
        )
        _draw_notes(chart, points, colours, shifts, rate, [alert for alert in alerts if alert.is_open])
        _draw_points(key, chart, rate, by)
        if letters:
            _draw_table(key, rate, by, letters, why(shifts) if why else {})


def _link_calls(line: TrendLine, rate: RateDefinition, by: str, days: tuple[date, date]) -> str | None:
    """Return a URL that lists the calls of a chart line.

    Returns None when the line counts turns or several series.
    """
    if line.series is None or rate.calls is None or by not in FILTERED:
        return None
    return filters.page_link("calls", {by: line.series}, rate.calls, days=days)


@st.fragment
def _draw_points(key: str, chart: TrendChart, rate: RateDefinition, by: str) -> None:
    fold = st.expander("As a table", key=f"{key}_points", on_change="rerun")
    if not fold.open:
        return
    unit = chart.unit
    by_start: dict[date, dict[int, trend_lines.LinePoint]] = {}
    for number, line in enumerate(chart.lines):
        for point in (*line.points, *line.left_out):
            by_start.setdefault(unit.start_of(point.first), {})[number] = point
    columns = [Column(unit.name.capitalize(), "tight")]
    columns += [Column(wording.one_line(line.label, 60), "number") for line in chart.lines]
    rows = []
    for start, points in sorted(by_start.items(), reverse=True):
        is_partial = any(point.is_partial for point in points.values())
        row = [Cell(start.isoformat(), sub="not complete" if is_partial else None)]
        for number, line in enumerate(chart.lines):
            if number not in points:
                row.append(Cell("–"))
                continue
            point = points[number]
            k, n = point.share.k, point.share.n
            href = _link_calls(line, rate, by, (point.first, point.last))
            row.append(Cell(wording.rate(k, n), sub=wording.fraction(k, n), href=href, pale=point.is_hollow))
        rows.append(row)
    with fold:
        draw_table(f"{key}_point_table", chart.title, columns, rows, shown=_LISTED)


def _find_alerts(rate: RateDefinition, by: str, points: Points) -> list[Alert]:
    """Return the alerts on the rate of a shown series.

    If several alerts report the same change, only the alert that includes the other alerts is returned.
    """
    night = store_queries.derive(read_alerts, "alerts")
    shown = [
        alert
        for alert in (night.alerts if night else ())
        if alert.rate.name == rate.name and alert.values.get(by) in points
    ]
    leading = {alert.key for alert in shown}
    return [alert for alert in shown if alert.part_of not in leading]


def _mark_alert(alert: Alert) -> TrendEvent:
    """Return the chart mark of an alert.

    The mark is on the day when the rate was normal again. If the rate is not normal yet, the mark is on the
    alert's first day.
    """
    day = alert.back or alert.since
    item = describe_alert(alert, alert.days[1], filters.short_label)
    state = "an alert that is over" if alert.over else "an open alert"
    return TrendEvent(day, f"{item.subject} {item.rest}", f"{state}, {item.counts}")


def _make_event(note: Note) -> TrendEvent:
    if note.day is None:
        raise ValueError("a note without a day has no mark")
    on = "" if note.kind == "day" else f" on {filters.short_label(note.kind, note.subject)}"
    by = f" by {wording.one_line(note.by, 60)}" if note.by else ""
    return TrendEvent(note.day, wording.one_line(note.text, 300), f"a note{on}{by}")


def _describe_decision(decision: RecordedDecision) -> TrendEvent:
    by = f" by {wording.one_line(decision.by, 60)}" if decision.by else ""
    return TrendEvent(decision.at.date(), wording.one_line(decision.title, 300), f"a decision{by}")


def series_colours(by: str, points: Points, rate: RateDefinition) -> dict[str, int]:
    """Return the colour number of each series that has a name in the chart.

    The most used and the worst series have names. A frequently used model has the same colour on every page.
    """
    named = trends.name_series(points, rate)
    if by != "model":
        return trend_lines.assign_colours(named)
    by_use = filters.read_labels().get("model", {})
    return trend_lines.assign_colours(named, {name: number for number, name in enumerate(by_use)})


def _make_levels(
    rate: RateDefinition, by: str, points: Points, slices: Sequence[Slice] | None
) -> list[Level]:
    """Return the levels that the chart draws as lines: the baseline's rate and the team's goal."""
    levels = []
    several = _read_baseline(rate, by) if slices is None else slices
    # If the baseline was saved with filters, series that the chart does not draw count, too.
    pinned = bool(filters.baseline_slice())
    whole = merge_slices(slice_ for slice_ in several if pinned or slice_.name in points)
    before = whole.share if whole else None
    if before is not None and before.rate is not None:
        levels.append(
            Level(
                f"{filters.compared_with()} {wording.rate(before.k, before.n)}", before.rate, before.interval
            )
        )
    if goal := read_goals().get(rate.name):
        levels.append(Level(format_goal(rate, goal), goal.goal))
    return levels


def _read_baseline(rate: RateDefinition, by: str) -> Sequence[Slice]:
    parameters = filters.baseline_parameters(filters.chosen_filters().parameters())
    if parameters is None:
        return ()
    return ask_slices(rates=(rate.name,), by=by, **parameters)


def _describe_lines(rate: RateDefinition, by: str, points: Points, named: Mapping[str, int]) -> str:
    """Return the chart in words for screen readers: each named series with its newest point."""
    newest = [
        f"{filters.short_label(by, name)} {wording.percent(last.share.rate or 0.0)} on {last.day}"
        for name in named
        if name in points and (last := points[name][-1])
    ]
    return f"{rate.title} by day and {DIMENSIONS[by].lower()}. Newest: {'; '.join(newest)}."


def _cached_shifts(points: Points) -> list[RateShift]:
    counts = {
        name: [(point.day.toordinal(), point.share.k, point.share.n) for point in series]
        for name, series in points.items()
    }
    return _find_shifts(repr(counts), points)


@st.cache_data(max_entries=200, show_spinner=False)
def _find_shifts(counts: str, _points: Points) -> list[RateShift]:  # noqa: ARG001
    """Return the changes in the series, from a cache if possible. The cache key is `counts`."""
    return trends.find_shifts(_points)


def _assign_letters(marked: Sequence[RateShift | TrendEvent]) -> dict[RateShift | TrendEvent, str]:
    """Return a letter for each of the newest changes and events, in the order of their days."""
    newest = sorted(marked, key=lambda event: event.day)[-_MARKED:]
    return dict(zip(newest, ascii_uppercase, strict=False))


def _make_marks(
    letters: Mapping[RateShift | TrendEvent, str], series: Mapping[TrendEvent, str]
) -> list[Mark]:
    """Return one mark for each day with changes or events.

    `series` maps an event to the affected series. An event that is not in `series` concerns all series.
    """
    by_day: dict[date, list[RateShift | TrendEvent]] = {}
    for event in letters:
        by_day.setdefault(event.day, []).append(event)
    marks = []
    for day, events in by_day.items():
        shifts = [event for event in events if isinstance(event, RateShift)]
        first = min((shift.first for shift in shifts), default=day)
        last = max((shift.last for shift in shifts), default=day)
        named = [event.series if isinstance(event, RateShift) else series.get(event) for event in events]
        about = tuple(name for name in named if name is not None) if None not in named else ()
        marks.append(Mark(" ".join(letters[event] for event in events), day, first, last, about))
    return marks


def _draw_notes(
    chart: TrendChart,
    points: Points,
    named: Mapping[str, int],
    shifts: Sequence[RateShift],
    rate: RateDefinition,
    opened: Sequence[Alert],
) -> None:
    parts = ["Drag to choose days."]
    if rate.calls is not None:
        parts[0] = "Drag to choose days; click a point to open its calls."
    if any(point.is_few for line in chart.lines for point in line.points):
        parts.append(f"Hollow: {LESS}.")
    if chart.partial:
        days = wording.list_words([f"{point.first}" for point in chart.partial])
        parts.append(f"Hollow and dotted: {days}, not complete at the last load.")
    if chart.left_out:
        few = wording.plural(chart.left_out, "point")
        parts.append(
            f"{few} with too little data {'is' if chart.left_out == 1 else 'are'} far beyond the "
            "scale; the table below lists all points."
        )
    if chart.unit.name != "day":
        parts.append(f"A point is a {chart.unit.name}, as the days go far back; choose days for each day.")
    if len(points) > len(named):
        parts.append(trends.describe_named(points, rate))
    examined = len(trends.examined_series(points))
    if not examined:
        parts.append(
            f"No series has the {trends.ENOUGH_DAYS} days that it takes to tell a change from chance."
        )
    elif shifts or not opened:
        changes = wording.plural(len(shifts), "change")
        summary = (
            f"{changes} found in {examined} series, the most observed of {trends.ENOUGH_DAYS} days or more"
        )
        parts.append(f"{summary}. {trends.describe_doubt(examined)}")
    if opened:
        are = "is" if len(opened) == 1 else "are"
        parts.append(f"{wording.plural(len(opened), 'open alert')} of the nightly runs {are} marked.")
    st.caption(" ".join(parts))


def _draw_table(
    key: str,
    rate: RateDefinition,
    by: str,
    letters: Mapping[RateShift | TrendEvent, str],
    why: Mapping[RateShift, str],
) -> None:
    columns = [
        Column("Mark", "tight"),
        Column(
            "From",
            "tight",
            "The first day with the new rate or text; for a rate, the days that hold it (95 %)",
        ),
        Column("What changed", "text"),
        *([Column("New that day", "text", "What this series had not used before")] if why else []),
    ]
    rows: list[list[Cell]] = []
    for event in sorted(letters, key=lambda event: event.day, reverse=True):
        if isinstance(event, TrendEvent):
            rows.append(
                [
                    Cell(letters[event]),
                    Cell(event.day.isoformat()),
                    Cell(event.what, sub=event.detail or None),
                    *([Cell("")] if why else []),
                ]
            )
        else:
            cells = _shift_row(rate, by, event, letters[event])
            rows.append([*cells, *([Cell(why.get(event, ""))] if why else [])])
    draw_table(f"{key}_marks", "What changed, and when", columns, rows)


def _shift_row(rate: RateDefinition, by: str, shift: RateShift, letter: str) -> list[Cell]:
    worse = None if rate.better is None else (shift.after < shift.before) == rate.is_good
    href = None
    if rate.calls is not None and by in FILTERED:
        href = filters.page_link("calls", {by: shift.series}, rate.calls, days=(shift.day, shift.day))
    between = f"between {shift.first} and {shift.last}" if shift.first < shift.last else "this day"
    return [
        Cell(letter, tone="calm" if worse is None else "bad" if worse else "good"),
        Cell(shift.day.isoformat(), sub=between, href=href, title="The calls of that day" if href else None),
        Cell(
            f"{filters.short_label(by, shift.series)}: {rate.phrase} "
            f"{wording.percent(shift.before)} → {wording.percent(shift.after)}",
            sub=f"p {shift.p:.3f}, days shuffled",
        ),
    ]
