"""Replays the log of changes in which VS Code keeps a chat session.

A line is `{kind, k, v, i}` (microsoft/vscode, `objectMutationLog.ts`): kind 0 sets the whole state, 1 sets
the value at the path `k`, 2 appends the items `v` to the array at `k` after cutting it to the length `i`
(where there is one), 3 deletes what is at `k`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.decoding.fields import read_count
from ingest.decoding.lines import make_snippet
from ingest.events import LogLine, Rejected
from ingest.log_format import Record

_INITIAL, _SET, _PUSH, _DELETE = range(4)
_FARTHEST = 100_000  # an index beyond this is no session's


class StateLog:
    """The state after all lines so far, None before the first whole one, and the lines that wrote it."""

    def __init__(self) -> None:
        self.state: dict[str, Any] | None = None
        self._all = LogLine(1, 0)  # the line that last wrote all requests …
        self._places: dict[int, LogLine] = {}  # … and the lines that wrote to one since

    def take(self, record: Record) -> Iterator[Rejected]:
        """Apply one line; yield a reject when it does not fit the state."""
        change = record.value
        path, kind = change.get("k"), change.get("kind")
        if kind == _INITIAL and isinstance(change.get("v"), dict):
            self.state, self._all, self._places = change["v"], record.where, {}
            return
        fits = isinstance(path, list) and path and self.state is not None
        if not fits or not _apply(self.state, kind, path, change):
            reason = f"a change of kind {kind} that does not fit the session before it"
            yield Rejected(record.where, "wrong_type", reason[:300], make_snippet(record.data))
            return
        if path[0] == "requests":
            self._note_place(path, change, record.where)

    def place_of(self, number: int) -> LogLine:
        """Return the line that last wrote to the request at this index."""
        return self._places.get(number, self._all)

    def _note_place(self, path: list[Any], change: dict[str, Any], where: LogLine) -> None:
        if len(path) > 1:
            if isinstance(path[1], int):
                self._places[path[1]] = where
        elif change.get("kind") == _PUSH:
            requests = (self.state or {}).get("requests", [])
            for number in range(len(requests) - len(change.get("v") or ()), len(requests)):
                self._places[number] = where
        else:
            self._all, self._places = where, {}


def _apply(state: Any, kind: Any, path: list[Any], change: dict[str, Any]) -> bool:
    """Change the state in place; return False when the path leads nowhere or the kind is unknown."""
    inner = state
    for step in path[:-1]:
        inner = _enter(inner, step)
    last = path[-1]
    if kind == _SET:
        return _put(inner, last, change.get("v"))
    if kind == _DELETE:
        return isinstance(inner, dict) and (inner.pop(last, None), True)[1]
    items = change.get("v", [])
    if kind != _PUSH or not isinstance(items, list):
        return False
    held = _enter(inner, last)
    held = held if isinstance(held, list) else []
    length = read_count(change.get("i"))
    return _put(inner, last, [*(held if length is None else held[:length]), *items])


def _enter(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _put(holder: Any, step: Any, value: Any) -> bool:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
        return True
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < _FARTHEST:
        holder.extend([None] * (step + 1 - len(holder)))
        holder[step] = value
        return True
    return False
