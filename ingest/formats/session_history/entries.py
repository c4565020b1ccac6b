"""A line of a session history in, an entry out: its fields by type, and those that gateways add to `meta`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
import orjson

from ingest.events import Strategy, Where
from ingest.fields import moment, text
from ingest.lines import BEGIN

# What models and tools wrote, counts, and the added fields themselves: no added field is looked for in there.
_OPAQUE = frozenset({"input", "toolBlocks", "tools", "tokens", "parse_error", "probe", "prompt", "harness"})
_DEPTH = 3
_STRATEGIES = {strategy.value: strategy for strategy in Strategy}


class Entry(msgspec.Struct, gc=False):
    """One record. `added`: the fields of `meta` wherever in it they sit. `content` None = it has no text.

    `where` and `size`, the length of its line in bytes, are set by whoever knows them.
    """

    kind: str
    session_id: str
    ts: datetime
    turn: int | None
    step: int | None
    content: str | None
    meta: Mapping[str, Any]
    added: Mapping[str, Any]
    where: Where = BEGIN
    size: int = 0

    @property
    def strategy(self) -> Strategy | None:
        return strategy_of(self.added.get("strategy"))

    @property
    def provider_and_model(self) -> tuple[str | None, str | None]:
        """A gateway writes `provider` and `model`, memo-code `providerName` and `modelName`."""
        added = self.added
        provider = text(added.get("provider")) or text(added.get("providerName"))
        return provider, text(added.get("model")) or text(added.get("modelName"))


class StepRecords(msgspec.Struct, gc=False):
    """What the log holds of one model call, in file order. `strategy` is the session's, if it states one."""

    session_id: str
    turn: int | None
    step: int | None
    strategy: Strategy | None = None
    entries: list[Entry] = []
    answers: list[Entry] = []
    actions: list[Entry] = []
    observations: list[Entry] = []
    finals: list[Entry] = []

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        kind = entry.kind
        if kind == "assistant":
            self.answers.append(entry)
        elif kind == "action":
            self.actions.append(entry)
        elif kind == "observation":
            self.observations.append(entry)
        elif kind == "final":
            self.finals.append(entry)


def skim(data: bytes) -> Entry:
    """The entry of a line. Raises ValueError where there is none."""
    record = orjson.loads(data)
    entry = entry_of(record) if type(record) is dict else None
    if entry is None:
        raise ValueError("no entry")
    return entry


def entry_of(record: Mapping[str, Any]) -> Entry | None:
    """The entry of a decoded line; None where a required field is missing or has another type.

    Names are looked up, not passed on to a function each: a night has many short lines.
    """
    get = record.get
    kind, session_id, ts = get("type"), session_id_of(record), moment(get("ts"))
    if ts is None or type(kind) is not str or type(session_id) is not str or not kind or not session_id:
        return None
    turn, step, content, meta = get("turn"), get("step"), get("content"), get("meta")
    if type(meta) is not dict:
        meta = {}
    return Entry(
        kind,
        session_id,
        ts,
        turn if type(turn) is int and turn >= 0 else None,
        step if type(step) is int and step >= 0 else None,
        content if type(content) is str else None,
        meta,
        added_fields(meta),
    )


def session_id_of(record: Mapping[str, Any]) -> Any:
    return record.get("sessionId", record.get("session_id"))


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
    return [value for name, value in part.items() if type(value) is dict and name not in _OPAQUE]


def strategy_of(value: Any) -> Strategy | None:
    return _STRATEGIES.get(value) if isinstance(value, str) else None
