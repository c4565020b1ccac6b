"""The data classes for acknowledged alerts, goals and prices, and for all records of a memory together.

Each record contains its author and its time in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.baselines import Baseline
from callgauge.memory.decisions import RecordedDecision
from callgauge.memory.notes import Note
from callgauge.memory.public_rates import PublicRate
from callgauge.memory.signature_states import SignatureState
from callgauge.memory.views import SavedView


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """An alert that somebody has seen. `alert` is the alert's key. `by` is the person's name, or empty."""

    alert: str
    note: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Goal:
    """The target of a rate, from 0 to 1. It is an upper limit if lower is better, else a lower limit."""

    rate: str
    goal: float
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """The price of a model per million tokens. It applies from a day until the next price of the model.

    `cached_input` is the price of input tokens that were read from a provider's cache. `cache_write` is the
    price of input tokens that were written to the cache. Each is None if the provider has no separate price.
    `currency` is an ISO 4217 code. `source` says where the price was published.
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
    """All records of a team's memory. Acknowledgements, goals and triage states are dicts by key."""

    acknowledgements: Mapping[str, Acknowledgement] = field(default_factory=dict)
    goals: Mapping[str, Goal] = field(default_factory=dict)
    baselines: Sequence[Baseline] = ()
    prices: Sequence[ModelPrice] = ()
    views: Sequence[SavedView] = ()
    notes: Sequence[Note] = ()
    decisions: Sequence[RecordedDecision] = ()
    alert_rules: Sequence[AlertRule] = ()
    signature_states: Mapping[str, SignatureState] = field(default_factory=dict)
    public_rates: Sequence[PublicRate] = ()
