"""Computes tokens, seconds and steps per turn, and per successful turn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import cost_per_turn, format_amount
from callgauge.analysis.measures.measurability import describe_reported
from callgauge.analysis.measures.slices import MEASURED_ENOUGH
from callgauge.dashboard.components.table import Cell

Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class _Effort:
    """A quantity per turn: the sum over the turns with a measurement, and the number of these turns."""

    title: str
    meaning: str
    amount: Callable[[Row], float]
    known: Callable[[Row], int]
    per_success: bool = False


def _tokens(row: Row) -> float:
    return float(row["tokens"] or 0)


def _seconds(row: Row) -> float:
    return float(row["ms"] or 0) / 1000


_TOKENS = "Input and output of every step"
_SECONDS = "By the log's time, else the model's time alone"
_PER_SUCCESS = "divided by the share of turns that succeeded, so that failed turns are paid for"
_EFFORTS: Mapping[str, Sequence[_Effort]] = {
    "tokens": (
        _Effort("Tokens / turn", _TOKENS, _tokens, lambda row: row["tokens_known"]),
        _Effort(
            "Tokens / success", f"{_TOKENS}, {_PER_SUCCESS}", _tokens, lambda row: row["tokens_known"], True
        ),
        _Effort(
            "Steps / turn",
            "Calls of the model",
            lambda row: float(row["steps"] or 0),
            lambda row: row["turns"],
        ),
    ),
    "seconds": (
        _Effort("Seconds / turn", _SECONDS, _seconds, lambda row: row["ms_known"]),
        _Effort(
            "Seconds / success", f"{_SECONDS}, {_PER_SUCCESS}", _seconds, lambda row: row["ms_known"], True
        ),
    ),
}


def read_effort_rows(
    rows: Sequence[Row], unit: Literal["tokens", "seconds"]
) -> list[tuple[str, str, dict[str, Cell]]]:
    """Return (title, meaning, cell of each slice) for each quantity with this unit."""
    return [
        (effort.title, effort.meaning, {row["slice"]: _make_cell(effort, row) for row in rows})
        for effort in _EFFORTS[unit]
    ]


def _make_cell(effort: _Effort, row: Row) -> Cell:
    turns, measured = row["turns"], effort.known(row)
    value = cost_per_turn(effort.amount(row), measured)
    ended = ""
    if effort.per_success and value is not None:
        value = value * row["ok_known"] / row["ok"] if row["ok"] else None
        how = describe_reported(row["ok_reported"], row["ok_known"])
        ended = f"; {wording.fraction(row['ok'], row['ok_known'])} turns succeeded, {how}"
    if value is None:
        return Cell("–", title=f"not measured{ended}")
    return Cell(
        format_amount(value),
        sub=None if measured == turns else f"of {wording.rate(measured, turns)}",
        order=value,
        pale=measured < MEASURED_ENOUGH * turns,
        title=f"{wording.known_share(measured, turns, 'turn')}{ended}",
    )
