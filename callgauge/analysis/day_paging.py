"""Pages through a long list, the newest days first, and counts the matching rows.

A store may contain fifty million tool calls, but a page shows fifty. So a list is read in groups of
consecutive days, the newest first. The daily sums give the number of matching rows on each day, or an upper
bound if a filter is not in the daily sums; then the rows are counted. Counting ends when enough rows are
found or the time limit is over. The count is then a lower bound (`ListPage.is_complete`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pandas as pd

Ask = Callable[..., pd.DataFrame]
ENOUGH = 10_000  # number of rows to count: nobody reads two hundred pages
SECONDS = 0.4  # time limit for counting
SEARCH_COST = 10  # searching the text of one row costs about as much as reading this many rows
_NEVER = date(1, 1, 1)


@dataclass(frozen=True, slots=True)
class DayList:
    """A list that is paged by day.

    `metric` is the metric of the rows. `days` is the metric with the number of rows on each day. `look` is
    the number of rows to read at a time. `per_page` is the number of rows on a page. A sorted list contains
    about `sorted_within` rows, from the newest days. If `metric` must read more rows than it returns, the
    metric `days` counts the read rows as `reads`.
    """

    metric: str
    days: str
    look: int
    per_page: int
    sorted_within: int = 0


CALLS = DayList("calls", "call_days", 500_000, 40, sorted_within=2_000_000)
SESSIONS = DayList("sessions", "session_days", 50_000, 25, sorted_within=1_000_000)
DISAGREEMENTS = DayList("disagreements", "disagreement_days", 2_000, 15)


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list. `found` is the total number of matching rows.

    `since` is the oldest counted day, or None when all days were counted. `is_sorted` is True if the order of
    the list is not newest first.
    """

    rows: pd.DataFrame
    found: int
    since: date | None = None
    is_sorted: bool = False

    @property
    def is_complete(self) -> bool:
        """True when all days were counted. Otherwise `found` is a lower bound."""
        return self.since is None


@dataclass(frozen=True, slots=True)
class _DayRun:
    """Consecutive days, the newest first, and the number of matching `rows` on these days.

    The day None stands for rows without a time.
    """

    days: Sequence[date | None]
    rows: int


def read_page(
    ask: Ask,
    day_list: DayList,
    filters: Mapping[str, Any],
    limit: int,
    offset: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> ListPage:
    """Return the page of a list with `limit` rows from `offset` on. Raises MetricError.

    `filters` holds the parameters of the metric. If they contain an `order`, only about `sorted_within` rows
    of the newest days are sorted.
    """
    days = ask(day_list.days, **filters, **_chosen_days(day_list, filters))
    if filters.get("order"):
        return _read_sorted(ask, day_list, filters, days, limit, offset)
    runs, since = _day_runs(ask, day_list, filters, days, offset + limit, clock)
    row_count = sum(run.rows for run in runs)
    needed, before = _needed_days(runs, limit, offset)
    looked_at = _day_bounds(ask, day_list, days, needed) if len(needed) < len(days) or not needed else {}
    return ListPage(
        ask(day_list.metric, **filters, **looked_at, limit=limit, offset=offset - before), row_count, since
    )


def _chosen_days(day_list: DayList, filters: Mapping[str, Any]) -> dict[str, date]:
    """Return the parameters that exclude sessions without records on the chosen days from counting."""
    chosen = filters.get("from_day"), filters.get("to_day")
    if day_list.days != SESSIONS.days or chosen == (None, None):
        return {}
    return {"first_day": chosen[0] or _NEVER, "last_day": chosen[1] or date.max}


def _read_sorted(
    ask: Ask, day_list: DayList, filters: Mapping[str, Any], days: pd.DataFrame, limit: int, offset: int
) -> ListPage:
    reads = days.reads if "reads" in days else days.most
    within = day_list.sorted_within // (SEARCH_COST if filters.get("search") else 1)
    looks = list(_split_days(days.assign(most=reads), within))
    looked_at = _day_bounds(ask, day_list, days, looks[0]) if len(looks) > 1 else {}
    rows = ask(day_list.metric, **filters, **looked_at, limit=limit, offset=offset)
    row_count = int(rows.found.iloc[0]) if len(rows) else 0
    return ListPage(rows, row_count, looks[0][-1] if len(looks) > 1 else None, is_sorted=True)


def _day_runs(
    ask: Ask,
    day_list: DayList,
    filters: Mapping[str, Any],
    days: pd.DataFrame,
    wanted: int,
    clock: Callable[[], float],
) -> tuple[list[_DayRun], date | None]:
    """Return the groups of days with counted rows, and the oldest counted day.

    The oldest day is None when all days were counted.
    """
    if days.exact.all():
        return [_DayRun((day,), int(most)) for day, most in zip(days.day, days.most, strict=True)], None
    until = clock() + SECONDS
    runs: list[_DayRun] = []
    looks = list(_split_days(days, day_list.look, first=day_list.look // 10))
    for number, look in enumerate(looks):
        looked_at = _day_bounds(ask, day_list, days, look) if len(looks) > 1 else {}
        rows = ask(day_list.metric, **filters, **looked_at, limit=day_list.per_page, offset=0)
        runs.append(_DayRun(look, int(rows.found.iloc[0]) if len(rows) else 0))
        enough = sum(run.rows for run in runs) >= max(wanted, ENOUGH)
        if (enough or clock() >= until) and number + 1 < len(looks):
            return runs, look[-1]
    return runs, None


def oldest_of_newest(days: pd.DataFrame, rows: int) -> date | None:
    """Return the oldest of the newest days that together have about `rows` rows.

    Return None when these are all days.
    """
    looks = list(_split_days(days, rows))
    return looks[0][-1] if len(looks) > 1 else None


def _split_days(days: pd.DataFrame, size: int, first: int | None = None) -> Iterator[list[date | None]]:
    """Yield the days in groups of about `size` rows, each with one or more days.

    The first group has about `first` rows. Each later group has twice as many, up to `size`.
    """
    look: list[date | None] = []
    rows, allowed = 0, size if first is None else first
    for day, most in zip(days.day, days.most, strict=True):
        if look and rows + most > allowed:
            yield look
            look, rows, allowed = [], 0, min(2 * allowed, size)
        look.append(day)
        rows += most
    if look:
        yield look


def _needed_days(runs: Sequence[_DayRun], limit: int, offset: int) -> tuple[list[date | None], int]:
    needed: list[date | None] = []
    before = rows_seen = 0
    for run in runs:
        if rows_seen + run.rows <= offset:
            before += run.rows
        elif rows_seen < offset + limit:
            needed.extend(run.days)
        rows_seen += run.rows
    return needed, before if needed else 0


def _day_bounds(
    ask: Ask, day_list: DayList, days: pd.DataFrame, look: Sequence[date | None]
) -> dict[str, Any]:
    """Return parameters that restrict a metric to the days in `look`, or to no rows if `look` is empty."""
    dated = [day for day in look if day is not None]
    undated = len(dated) < len(look)
    bounds: dict[str, Any] = {
        "since": None if dated and undated else dated[-1] if dated else date.max,
        "until": dated[0] if dated else _NEVER,
        "undated": undated,
    }
    if not look:
        bounds |= {"first_day": _NEVER, "last_day": _NEVER}
    elif dated and not undated:
        spans = _session_spans(ask, day_list, days, dated)
        if len(spans) and spans.first_day.notna().all() and spans.last_day.notna().all():
            bounds |= {"first_day": spans.first_day.min(), "last_day": spans.last_day.max()}
    return {name: value for name, value in bounds.items() if value is not None}


def _session_spans(ask: Ask, day_list: DayList, days: pd.DataFrame, look: Sequence[date]) -> pd.DataFrame:
    """Return the rows of `session_days` for sessions that may have records on the days in `look`."""
    if day_list.metric == SESSIONS.metric:
        return days[[day in look for day in days.day]]
    spans = ask(SESSIONS.days, first_day=look[-1], last_day=look[0])
    return spans[[not _is_apart(span, look) for span in spans.itertuples()]]


def _is_apart(span: Any, dated: Sequence[date]) -> bool:
    """Return True when all records of a row's sessions are before or after the days `dated`."""
    late = span.first_day is not None and span.first_day > dated[0]
    early = span.last_day is not None and span.last_day < dated[-1]
    return late or early
