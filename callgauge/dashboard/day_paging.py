"""Pages through a long list, the newest days first, and counts its rows.

A store may hold fifty million calls, a page fifty. So a list looks at a run of days at a time, from the
newest on: the sums of the days tell how many rows each holds or, where they cannot tell by all that is asked,
how many at most. Then the rows are counted as they are looked at, and that ends when there are enough or the
time is over: the count is a lower bound then, and says so. What was looked at once is not looked at again
(`ask` remembers).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd

Ask = Callable[..., pd.DataFrame]
ENOUGH = 10_000  # rows to count where the sums of the days cannot tell: nobody turns two hundred pages
SECONDS = 0.4  # to go on counting for
_NEVER = date(1, 1, 1)


@dataclass(frozen=True, slots=True)
class DayList:
    """A list by day.

    `days`: the metric that tells the days of `metric`; `look`: rows to look at in one go.
    """

    metric: str
    days: str
    look: int
    per_page: int


CALLS = DayList("calls", "call_days", 500_000, 50)
SESSIONS = DayList("sessions", "session_days", 50_000, 50)
DISAGREEMENTS = DayList("disagreements", "disagreement_days", 2_000, 15)


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list. `found`: how many rows match, since the day `since` where days were left out."""

    rows: pd.DataFrame
    found: int
    since: date | None = None

    @property
    def is_complete(self) -> bool:
        """True when all days were looked at. Else there may be more than were found."""
        return self.since is None


@dataclass(frozen=True, slots=True)
class _DayRun:
    """Days that follow each other, the newest first; None = rows without a time. `rows`: how many match."""

    days: Sequence[date | None]
    rows: int


def read_page(
    ask: Ask,
    one: DayList,
    given: Mapping[str, Any],
    limit: int,
    offset: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> ListPage:
    """Return `limit` rows from `offset` on. Raises MetricError."""
    if given.get("order"):  # not the newest first: no day can be left out
        rows = ask(one.metric, **given, limit=limit, offset=offset)
        return ListPage(rows, int(rows.found.iloc[0]) if len(rows) else 0)
    days = ask(one.days, **given)
    runs, since = _day_runs(ask, one, given, days, offset + limit, clock)
    found = sum(run.rows for run in runs)
    needed, before = _needed_days(runs, limit, offset)
    looked_at = _day_bounds(ask, one, days, needed) if len(needed) < len(days) or not needed else {}
    return ListPage(ask(one.metric, **given, **looked_at, limit=limit, offset=offset - before), found, since)


def _day_runs(
    ask: Ask,
    one: DayList,
    given: Mapping[str, Any],
    days: pd.DataFrame,
    wanted: int,
    clock: Callable[[], float],
) -> tuple[list[_DayRun], date | None]:
    """The days that are known, with their rows, and the last of them where they are not all."""
    if days.exact.all():
        return [_DayRun((day,), int(most)) for day, most in zip(days.day, days.most, strict=True)], None
    until = clock() + SECONDS
    runs: list[_DayRun] = []
    looks = list(_split_days(days, one.look))
    for number, look in enumerate(looks):
        looked_at = _day_bounds(ask, one, days, look) if len(looks) > 1 else {}
        rows = ask(one.metric, **given, **looked_at, limit=one.per_page, offset=0)
        runs.append(_DayRun(look, int(rows.found.iloc[0]) if len(rows) else 0))
        enough = sum(run.rows for run in runs) >= max(wanted, ENOUGH)
        if (enough or clock() >= until) and number + 1 < len(looks):
            return runs, look[-1]
    return runs, None


def _split_days(days: pd.DataFrame, size: int) -> Iterator[list[date | None]]:
    """The days in runs of about `size` rows, but of one day at least."""
    look: list[date | None] = []
    rows = 0
    for day, most in zip(days.day, days.most, strict=True):
        if look and rows + most > size:
            yield look
            look, rows = [], 0
        look.append(day)
        rows += most
    if look:
        yield look


def _needed_days(runs: Sequence[_DayRun], limit: int, offset: int) -> tuple[list[date | None], int]:
    """The days that hold these rows, and how many rows the newer days hold."""
    needed: list[date | None] = []
    before = seen = 0
    for run in runs:
        if seen + run.rows <= offset:
            before += run.rows
        elif seen < offset + limit:
            needed.extend(run.days)
        seen += run.rows
    return needed, before if needed else 0


def _day_bounds(ask: Ask, one: DayList, days: pd.DataFrame, look: Sequence[date | None]) -> dict[str, Any]:
    """What tells a metric to look at these days alone, the newest first; none of them = at nothing."""
    dated = [day for day in look if day is not None]
    undated = len(dated) < len(look)
    bounds: dict[str, Any] = {
        "since": None if dated and undated else dated[-1] if dated else date.max,
        "until": dated[0] if dated else _NEVER,
        "undated": undated,
    }
    spans = _session_spans(ask, one, days, look)
    known = len(spans) > 0 and bool(spans.first_day.notna().all() and spans.last_day.notna().all())
    if known and dated and not undated:
        bounds |= {"first_day": spans.first_day.min(), "last_day": spans.last_day.max()}
    return {name: value for name, value in bounds.items() if value is not None}


def _session_spans(ask: Ask, one: DayList, days: pd.DataFrame, look: Sequence[date | None]) -> pd.DataFrame:
    """Return the days within which all that belongs to the sessions of these days lies."""
    if one.metric == SESSIONS.metric:
        return days[[day in look for day in days.day]]
    spans = ask("session_days")
    dated = [day for day in look if day is not None]
    return spans[[not (dated and _is_apart(span, dated)) for span in spans.itertuples()]]


def _is_apart(span: Any, dated: Sequence[date]) -> bool:
    """Return True when all that belongs to these sessions lies before or behind the days."""
    late = span.first_day is not None and span.first_day > dated[0]
    early = span.last_day is not None and span.last_day < dated[-1]
    return late or early
