"""The morning report as data.

All formats are made from this data, and the JSON format contains all of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal

MOST_SENTENCES = 5
"""Maximum number of sentences on what changed. If there are more changes, the last sentence counts the
changes left out.
"""
ItemKind = Literal["rate", "rule", "error", "silence", "data"]
Tone = Literal["bad", "good", "calm"]


class ReportError(Exception):
    """Raised when a report or a gate cannot be computed or written. The message says what to do."""


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A rate on one day: `k` of `n`."""

    day: date
    k: int
    n: int


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One thing that changed, in plain text that may contain log content.

    `key` identifies the item in later reports. `alert` is the key under which a team acknowledges the item.
    `counts` has the numbers behind the sentence `text`. `low` and `high` are the 95 % interval of `k` / `n`.
    `link` is the page that shows the evidence, such as `/compare?…`. `expected` is the rate that the days
    before predict. `trend` holds the newest days, oldest first.
    """

    key: str
    alert: str
    kind: ItemKind
    sign: Literal["▲", "▼", "○"]
    tone: Tone
    text: str
    counts: str
    link: str
    k: int | None = None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    expected: float | None = None
    trend: tuple[TrendPoint, ...] = ()

    @property
    def page(self) -> str:
        """The title of the page that shows the evidence."""
        return self.link.split("?")[0].strip("/").capitalize()


@dataclass(frozen=True, slots=True)
class ReportRate:
    """A headline rate on the newest day, and the same rate on the days before. Both have 95 % intervals."""

    name: str
    title: str
    noun: str
    k: int
    n: int
    low: float
    high: float
    before_k: int
    before_n: int
    link: str
    trend: tuple[TrendPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class MorningReport:
    """What changed in a store since the last report.

    `night` is the day of the report. `newest` is the newest day with calls, or None. An item is new if it
    appeared after `since`, a time in words. `sentences` holds at most MOST_SENTENCES changes, the worst
    first. `further` counts the changes left out. `still_open` holds open alerts of earlier reports.
    `open_further` counts the open alerts left out. `retries` says what retries cost. `ranking` names the
    model with the fewest parse errors over four weeks. `is_known` is True when there is enough data to tell a
    change from chance. `is_quiet` is True when nothing got worse or better, or when an earlier report already
    said that there is too little data. `keys` are the keys of all items of the report.
    """

    store: str
    night: date
    newest: date | None
    since: str
    answer: str
    sentences: tuple[ReportItem, ...]
    further: int
    still_open: tuple[ReportItem, ...]
    open_further: int
    rates: tuple[ReportRate, ...]
    days_before: int
    retries: str
    retries_link: str
    ranking: str
    ranking_link: str
    data: str
    is_known: bool
    is_quiet: bool
    keys: frozenset[str]
    made_at: datetime
    address: str | None = None

    @property
    def title(self) -> str:
        """The report in one line, for e-mail subjects and titles. The line contains no log content."""
        number = sum(item.tone != "calm" for item in self.sentences) + self.further
        what = f"{number} thing{'' if number == 1 else 's'} changed"
        if not number:
            what = "nothing changed" if self.is_known else "not enough data"
        return f"Callgauge, {self.night:%d %b %Y}: {what}"

    @property
    def small_print(self) -> str:
        """The number of calls on the newest day, and what could not be read."""
        return f"{self.newest.day} {self.newest:%b}: {self.data}." if self.newest else f"{self.data}."

    def to_data(self) -> dict[str, Any]:
        """Return the report as JSON-serialisable data.

        Links are full URLs when the dashboard's address is configured.
        """
        data: dict[str, Any] = _to_plain(asdict(self))
        del data["keys"]
        for each in (*data["sentences"], *data["still_open"], *data["rates"]):
            each["link"] = self.find_address(each["link"])
        return {
            "version": 1,
            "title": self.title,
            **data,
            "retries_link": self.find_address(self.retries_link),
            "ranking_link": self.find_address(self.ranking_link),
        }

    def find_address(self, link: str) -> str:
        """Return a page's full URL, or its path when the dashboard's address is not configured."""
        return f"{self.address.rstrip('/')}{link}" if self.address else link


def _to_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _to_plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, frozenset)):
        return [_to_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime) else value
