"""Prepares a chart of rates over time, as plain values that pages and reports draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from callgauge.analysis import wording
from callgauge.analysis.measures.trends import DayRate
from callgauge.stats import Interval, Share

OTHERS = "other models"
MOST_IN_ONE = 3
"""The maximum number of lines in one panel. If there are more lines, each has its own panel."""
COLOURS = 6
_FAR = 2  # a goal above this multiple of the highest rate is written at the edge of the chart
_NEAR_ALL = 0.5  # if all rates are above this, the scale does not begin at zero
_STRETCH = 0.5  # unreliable rates may extend the scale by this share of the range of the reliable rates
_LEAST_SPAN = 0.02
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_TICKS = 5
_LABEL = 60  # maximum number of characters of a level's name
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """The length of one point of a trend: a day, a week or a month.

    If the next point is more than `gap` later, the line is interrupted.
    """

    name: str
    gap: timedelta

    def start_of(self, day: date) -> date:
        """Return the first day of the unit that contains `day`. Weeks begin on Monday."""
        if self.name == "week":
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self.name == "month" else day

    def end_of(self, day: date) -> date:
        """Return the last day of the unit that contains `day`."""
        if self.name == "week":
            return self.start_of(day) + 6 * _DAY
        return (day.replace(day=1) + 31 * _DAY).replace(day=1) - _DAY if self.name == "month" else day


_UNITS = {  # each key is the longest span of days for which the unit is used
    92: TimeUnit("day", timedelta(days=3)),  # a weekend is not a break
    800: TimeUnit("week", timedelta(days=14)),
    date.max.toordinal(): TimeUnit("month", timedelta(days=62)),
}


def choose_unit(first: date, last: date) -> TimeUnit:
    """Return the unit of a trend from the day `first` to `last`: days, weeks or months, by the length of the
    trend.
    """
    return next(unit for longest, unit in _UNITS.items() if (last - first).days <= longest)


@dataclass(frozen=True, slots=True)
class LinePoint:
    """The rate of a series in one unit of time, the days from `first` to `last`.

    `is_partial` means that the store does not yet have all calls of these days.
    """

    first: date
    last: date
    share: Share
    is_partial: bool = False

    @property
    def rate(self) -> float:
        return self.share.rate or 0.0

    @property
    def is_few(self) -> bool:
        """True if the point has too few observations or sessions for a reliable rate."""
        return not self.share.has_enough

    @property
    def is_hollow(self) -> bool:
        return self.is_few or self.is_partial


@dataclass(frozen=True, slots=True)
class TrendLine:
    """The line of a series.

    `series` is None for the sum of the series without a line. `colour` is None for grey. `left_out` holds
    points with little data that are outside of the scale, so they are not drawn.
    """

    series: str | None
    label: str
    colour: int | None
    points: tuple[LinePoint, ...]
    left_out: tuple[LinePoint, ...] = ()

    def split_at_gaps(self, gap: timedelta) -> list[list[LinePoint]]:
        """Return the points in groups.

        Points that are further apart than `gap` are not connected by a line.
        """
        stretches: list[list[LinePoint]] = []
        for point in self.points:
            if stretches and point.first - stretches[-1][-1].first <= gap:
                stretches[-1].append(point)
            else:
                stretches.append([point])
        return stretches


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled vertical line in a trend, at the beginning of `day`.

    The marked event happened on a day from `first` to `last`. `series` is the affected series, or empty for
    all series.
    """

    text: str
    day: date
    first: date
    last: date
    series: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """A labelled horizontal line in a trend: a goal, or a baseline with its interval as a band."""

    text: str
    rate: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class TrendChart:
    """A chart of rates over time.

    `ticks` holds the labelled rates, from one end of the scale to the other. `whole` is the line of all
    series together, drawn pale in each panel. It is None if one panel shows all lines.
    """

    title: str
    y_title: str
    unit: TimeUnit
    first: date
    last: date
    lines: tuple[TrendLine, ...]
    whole: TrendLine | None
    ticks: tuple[float, ...]
    marks: tuple[Mark, ...]
    levels: tuple[Level, ...]

    @property
    def has_panels(self) -> bool:
        """True when each line has its own panel, on the same scale."""
        return self.whole is not None

    @property
    def has_intervals(self) -> bool:
        """True when the points show their intervals. Intervals of several lines would overlap."""
        return len(self.lines) == 1

    @property
    def left_out(self) -> int:
        return sum(len(line.left_out) for line in self.lines)

    @property
    def partial(self) -> list[LinePoint]:
        """The drawn points with incomplete data, the earliest first, one for each unit of time."""
        by_day = {point.first: point for line in self.lines for point in line.points if point.is_partial}
        return [by_day[day] for day in sorted(by_day)]

    @property
    def drawn_marks(self) -> list[Mark]:
        """The marks on the drawn days, with `first` and `last` limited to these days."""
        return [
            replace(
                mark,
                day=max(mark.day, self.first),
                first=max(mark.first, self.first),
                last=min(mark.last, self.last),
            )
            for mark in self.marks
            if mark.last >= self.first and mark.day <= self.last
        ]

    def list_units(self) -> list[date]:
        """Return the first day of each unit of time, including units without a point."""
        starts = [self.unit.start_of(self.first)]
        while (start := self.unit.end_of(starts[-1]) + _DAY) <= self.last:
            starts.append(start)
        return starts

    def label_tick(self, tick: float) -> str:
        """Return a tick of the scale as a label, with decimals where the steps are small."""
        return f"{tick:.1%}" if self.ticks[1] - self.ticks[0] < 0.0099 else f"{tick:.0%}"

    def label_level(self, level: Level) -> str:
        """Return the name of a level, with a remark if the level is beyond the scale."""
        beyond = " (above the scale)" if level.rate > self.ticks[-1] else ""
        beyond = " (below the scale)" if level.rate < self.ticks[0] else beyond
        return wording.one_line(level.text, _LABEL) + beyond


def assign_colours(names: Sequence[str], fixed: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the colour number of each of at most six series.

    `fixed` holds the numbers that series have on every page. A series keeps its fixed number if that number
    is free. The last colour is the grey of the unnamed series. It is used for another series only if there
    are six series and all have names.
    """
    wanted, most = fixed or {}, max(COLOURS - 1, len(names))
    own = {name: wanted[name] for name in names if wanted.get(name, most) < most}
    free = iter(number for number in range(most) if number not in own.values())
    return {name: own[name] if name in own else next(free) for name in names}


def make_trend_chart(
    points: Sequence[DayRate],
    colours: Mapping[str, int],
    marks: Sequence[Mark] = (),
    *,
    last_whole: date | None = None,
    others: str = OTHERS,
    title: str = "",
    y_title: str = "Share of calls",
    levels: Sequence[Level] = (),
    name_series: Callable[[str], str] = str,
) -> TrendChart:
    """Return the chart of the rates: one line for each series with a colour, and one line for all other
    series.

    A point is a day, or a week or month if the trend is long. `last_whole` is the newest day with all calls
    in the store. Points with little data may be outside of the scale.
    """
    days = [point.day for point in points]
    unit = choose_unit(min(days), max(days))

    def gather(chosen: Callable[[str], bool]) -> tuple[LinePoint, ...]:
        return _sum_by_unit([point for point in points if chosen(point.series)], unit, last_whole)

    lines = [
        TrendLine(name, name_series(name), number, gathered)
        for name, number in sorted(colours.items(), key=lambda pair: pair[1])
        if (gathered := gather(lambda series, name=name: series == name))  # type: ignore[misc]
    ]
    rest = gather(lambda series: series not in colours)
    lines += [TrendLine(None, others, None, rest)] if rest else []
    ticks = _choose_ticks(lines, levels)
    whole = None
    if len(lines) > MOST_IN_ONE:
        whole = TrendLine(None, "all together", None, gather(lambda _: True))
        whole = _leave_out(whole, ticks)
    return TrendChart(
        title, y_title, unit, min(days), max(days), tuple(_leave_out(line, ticks) for line in lines), whole,
        ticks, tuple(marks), tuple(levels),
    )  # fmt: skip


def _sum_by_unit(points: Sequence[DayRate], unit: TimeUnit, last_whole: date | None) -> tuple[LinePoint, ...]:
    by_start: dict[date, list[DayRate]] = {}
    for point in points:
        by_start.setdefault(unit.start_of(point.day), []).append(point)
    return tuple(
        LinePoint(
            start if unit.name == "day" else min(point.day for point in several),
            max(point.day for point in several),
            Share.sum_up([point.share for point in several]),
            is_partial=last_whole is not None and unit.end_of(start) > last_whole,
        )
        for start, several in sorted(by_start.items())
    )


def _leave_out(line: TrendLine, ticks: Sequence[float]) -> TrendLine:
    inside = tuple(point for point in line.points if ticks[0] <= point.rate <= ticks[-1])
    outside = tuple(point for point in line.points if point not in inside)
    return TrendLine(line.series, line.label, line.colour, inside, outside)


def _choose_ticks(lines: Sequence[TrendLine], levels: Sequence[Level]) -> tuple[float, ...]:
    """Return the labelled rates of a scale that contains every point with enough data.

    If no point has enough data, the scale contains all points. The scale also contains near goals and, if
    there is a single line, the intervals of the line. Points with little data are included if they are near
    the other points.
    """
    every = [point for line in lines for point in line.points]
    solid = [point for point in every if not point.is_hollow] or every
    low, high = min(point.rate for point in solid), max(point.rate for point in solid)
    if len(lines) == 1 and (bounds := [point.share.interval for point in solid if point.share.interval]):
        low, high = min(low, *(each.low for each in bounds)), max(high, *(each.high for each in bounds))
    room = _STRETCH * max(high - low, high / 2, _LEAST_SPAN)
    near = [point.rate for point in every if low - room <= point.rate <= high + room]
    near += [level.rate for level in levels if level.rate <= _FAR * max(high, _LEAST_SPAN)]
    low, high = min(low, *near), min(1.0, max(high, *near, _LEAST_SPAN))
    start = low if low > _NEAR_ALL else 0.0
    step = next((step for step in _STEPS if (high - start) / step <= _MOST_TICKS), _STEPS[-1])
    bottom, top = math.floor(start / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(number * step, 4) for number in range(bottom, max(top, bottom + 1) + 1))
