"""Acknowledgements, goals and prices as data, and all records of a memory together.

Each has its author and the time (UTC). Other records are defined in the modules that write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.baselines import Baseline
from callgauge.memory.decisions import RecordedDecision
from callgauge.memory.notes import Note
from callgauge.memory.signature_states import SignatureState
from callgauge.memory.views import SavedView


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """An alert that somebody has seen. `alert`: its key; `by`: a name, or empty."""

    alert: str
    note: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Goal:
    """The target of a rate, 0 to 1: an upper bound if low is better, else a lower bound."""

    rate: str
    goal: float
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """The price of a model from a day on, per million tokens, until the model's next price.

    `cached_input`, `cache_write`: for input tokens read from and written to a provider's cache; None when
    the provider has no separate price. `currency`: ISO 4217. `source`: where the price was published.
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
    """All records of a team's memory; acknowledgements, goals and signature states are dicts by key."""

    acknowledgements: Mapping[str, Acknowledgement] = field(default_factory=dict)
    goals: Mapping[str, Goal] = field(default_factory=dict)
    baselines: Sequence[Baseline] = ()
    prices: Sequence[ModelPrice] = ()
    views: Sequence[SavedView] = ()
    notes: Sequence[Note] = ()
    decisions: Sequence[RecordedDecision] = ()
    alert_rules: Sequence[AlertRule] = ()
    signature_states: Mapping[str, SignatureState] = field(default_factory=dict)
