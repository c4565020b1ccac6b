"""Acknowledgements, goals and prices as data, and all records of a memory together.

Each has the time (UTC) and the person that wrote it. The other records stand beside what writes them.
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
    """All that a team's memory holds: acknowledged alerts, goals and states of signatures by their key."""

    acknowledgements: Mapping[str, Acknowledgement] = field(default_factory=dict)
    goals: Mapping[str, Goal] = field(default_factory=dict)
    baselines: Sequence[Baseline] = ()
    prices: Sequence[ModelPrice] = ()
    views: Sequence[SavedView] = ()
    notes: Sequence[Note] = ()
    decisions: Sequence[RecordedDecision] = ()
    alert_rules: Sequence[AlertRule] = ()
    signature_states: Mapping[str, SignatureState] = field(default_factory=dict)
