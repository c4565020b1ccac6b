"""The morning report as data: all formats are made from it, and its JSON contains all of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal

MOST_SENTENCES = 5
"""Sentences on what changed; what is beyond them is counted in the last one."""
ItemKind = Literal["rate", "rule", "error", "silence", "data"]
Tone = Literal["bad", "good", "calm"]


class ReportError(Exception):
    """Raised when a report or a gate cannot be made or written; the message says what to do."""


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One day of a rate: `k` of `n`."""

    day: date
    k: int
    n: int


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One thing that changed, in plain text that may contain log text.

    `key`: identifies the item in later reports; `alert`: the key under which a team acknowledges it. `text`:
    the sentence; `counts`: its small print. `low`, `high`: the 95 % interval of `k` / `n`. `link`: the page
    that shows the evidence, `/compare?…`. `expected`: the rate that the days before predict. `trend`: the
    newest days, the oldest first.
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
    """A headline rate on the newest day and on the days before it, each with its 95 % interval."""

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
    """What changed in a store up to a night.

    `night`: the day on which the report is made; `newest`: the newest day with calls, or None. `since`: the
    start of the period in which an item counts as new, in words. `answer`: one sentence. `sentences`: what
    changed, the worst first, at most MOST_SENTENCES; `further`: the number of other changes. `still_open`:
    alerts of earlier reports that are still open; `open_further`: the number of others. `retries`: the cost
    of retries, in words. `ranking`: the model with the fewest parse errors over four weeks; empty without
    calls. `is_known`: there is enough data to tell a change from chance. `is_quiet`: nothing got worse or
    better, or an earlier report already said that there is too little data; rates may be back to normal.
    `told`: the keys of all items of the report.
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
    told: frozenset[str]
    made_at: datetime
    address: str | None = None

    @property
    def title(self) -> str:
        """The report in one line, for subjects and titles; contains no log text."""
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
        del data["told"]
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
