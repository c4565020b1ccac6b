"""Reads a line of a session history as an entry, including the fields that gateways add to `meta`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
import orjson

from ingest.decoding.fields import read_text, read_time
from ingest.decoding.lines import BEGIN
from ingest.events import LogLine, Strategy

# Fields with these names are texts, counts or the added fields themselves, so no added field is inside of
# them.
_OPAQUE = frozenset({
    "input", "toolBlocks", "tools", "tokens", "parse_error", "probe", "prompt", "harness",
    "trial", "capabilities", "sampling", "endpoint", "verdict",
})  # fmt: skip
_DEPTH = 3
_STRATEGIES = {strategy.value: strategy for strategy in Strategy}


class HistoryEntry(msgspec.Struct, gc=False):
    """One record of a session history.

    `content` is None when the record has no text. `added` contains the fields of `meta` and of the objects in
    `meta`. The caller sets `where` and `size`, the length of the record's line in bytes.
    """

    kind: str
    session_id: str
    ts: datetime
    turn: int | None
    step: int | None
    content: str | None
    meta: Mapping[str, Any]
    added: Mapping[str, Any]
    where: LogLine = BEGIN
    size: int = 0

    @property
    def strategy(self) -> Strategy | None:
        return read_strategy(self.added.get("strategy"))

    @property
    def provider_and_model(self) -> tuple[str | None, str | None]:
        """Return the names of the provider and the model. A missing name is None.

        Gateways write the fields `provider` and `model`, memo-code writes `providerName` and `modelName`.
        """
        added = self.added
        provider = read_text(added.get("provider")) or read_text(added.get("providerName"))
        return provider, read_text(added.get("model")) or read_text(added.get("modelName"))


class StepRecords(msgspec.Struct, gc=False):
    """The entries of one step (one model reply), in file order.

    `strategy` is the tool-use strategy that the log states for the session, or None.
    """

    session_id: str
    turn: int | None
    step: int | None
    strategy: Strategy | None = None
    entries: list[HistoryEntry] = []
    answers: list[HistoryEntry] = []
    actions: list[HistoryEntry] = []
    observations: list[HistoryEntry] = []
    finals: list[HistoryEntry] = []

    def add(self, entry: HistoryEntry) -> None:
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


def skim(data: bytes) -> HistoryEntry:
    """Return the entry of a line.

    Raise ValueError when the line is not a valid entry.
    """
    record = orjson.loads(data)
    entry = read_entry(record) if type(record) is dict else None
    if entry is None:
        raise ValueError("no entry")
    return entry


def read_entry(record: Mapping[str, Any]) -> HistoryEntry | None:
    """Return the entry of a decoded line. Return None if a required field is missing or has a wrong type."""
    get = record.get
    kind, session_id, ts = get("type"), read_session_id(record), read_time(get("ts"))
    if ts is None or type(kind) is not str or type(session_id) is not str or not kind or not session_id:
        return None
    turn, step, content, meta = get("turn"), get("step"), get("content"), get("meta")
    if type(meta) is not dict:
        meta = {}
    return HistoryEntry(
        kind,
        session_id,
        ts,
        turn if type(turn) is int and turn >= 0 else None,
        step if type(step) is int and step >= 0 else None,
        content if type(content) is str else None,
        meta,
        collect_meta_fields(meta),
    )


def read_session_id(record: Mapping[str, Any]) -> Any:
    return record.get("sessionId", record.get("session_id"))


def collect_meta_fields(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of `meta` and of the objects in `meta`, to a depth of three.

    If two fields have the same name, the less nested field is kept.
    """
    inner = _objects_in(meta)
    if not inner:
        return meta
    fields = dict(meta)
    for _ in range(_DEPTH - 1):
        for part in inner:
            for name, value in part.items():
                if fields.get(name) is None:
                    fields[name] = value
        inner = [deeper for part in inner for deeper in _objects_in(part)]
    return fields


def _objects_in(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [value for name, value in part.items() if type(value) is dict and name not in _OPAQUE]


def read_strategy(value: Any) -> Strategy | None:
    return _STRATEGIES.get(value) if isinstance(value, str) else None
