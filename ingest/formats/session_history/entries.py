"""The records of a session history as entries with their place, and the fields that gateways add to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.events import Strategy, Where
from ingest.fields import moment, table, text

# What models and tools wrote, counts, and the added fields themselves: no added field is looked for in there.
_OPAQUE = frozenset({"input", "toolBlocks", "tools", "tokens", "parse_error", "probe", "prompt", "harness"})
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One record and its place in the file. `added`: the fields of `meta` wherever in it they sit.

    `size` is the length of its line in bytes.
    """

    record: Mapping[str, Any]
    where: Where
    kind: str
    ts: datetime | None
    content: str
    meta: Mapping[str, Any]
    added: Mapping[str, Any]
    size: int

    @classmethod
    def of(cls, record: Mapping[str, Any], where: Where, size: int) -> Entry:
        meta = table(record.get("meta"))
        return cls(
            record,
            where,
            str(record.get("type")),
            moment(record.get("ts")),
            text(record.get("content")) or "",
            meta,
            added_fields(meta),
            size,
        )

    @property
    def strategy(self) -> Strategy | None:
        return strategy_of(self.added.get("strategy"))

    @property
    def provider_and_model(self) -> tuple[str | None, str | None]:
        """A gateway writes `provider` and `model`, memo-code `providerName` and `modelName`."""
        provider, model = (
            text(self.added.get(name)) or text(self.added.get(f"{name}Name"))
            for name in ("provider", "model")
        )
        return provider, model


@dataclass(slots=True)
class StepRecords:
    """What the log holds of one model call, in file order. `strategy` is the session's, if it states one."""

    session_id: str
    turn: int | None
    step: int | None
    strategy: Strategy | None = None
    entries: list[Entry] = field(default_factory=list)

    def of(self, *kinds: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind in kinds]


def added_fields(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a `meta` and of the objects in it, to a depth of three; the shallowest of a name wins."""
    inner = _objects_in(meta)
    if not inner:
        return meta
    found = dict(meta)
    for _ in range(_DEPTH - 1):
        for part in inner:
            for name, value in part.items():
                if found.get(name) is None:
                    found[name] = value
        inner = [deeper for part in inner for deeper in _objects_in(part)]
    return found


def _objects_in(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [value for name, value in part.items() if isinstance(value, dict) and name not in _OPAQUE]


def strategy_of(value: Any) -> Strategy | None:
    return Strategy(value) if value in tuple(Strategy) else None
