"""Sums up the changes that a replay made: in outcomes, in rates with intervals, and in findings."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from callgauge.analysis.replay.replay_calls import CallReading, ReplayedCall
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS, Difference, compare_same_calls

RATES = {"failed": ("failed",), "mended": ("coerced", "repaired"), "clean": ("clean",)}
"""The outcomes that each rate of a replay counts."""

_LONGEST = 400  # maximum number of characters of a value
_MOVES = 20  # maximum number of changed values per call
_DEPTH = 64


@dataclass(frozen=True, slots=True)
class ReplayedRate:
    """The hits of one rate before and after the replay, in the same `n` calls.

    `difference` is the change of the rate, with calls clustered by session. It is None with fewer than two
    sessions.
    """

    before: int
    after: int
    n: int
    sessions: int
    difference: Difference | None

    @property
    def has_enough(self) -> bool:
        """True when there is enough data for a verdict: 30 calls and 10 sessions, as for every rate."""
        return self.n >= ENOUGH and self.sessions >= ENOUGH_SESSIONS


@dataclass(slots=True)
class CodeMoves:
    """The number of findings of one code before and after a replay.

    `calls_gone` is the number of calls with fewer of these findings than before. `calls_came` is the number
    of calls with more findings. `calls_refused` is the number of calls with the code that fail now and did
    not fail before.
    """

    before: int = 0
    after: int = 0
    calls_gone: int = 0
    calls_came: int = 0
    calls_refused: int = 0


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """The result of a replay.

    `changes` holds the number of changed calls by ChangeKind. `not_read` holds by reason the number of calls
    that were not parsed. `flows` holds rows of (outcome before, outcome after, number of calls). `rates`
    holds the rates by their names in RATES. `codes` holds the changes of findings, by code.
    """

    calls: int
    changes: Mapping[str, int]
    not_read: Mapping[str, int]
    flows: list[tuple[str, str, int]]
    rates: Mapping[str, ReplayedRate]
    codes: Mapping[str, CodeMoves]

    @property
    def replayed_calls(self) -> int:
        return self.calls - sum(self.not_read.values())

    @property
    def changed(self) -> int:
        return sum(self.changes.values())

    def to_json(self) -> dict[str, Any]:
        summary: dict[str, Any] = msgspec.to_builtins(self)
        return summary

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ReplaySummary:
        """Return the summary that `to_json` wrote."""
        return msgspec.convert(document, cls)


@dataclass(slots=True)
class ReplayTally:
    """Running totals of a replay. `take` adds a call, and `summary` returns the result."""

    calls: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    not_read: Counter[str] = field(default_factory=Counter)
    _flows: Counter[tuple[str, str]] = field(default_factory=Counter)
    _codes: dict[str, CodeMoves] = field(default_factory=dict)
    _sessions: dict[str, int] = field(default_factory=dict)
    # For each session, the calls measured before and after, then the hits of each rate before and after.
    _counts: array[int] = field(default_factory=lambda: array("l"))

    def take(self, replayed: ReplayedCall) -> None:
        self.calls += 1
        if replayed.before is None or replayed.after is None:
            self.not_read[replayed.not_read or "missing"] += 1
            return
        change = replayed.change
        self._flows[replayed.before.outcome, replayed.after.outcome] += 1
        self._count(replayed.call.session_id, replayed.before.outcome, replayed.after.outcome)
        if change is not None:
            self.changes[change.value] += 1
            self._move_codes(replayed.before, replayed.after)
        else:
            for code, _, _ in replayed.before.findings:
                moves = self._codes.setdefault(code, CodeMoves())
                moves.before += 1
                moves.after += 1

    def _count(self, session: str, before: str, after: str) -> None:
        if "unmeasured" in (before, after):
            return
        start = self._sessions.get(session)
        if start is None:
            start = self._sessions[session] = len(self._counts)
            self._counts.extend([0] * _WIDTH)
        self._counts[start] += 1
        self._counts[start + _PLACES[before]] += 1
        self._counts[start + _PLACES[after] + 1] += 1

    def _move_codes(self, before: CallReading, after: CallReading) -> None:
        old = Counter(code for code, _, _ in before.findings)
        new = Counter(code for code, _, _ in after.findings)
        for code in old | new:
            moves = self._codes.setdefault(code, CodeMoves())
            moves.before += old[code]
            moves.after += new[code]
            moves.calls_gone += old[code] > new[code]
            moves.calls_came += new[code] > old[code]
            moves.calls_refused += (
                bool(new[code]) and after.outcome == "failed" and before.outcome != "failed"
            )

    def summary(self) -> ReplaySummary:
        return ReplaySummary(
            calls=self.calls,
            changes=dict(self.changes),
            not_read=dict(self.not_read),
            flows=sorted((*pair, calls) for pair, calls in self._flows.items()),
            rates={name: self._make_rate(2 * place + 1) for place, name in enumerate(RATES)},
            codes=self._codes,
        )

    def _make_rate(self, column: int) -> ReplayedRate:
        counts = self._counts
        n, before, after = (counts[start::_WIDTH] for start in (0, column, column + 1))
        return ReplayedRate(
            sum(before), sum(after), sum(n), len(n), compare_same_calls(list(before), list(after), list(n))
        )


_WIDTH = 1 + 2 * len(RATES)
_PLACES = {outcome: 2 * place + 1 for place, outcomes in enumerate(RATES.values()) for outcome in outcomes}


def changed_row(replayed: ReplayedCall) -> dict[str, Any]:
    """Return a changed call as a flat row with the call's findings and changed values.

    Raises ValueError when the call was not parsed.
    """
    before, after = replayed.before, replayed.after
    if before is None or after is None:
        raise ValueError("the call was not read")
    old, new = _count_findings(before), _count_findings(after)
    return {
        "call_id": replayed.call.call_id,
        "session_id": replayed.call.session_id,
        "ts": replayed.call.ts.isoformat() if replayed.call.ts else None,
        "model": replayed.call.model,
        "tool": replayed.tool,
        "outcome_before": before.outcome,
        "outcome_after": after.outcome,
        "findings_gone": sorted((old - new).elements()),
        "findings_came": sorted((new - old).elements()),
        "findings_kept": sorted((new & old).elements())[:_MOVES],
        "values": [list(move) for move in moved_values(before.arguments, after.arguments)],
    }


def _count_findings(reading: CallReading) -> Counter[str]:
    return Counter(
        " ".join(part for part in (f"{code}:{detail}" if detail else code, path) if part)
        for code, path, detail in reading.findings
    )


def moved_values(before: Any, after: Any) -> list[tuple[str, str | None, str | None]]:
    """Return the first 20 changes as (path, JSON before, JSON after), shortened. None means no value."""
    moves: list[tuple[str, str | None, str | None]] = []
    for move in _compare_values(before, after, "$", 0):
        if len(moves) == _MOVES:
            break
        moves.append(move)
    return moves


_ABSENT = object()


def _compare_values(
    before: Any, after: Any, path: str, depth: int
) -> Iterator[tuple[str, str | None, str | None]]:
    if isinstance(before, dict) and isinstance(after, dict) and depth < _DEPTH:
        for name in dict.fromkeys([*before, *after]):
            inner = f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name)}]"
            yield from _compare_values(before.get(name, _ABSENT), after.get(name, _ABSENT), inner, depth + 1)
    elif isinstance(before, list) and isinstance(after, list) and depth < _DEPTH:
        for number in range(max(len(before), len(after))):
            item = before[number] if number < len(before) else _ABSENT
            other = after[number] if number < len(after) else _ABSENT
            yield from _compare_values(item, other, f"{path}[{number}]", depth + 1)
    elif type(before) is not type(after) or before != after:
        yield path[:_LONGEST], _shorten_value(before), _shorten_value(after)


def _shorten_value(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
