"""The records of the memory: plain data, each with the time (UTC) and the person that wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Somebody has seen an alert. `alert`: its key; `by`: a name, empty where none was given."""

    alert: str
    note: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Goal:
    """The value that a rate should keep to, 0 to 1: at most it where low is better, else at least it."""

    rate: str
    goal: float
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Baseline:
    """A named span of days that later days are compared with; both ends are inclusive."""

    name: str
    first_day: date
    last_day: date
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model costs from a day on, per million tokens; the next price of the model ends it.

    `cached_input`, `cache_write`: of input tokens read from and written to a provider's cache; None where
    the provider has no own price for them. `currency`: ISO 4217. `source`: where the price was read.
    """

    model: str
    from_day: date
    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    currency: str = "USD"
    source: str = ""


@dataclass(frozen=True, slots=True)
class TeamRecords:
    """All that a team's memory holds: acknowledged alerts and goals by their key, baselines, prices."""

    acknowledgements: Mapping[str, Acknowledgement]
    goals: Mapping[str, Goal]
    baselines: Sequence[Baseline]
    prices: Sequence[ModelPrice]
