"""The morning report as data: every format is made of it, and its JSON is it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal

MOST_SENTENCES = 5
"""Sentences on what changed; what is beyond them is counted in the last one."""
ItemKind = Literal["rate", "rule", "error", "silence", "data"]
Tone = Literal["bad", "good", "calm"]


class ReportError(Exception):
    """Raised when a report or a gate cannot be made, or a report not written; the message says what to do."""


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One day of a rate: `k` of `n`."""

    day: date
    k: int
    n: int


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One thing that changed, in plain text that may hold log text.

    `key`: by which it is known again; `alert`: the key by which a team acknowledges it. `text`: the sentence;
    `counts`: its small print. `low`, `high`: the 95 % interval of `k` / `n`. `link`: the page that proves it,
    `/compare?…`. `expected`: the rate that the days before let one expect. `trend`: the newest days, the
    oldest first.
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
        """The title of the page that proves it."""
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

    `night`: the day on which the report is made; `newest`: the newest day with calls, None without any.
    `since`: in words, since when something is new. `answer`: one sentence. `sentences`: what changed, the
    worst first, at most MOST_SENTENCES; `further`: how many more there are. `still_open`: what was told
    before and lasts; `open_further`: how many more there are. `retries`: what retries cost, in words.
    `ranking`: which model is the best by parse errors, over four weeks; empty without calls.
    `is_known`: enough is known to tell a change from chance. `is_quiet`: there is nothing that a team has to
    hear: nothing got worse or better, and that is known, or it was told before that too little is; rates may
    be back. `told`: the keys of all that it knows of.
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
        """The report in a line, for subjects and titles; holds no log text."""
        number = sum(item.tone != "calm" for item in self.sentences) + self.further
        what = f"{number} thing{'' if number == 1 else 's'} changed"
        if not number:
            what = "nothing changed" if self.is_known else "not enough data"
        return f"Callgauge, {self.night:%d %b %Y}: {what}"

    @property
    def small_print(self) -> str:
        """How many calls there were on the newest day, and what was not read."""
        return f"{self.newest.day} {self.newest:%b}: {self.data}." if self.newest else f"{self.data}."

    def to_data(self) -> dict[str, Any]:
        """Return the report as JSON takes it; links are whole addresses where the dashboard's is known."""
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
        """Return a page's whole address, or its path where the dashboard's address is not known."""
        return f"{self.address.rstrip('/')}{link}" if self.address else link


def _to_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _to_plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, frozenset)):
        return [_to_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime) else value
