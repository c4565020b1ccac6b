"""Ranges of days as people say and type them: 7 days, all days, one day, a month, from a day to a day."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

Days = tuple[date, date]
PRESETS = ("28 days", "1 day", "7 days", "90 days", "All days", "7 days to today", "28 days to today")
"""The ranges that are offered; the first is the usual one."""
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_MONTH = re.compile(r"\d{4}-\d{1,2}")
_SPAN = re.compile(
    r"(?:last |newest )?(\d{1,4}) ?(d|days?|w|weeks?|h|hours?)( to today|-now)?", re.IGNORECASE
)
_LONGEST = 3_660  # days; ten years


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A range of days (UTC): the newest `length` days, or from `first` to `last`, or all when neither is set.

    `to_today`: the newest days end today; otherwise they end on the newest day with data.
    """

    length: int | None = None
    to_today: bool = False
    first: date | None = None
    last: date | None = None

    @property
    def text(self) -> str:
        """The range as pages show it and links hold it: 7 days, 7 days to today, All days, 2026-11-09."""
        if self.length is not None:
            return f"{self.length} day{'' if self.length == 1 else 's'}{' to today' if self.to_today else ''}"
        if self.first is None:
            return "All days"
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"

    def resolve(self, newest: date, today: date) -> Days | None:
        """Return the first and the last day, both inclusive; None for all days, also those that are unknown.

        `newest`: the newest day with data. One after `today` is a wrong clock's, and the range ends today.
        """
        if self.length is not None:
            last = today if self.to_today else min(newest, today)
            return last - timedelta(self.length - 1), last
        return (self.first, self.last) if self.first and self.last else None


def read_range(text: str) -> TimeRange:
    """Return the range that a link or a person means. Raises ValueError with the forms that are understood.

    Understood are 7d, 24h, 2 weeks, 7 days to today, all, one or two days as 2026-11-09, and a month as
    2026-11.
    """
    asked = text.strip()
    if asked.lower() in ("all", "all days"):
        return TimeRange()
    if span := _SPAN.fullmatch(asked):
        unit = span[2][0].lower()
        days = -(-int(span[1]) // 24) if unit == "h" else int(span[1]) * (7 if unit == "w" else 1)
        if 1 <= days <= _LONGEST:
            return TimeRange(days, bool(span[3]))
    if found := _DAY.findall(asked):
        if len(found) <= 2:
            ends = sorted(_read_day(day) for day in found)
            return TimeRange(first=ends[0], last=ends[-1])
    elif _MONTH.fullmatch(asked):
        first = _read_day(f"{asked}-01")
        after = (first.replace(day=1) + timedelta(32)).replace(day=1)
        return TimeRange(first=first, last=after - timedelta(1))
    raise ValueError(
        f"“{asked[:40]}” is not a range of days; use 7 days, all, 2026-11-09, or 2026-11-09 to 2026-11-15"
    )


def _read_day(text: str) -> date:
    year, month, day = map(int, text.split("-"))
    return date(year, month, day)
