"""A column that a reader adds to the table of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from callgauge.dashboard.components.table import Cell, Column


@dataclass(frozen=True, slots=True)
class AddedColumn:
    """The head of the column, and its cell for each slice by name; a slice without a cell gets a dash."""

    head: Column
    cells: Mapping[str, Cell]
