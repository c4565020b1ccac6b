"""Reads a line of a session history as an entry, including the fields that gateways add to `meta`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

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
_OPTIONAL = ("turn", "step", "content", "meta")
_STRATEGIES = {strategy.value: strategy for strategy in Strategy}
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class HistoryEntry(msgspec.Struct, gc=False):
    """One record of a session history. The fields up to `meta` are decoded from the line.

    `content` is None when the record has no text. `ts` is the time that `time` states. `added` contains the
    fields of `meta` and of the objects in `meta`. `size` is the length of the record's line in bytes. The
    caller sets `where` and `size`.

    Raises ValueError when `kind` or `session_id` is empty, or `time` is not an ISO 8601 time.
    """

    kind: str = msgspec.field(name="type")
    session_id: str = msgspec.field(name="sessionId")
    time: str = msgspec.field(name="ts")
    turn: _Count | None = None
    step: _Count | None = None
    content: str | None = None
    meta: dict[str, Any] = {}
    # The other fields are set afterwards, so a field of the line with one of these names has no effect.
    ts: datetime = msgspec.field(name="_ts", default=_NO_TIME)
    added: Mapping[str, Any] = {}
    where: LogLine = BEGIN
    size: int = 0

    def __post_init__(self) -> None:
        ts = read_time(self.time)
        if ts is None or not self.kind or not self.session_id:
            raise ValueError("a required field is empty or no time")
        self.ts, self.added = ts, collect_meta_fields(self.meta)

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


skim = msgspec.json.Decoder(HistoryEntry).decode
"""Returns the entry of a line whose fields have the types that the format defines.

Raises ValueError for any other line. `read_entry` may be able to read it.
"""


def read_entry(record: Mapping[str, Any]) -> HistoryEntry | None:
    """Return the entry of a decoded line, without the optional fields that have a wrong type.

    Return None if a required field is missing or has a wrong type.
    """
    required = {"type": record.get("type"), "sessionId": read_session_id(record), "ts": record.get("ts")}
    optional = {name: record[name] for name in _OPTIONAL if name in record}
    entry = _convert_entry(required | optional)
    if entry is not None:
        return entry
    fitting = {name: value for name, value in optional.items() if _convert_entry(required | {name: value})}
    return _convert_entry(required | fitting)


def _convert_entry(fields: Mapping[str, Any]) -> HistoryEntry | None:
    try:
        return msgspec.convert(fields, HistoryEntry)
    except ValueError:  # a wrong type, or a lone surrogate in a string where a number is due
        return None


def read_session_id(record: Mapping[str, Any]) -> Any:
    return record.get("sessionId", record.get("session_id"))


def collect_meta_fields(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of `meta` and of the objects in `meta`, to a depth of three.

    If two fields have the same name, the less nested field is kept.
    """
    for name, value in meta.items():
        if type(value) is dict and name not in _OPAQUE:
            break
    else:
        return meta  # the meta of most entries has no such object
    inner = _objects_in(meta)
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
