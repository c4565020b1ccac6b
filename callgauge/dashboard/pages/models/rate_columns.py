"""Columns of further rates: a rate and its counts for each slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.slice_table import calls_link, compact_rate_cell
from callgauge.dashboard.components.table import Column
from callgauge.dashboard.pages.models.added_column import AddedColumn


def read_rate_columns(by: str, names: Sequence[str], chosen: Mapping[str, Any]) -> dict[str, AddedColumn]:
    """Return the columns of the rates `names`, by name. `chosen`: the parameters of the filter bar."""
    found: dict[str, list[Slice]] = {name: [] for name in names}
    for one in make_slices(store_queries.ask("slices", rates=tuple(names), by=by, **chosen)):
        found[one.rate.name].append(one)
    return {name: _make_column(by, name, several) for name, several in found.items()}


def _make_column(by: str, name: str, several: Sequence[Slice]) -> AddedColumn:
    rate = RATES[name]
    head = Column(rate.title, "cell", f"{rate.meaning}; hover or tap for the interval")
    return AddedColumn(
        head,
        {
            one.name: compact_rate_cell(one, calls_link(rate, {by: one.name}) if one.share.k else None)
            for one in several
        },
    )
