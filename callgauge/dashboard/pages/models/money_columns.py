"""Columns of what turns cost in money, each beside the calls that are unpriced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.dashboard.components.money.cells import (
    MONEY_COLUMNS,
    make_cells,
)
from callgauge.dashboard.components.money.page_costs import ask_costs
from callgauge.dashboard.pages.models.added_column import AddedColumn

TITLES: Mapping[str, str] = {name: head.title for name, (head, _) in MONEY_COLUMNS.items()}
"""The columns by their name in the URL."""


def read_money_columns(by: str, names: Sequence[str], chosen: Mapping[str, Any]) -> dict[str, AddedColumn]:
    """Return the columns `names`, by name. `chosen`: the parameters of the filter bar."""
    costs = ask_costs(by, **chosen)
    found = {}
    for name in names:
        head, make = MONEY_COLUMNS[name]
        cells = zip(costs, make_cells(costs, make), strict=True)
        found[name] = AddedColumn(head, {cost.slice: cell for cost, cell in cells})
    return found
