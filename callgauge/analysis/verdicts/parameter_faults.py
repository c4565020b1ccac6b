"""The errors in calls of one tool: by parameter, by kind, and by model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import add
from typing import Any

from callgauge.analysis.measures.slices import sum_groups
from callgauge.stats import Share

Row = Mapping[Hashable, Any]
_COUNTED_BY = {"text": "judged"}


class FaultKind(StrEnum):
    """The kinds of error at a parameter."""

    TEXT = "text"  # the JSON itself is wrong
    TYPE = "type"
    MISSING = "missing"
    VALUE = "value"  # the type is right, but the value is not allowed
    UNDECLARED = "undeclared"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class FaultCount:
    """The number of calls with one kind of error.

    `failed` is the number of calls that failed because of the error. All other calls with the error were
    repaired. `n` is the number of calls in which the error could be detected. `by_slice` holds the share of
    calls with the error for each model or other slice, the highest share first.
    """

    calls: int
    failed: int
    n: int
    by_slice: Mapping[str, Share]
    example: str | None = None

    @property
    def repaired(self) -> int:
        return self.calls - self.failed

    @property
    def share(self) -> Share:
        """The share of calls with the error, over all slices together."""
        return reduce(add, self.by_slice.values()) if self.by_slice else Share(self.calls, self.n)

    @property
    def top_slice(self) -> str | None:
        """The slice in which the error is most frequent, among slices with enough calls, or None."""
        faulty = {name: share for name, share in self.by_slice.items() if share.k}
        enough = {name: share for name, share in faulty.items() if share.has_enough} or faulty
        return max(enough, key=lambda name: enough[name].rate or 0.0, default=None)


@dataclass(frozen=True, slots=True)
class ParameterFault:
    """One kind of error at one parameter.

    `sent` holds the types of the sent values that have the error, each with the number of calls.
    """

    parameter: str
    kind: FaultKind
    count: FaultCount
    sent: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class WrongParameter:
    """A parameter with errors. `name` is empty for all arguments together.

    `faults` holds the kinds of error at the parameter, the most frequent first. A call may have several kinds
    of error.
    """

    name: str
    count: FaultCount
    faults: Sequence[ParameterFault]

    @property
    def sent(self) -> Mapping[str, int]:
        """The kinds of value sent instead of the declared type, each with the number of calls."""
        return next((fault.sent for fault in self.faults if fault.kind is FaultKind.TYPE), {})


@dataclass(frozen=True, slots=True)
class ToolFaults:
    """The errors in the calls of a tool. `wrong` counts the judged calls that have an error.

    `broken_text` counts the calls whose JSON needed repair or could not be read. `checked` is the number of
    calls that were checked against a definition. `parameters` holds the parameters with errors, the most
    frequent first.
    """

    wrong: FaultCount
    broken_text: FaultCount
    checked: int
    parameters: Sequence[WrongParameter]

    @property
    def judged(self) -> int:
        return self.wrong.n

    @property
    def faults(self) -> list[ParameterFault]:
        """The violations of the definition at named parameters, the most frequent first."""
        faults = [
            fault
            for parameter in self.parameters
            for fault in parameter.faults
            if parameter.name and fault.kind is not FaultKind.TEXT
        ]
        return sorted(faults, key=lambda fault: (-fault.count.calls, fault.parameter, fault.kind))


def read_tool_faults(rows: Iterable[Row]) -> ToolFaults:
    """Return the errors of a tool from the rows of the metric `parameter_faults`."""
    all_rows = [dict(row) for row in rows]
    for row in all_rows:  # pandas may represent NULL texts as None or NaN
        row.update({name: None for name in ("parameter", "fault", "sent") if not isinstance(row[name], str)})
    slices = {row["slice"]: row for row in all_rows if row["parameter"] is None and row["fault"] is None}
    by_place: dict[tuple[str | None, str | None], list[Row]] = {}
    sent: dict[tuple[str, str], dict[str, int]] = {}
    for row in all_rows:
        if row["sent"] is None:
            by_place.setdefault((row["parameter"], row["fault"]), []).append(row)
        else:
            kinds = sent.setdefault((row["parameter"], row["fault"]), {})
            kinds[row["sent"]] = kinds.get(row["sent"], 0) + int(row["calls"])
    parameters: dict[str, list[ParameterFault]] = {}
    for (parameter, fault), several in by_place.items():
        if parameter is not None and fault is not None:
            count = _make_count(several, slices, fault)
            kinds = dict(sorted(sent.get((parameter, fault), {}).items(), key=lambda pair: -pair[1]))
            parameters.setdefault(parameter, []).append(
                ParameterFault(parameter, FaultKind(fault), count, kinds)
            )
    wrong_parameters = [
        WrongParameter(
            name,
            _make_count(by_place.get((name, None), []), slices, "text"),
            sorted(faults, key=lambda fault: (-fault.count.calls, fault.kind)),
        )
        for name, faults in parameters.items()
    ]
    return ToolFaults(
        _make_count(by_place.get((None, None), []), slices, "text"),
        _make_count(by_place.get((None, "text"), []), slices, "text"),
        sum(int(row["checked"]) for row in slices.values()),
        sorted(wrong_parameters, key=lambda parameter: (-parameter.count.calls, parameter.name)),
    )


def _make_count(rows: Sequence[Row], slices: Mapping[str, Row], fault: str) -> FaultCount:
    denominator = _COUNTED_BY.get(fault, "checked")
    by_name = {row["slice"]: row for row in rows}
    shares = {}
    for name, whole in slices.items():
        [n] = sum_groups([whole], denominator)
        if n.sum():
            row = by_name.get(name)
            shares[name] = Share.from_groups(sum_groups([row], "calls")[0] if row else 0 * n, n)
    newest = max(rows, key=lambda row: row["calls"], default=None)
    return FaultCount(
        sum(int(row["calls"]) for row in rows),
        sum(int(row["failed"]) for row in rows),
        sum(int(whole[denominator]) for whole in slices.values()),
        dict(sorted(shares.items(), key=lambda pair: (-pair[1].k, -pair[1].n, pair[0]))),
        newest["example"] if newest else None,
    )
