"""Columns of what turns cost in money, each beside the calls that are unpriced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.dashboard.components.money.cells import (
    MakeCell,
    make_cells,
    per_completed_cell,
    per_completed_column,
    per_turn_cell,
    per_turn_column,
    retries_cell,
    retries_column,
    total_cell,
    total_column,
)
from callgauge.dashboard.components.table import Column
from callgauge.dashboard.measures.costs import ask_costs
from callgauge.dashboard.pages.models.added_column import AddedColumn

DIMENSIONS = ("model", "provider", "source")
"""Of a turn is known which of these it belongs to."""
_COLUMNS: Mapping[str, tuple[Column, MakeCell]] = {
    "cost_per_completed": (per_completed_column(), per_completed_cell),
    "cost_per_turn": (per_turn_column(), per_turn_cell),
    "cost_of_retries": (retries_column(), retries_cell),
    "cost": (total_column(), total_cell),
}
TITLES: Mapping[str, str] = {name: head.title for name, (head, _) in _COLUMNS.items()}
"""The columns by their name in the URL."""


def read_money_columns(by: str, names: Sequence[str], chosen: Mapping[str, Any]) -> dict[str, AddedColumn]:
    """Return the columns `names`, by name. `chosen`: the parameters of the filter bar."""
    costs = ask_costs(by, **chosen)
    found = {}
    for name in names:
        head, make = _COLUMNS[name]
        cells = zip(costs, make_cells(costs, make), strict=True)
        found[name] = AddedColumn(head, {cost.slice: cell for cost, cell in cells})
    return found
