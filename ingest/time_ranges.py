"""The syntax of times in commands, links and the API.

A day is a date, `today`, `yesterday`, a weekday, or an age: `7d`, `2 weeks`, `last week`. A range is a day, a
month, the newest days, or two days: `2026-11-09..yesterday`. A moment is a day or an exact time.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import msgspec

Days = tuple[date, date]
PRESETS = ("28 days", "1 day", "7 days", "90 days", "All days", "7 days to today", "28 days to today")
"""The ranges that are offered. The first range is the default."""
DAY_FORMS = "today, yesterday, monday, 7d, 2 weeks, last week or 2026-11-09"
RANGE_FORMS = (
    "7d, 2 weeks, last week, yesterday, 2026-11-09, 2026-11, 2026-11-09..2026-11-15, 7 days to today or all"
)
"""The valid forms, for help and errors."""
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_MONTH = re.compile(r"\d{4}-\d{1,2}")
_BETWEEN = re.compile(r"\s*(?:\.\.\.?|…|[,–—_]|\sto\s|\s-\s)\s*", re.IGNORECASE)
_SPAN = re.compile(
    r"(?:last |newest )?(\d{1,4}) ?(d|days?|w|weeks?|h|hours?)(?: ago)?( to today|-now)?", re.IGNORECASE
)
_MINUTES = re.compile(r"(\d{1,6}) ?(?:m|min|minutes?)(?: ago)?", re.IGNORECASE)
_LONGEST = 3_660  # days; ten years
_WEEK = 7


class TimeRange(msgspec.Struct, frozen=True):
    """A range of days (UTC).

    The range has the newest `length` days, or the days from `first` to `last`. If none of the three is set,
    it has all days. With `to_today`, the newest days end `before` days before today. Otherwise the newest
    days end on the newest day with data.
    """

    length: int | None = None
    to_today: bool = False
    first: date | None = None
    last: date | None = None
    before: int = 0

    @property
    def text(self) -> str:
        """The range as pages and links show it: 7 days, 7 days to today, All days, 2026-11-09."""
        if self.before:
            return "yesterday" if self.length == 1 else "last week"
        if self.length is not None:
            return f"{self.length} day{'' if self.length == 1 else 's'}{' to today' if self.to_today else ''}"
        if self.first is None:
            return "All days"
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"

    def resolve(self, newest: date, today: date) -> Days | None:
        """Return the first and the last day of the range, both inclusive. Return None for all days.

        `newest` is the newest day with data. If `newest` is after `today`, the range ends today.
        """
        if self.length is not None:
            last = today - timedelta(self.before) if self.to_today else min(newest, today)
            return last - timedelta(self.length - 1), last
        return (self.first, self.last) if self.first and self.last else None


def read_range(text: str, today: date | None = None) -> TimeRange:
    """Return the range that a string in one of the RANGE_FORMS describes.

    Weekdays and ages count from `today`. Raises ValueError with the valid forms.
    """
    words = " ".join(text.split())
    named_range = _NAMED.get(words.lower())
    if named_range is not None:
        return named_range
    try:
        if span := _SPAN.fullmatch(words):
            return TimeRange(_count_days(span), bool(span[3]))
        if _MONTH.fullmatch(words):
            first = _read_date(f"{words}-01")
            after = (first.replace(day=1) + timedelta(32)).replace(day=1)
            return TimeRange(first=first, last=after - timedelta(1))
        ends = sorted(read_day(end, today) for end in _split_range(words))
    except ValueError:
        raise ValueError(f"“{text[:40]}” is not a range of days; use {RANGE_FORMS}") from None
    return TimeRange(first=ends[0], last=ends[-1])


def _split_range(words: str) -> list[str]:
    ends = _BETWEEN.split(words)
    if len(ends) == 1 and len(dates := _DAY.findall(words)) == 2:
        return dates
    if len(ends) > 2:
        raise ValueError(words)
    return ends


def read_day(text: str, today: date | None = None) -> date:
    """Return the day that a string in one of the DAY_FORMS describes. Raises ValueError with the valid forms.

    A weekday is the latest date with this weekday up to `today`. A span counts back from `today`: `7d` is a
    week ago.
    """
    today = today or datetime.now(UTC).date()
    words = " ".join(text.split()).lower()
    if words in ("today", "yesterday"):
        return today - timedelta(words == "yesterday")
    if words == "last week":
        return today - timedelta(_WEEK)
    if (weekday := words.removeprefix("last ")) in _WEEKDAYS:
        return today - timedelta((today.weekday() - _WEEKDAYS.index(weekday)) % _WEEK)
    span = _SPAN.fullmatch(words)
    try:
        if span is not None and not span[3]:
            return today - timedelta(_count_days(span))
        return _read_date(words)
    except ValueError:
        raise ValueError(f"“{text[:40]}” is not a day; use {DAY_FORMS}") from None


def read_moment(text: str, now: datetime) -> datetime:
    """Return the moment that a string describes.

    A moment is the beginning of a day, an exact time, or a span before `now`. Exact times are in ISO 8601:
    `2026-11-20T18:00+01:00`. If an exact time has no offset, the offset of `now` is used. Raises ValueError
    with the valid forms.
    """
    words = " ".join(text.split())
    try:
        if (span := _SPAN.fullmatch(words)) and not span[3]:
            return now - timedelta(hours=_count_hours(span))
        if minutes := _MINUTES.fullmatch(words):
            return now - timedelta(minutes=int(minutes[1]))
        if "T" in words or ":" in words:
            moment = datetime.fromisoformat(words)
            return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
        day = read_day(words, now.date())
        return datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    except (ValueError, OverflowError):
        forms = f"{DAY_FORMS}, or an exact time such as 12h or 2026-11-20T18:00+01:00"
        raise ValueError(f"“{text[:40]}” is not a time; use {forms}") from None


def read_expiry(text: str, now: datetime) -> datetime | None:
    """Return the time at which something expires, or None for "never".

    `text` is a span from now (90d, 12h, 8 weeks), a day, or "never". A day means the end of that day (UTC).
    Raises ValueError for any other value.
    """
    words = " ".join(text.split()).lower()
    if words == "never":
        return None
    if (span := _SPAN.fullmatch(words)) and not span[3]:
        return now + timedelta(hours=_count_hours(span))
    try:
        day = _read_date(words)
        return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(1)
    except (ValueError, OverflowError):
        raise ValueError(f"“{text[:40]}” is not an expiry; use 90d, 12h, 2027-01-31 or never") from None


def _count_days(span: re.Match[str]) -> int:
    """Return the number of days in a span. Hours are rounded up to days.

    Raises ValueError for zero days and for more than ten years.
    """
    days = -(-_count_hours(span) // 24)
    if not 1 <= days <= _LONGEST:
        raise ValueError(span[0])
    return days


def _count_hours(span: re.Match[str]) -> int:
    return int(span[1]) * {"h": 1, "d": 24, "w": 24 * _WEEK}[span[2][0].lower()]


def _read_date(text: str) -> date:
    if not _DAY.fullmatch(text):
        raise ValueError(text)
    year, month, day = map(int, text.split("-"))
    return date(year, month, day)


_NAMED = {
    "all": TimeRange(),
    "all days": TimeRange(),
    "today": TimeRange(1, to_today=True),
    "yesterday": TimeRange(1, to_today=True, before=1),
    "last week": TimeRange(_WEEK, to_today=True, before=1),
}
