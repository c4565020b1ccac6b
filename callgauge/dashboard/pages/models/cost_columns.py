"""Columns of what a turn costs in tokens, seconds and steps, and what a successful turn costs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import cost_per_turn, format_amount
from callgauge.analysis.measures.measurability import describe_reported
from callgauge.analysis.measures.slices import MEASURED_ENOUGH
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.table import Cell, Column
from callgauge.dashboard.pages.models.added_column import AddedColumn

Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class _Cost:
    """An amount of each turn: its sum over the turns of which it is known, and the number of these."""

    title: str
    help: str
    amount: Callable[[Row], float]
    known: Callable[[Row], int]
    per_success: bool = False


def _tokens(row: Row) -> float:
    return float(row["tokens"] or 0)


def _seconds(row: Row) -> float:
    return float(row["ms"] or 0) / 1000


_TOKENS = "Input and output of every step"
_SECONDS = "By the log's time, else that of the model alone"
_PER_SUCCESS = "divided by the share of turns that succeeded, so that failed turns are paid for"
_COSTS = {
    "tokens_per_turn": _Cost("Tokens / turn", _TOKENS, _tokens, lambda row: row["tokens_known"]),
    "tokens_per_success": _Cost(
        "Tokens / success", f"{_TOKENS}, {_PER_SUCCESS}", _tokens, lambda row: row["tokens_known"], True
    ),
    "seconds_per_turn": _Cost("Seconds / turn", _SECONDS, _seconds, lambda row: row["ms_known"]),
    "seconds_per_success": _Cost(
        "Seconds / success", f"{_SECONDS}, {_PER_SUCCESS}", _seconds, lambda row: row["ms_known"], True
    ),
    "steps_per_turn": _Cost(
        "Steps / turn", "Calls of the model", lambda row: float(row["steps"] or 0), lambda row: row["turns"]
    ),
}
TITLES: Mapping[str, str] = {name: cost.title for name, cost in _COSTS.items()}
"""The columns by their name in the URL."""


def read_cost_columns(by: str, names: Sequence[str], chosen: Mapping[str, Any]) -> dict[str, AddedColumn]:
    """Return the columns `names`, by name. `chosen`: the parameters of the filter bar."""
    rows = store_queries.ask("turn_costs", by=by, **chosen).to_dict("records")
    return {name: _make_column(_COSTS[name], rows) for name in names}


def _make_column(cost: _Cost, rows: Sequence[Row]) -> AddedColumn:
    return AddedColumn(
        Column(cost.title, "cell", cost.help), {row["slice"]: _make_cell(cost, row) for row in rows}
    )


def _make_cell(cost: _Cost, row: Row) -> Cell:
    turns, known = row["turns"], cost.known(row)
    value = cost_per_turn(cost.amount(row), known)
    ended = ""
    if cost.per_success and value is not None:
        value = value * row["ok_known"] / row["ok"] if row["ok"] else None
        how = describe_reported(row["ok_reported"], row["ok_known"])
        ended = f"; {wording.fraction(row['ok'], row['ok_known'])} turns succeeded, {how}"
    if value is None:
        return Cell("–", title=f"unknown{ended}", pale=True)
    return Cell(
        format_amount(value),
        sub=None if known == turns else f"of {wording.rate(known, turns)}",
        order=value,
        pale=known < MEASURED_ENOUGH * turns,
        title=f"known for {wording.fraction(known, turns)} turns{ended}",
    )
