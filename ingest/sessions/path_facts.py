"""Facts about a file's sessions that come from the path or the load's options.

A fact is used only where the log has no such fact.
"""

from __future__ import annotations

import datetime as dt
import json
from enum import StrEnum

import msgspec
from msgspec.structs import asdict, astuple


class FactSource(StrEnum):
    """The source of a fact. These are the values of `model_source`."""

    LOG = "log"
    PATH = "path"  # a pattern found the fact in the file's path
    GIVEN = "given"  # an option of the load, which applies to all files


class PathFact(msgspec.Struct, frozen=True):
    value: str
    source: FactSource


class PathFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a file that are not in the file's content.

    `model` and `prompt` (a name, or `name@version`) apply when the log does not name a model or a prompt.
    `date` (ISO 8601, UTC) is the day of events without a time. `run` is the experiment to which the sessions
    belong. `mapping` is JSON with the paths of fields in the records (`ingest.record_mapping`).
    """

    model: PathFact | None = None
    prompt: PathFact | None = None
    run: PathFact | None = None
    date: PathFact | None = None
    mapping: PathFact | None = None

    def __bool__(self) -> bool:
        return any(fact is not None for fact in astuple(self))

    @property
    def day(self) -> dt.date | None:
        return dt.date.fromisoformat(self.date.value) if self.date else None

    def update(self, newer: PathFacts) -> PathFacts:
        """Return a copy of these facts in which the facts of `newer` replace facts of the same name."""
        return PathFacts(**{name: fact or getattr(self, name) for name, fact in asdict(newer).items()})

    def to_json(self) -> str | None:
        """Return the facts as stored JSON, `{"model": ["gpt-4o", "path"]}`, or None without facts."""
        facts = {name: astuple(fact) for name, fact in asdict(self).items() if fact is not None}
        return json.dumps(facts, ensure_ascii=False) if facts else None

    @classmethod
    def from_json(cls, text: str | None) -> PathFacts:
        """Return the facts from the JSON that `to_json` made."""
        facts = json.loads(text) if text else {}
        return cls(**{name: PathFact(value, FactSource(source)) for name, (value, source) in facts.items()})


NO_FACTS = PathFacts()
