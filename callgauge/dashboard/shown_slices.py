"""Computes slices and rankings of the shown store, once per published store file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.analysis.comparisons.rankings import (
    JudgedRanking,
    SlicesByRate,
    judge_ranking,
    read_ranked_slices,
)
from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.metrics import MetricError
from callgauge.dashboard import store_queries
from callgauge.dashboard.viewer import leave_place_out
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.public_rates import PublicRate
from callgauge.memory.records import ModelPrice, TeamRecords


def ask_slices(*, related: bool = True, **parameters: Any) -> Sequence[Slice]:
    """Return the slices of the metric `slices`. `make_slices` describes `related`. Raises MetricError."""
    return store_queries.derive(
        lambda ask: make_slices(ask("slices", **parameters), related=related), "slices", parameters, related
    )


def read_slices(rate: RateDefinition, by: str, chosen: Mapping[str, Any]) -> SlicesByRate:
    """Return the slices for each value of the dimension `by`. Raises MetricError."""
    return store_queries.derive(
        lambda ask: read_ranked_slices(ask, rate, by, chosen), "ranked slices", rate.name, by, chosen
    )


def rank_slices(
    slices: SlicesByRate,
    rate: RateDefinition,
    by: str,
    chosen: Mapping[str, Any],
    costs: Sequence[Cost],
    *,
    baseline: str | None = None,
    smallest: float,
) -> JudgedRanking:
    """Return the slices as a ranking by `rate`. Raises MetricError."""
    return store_queries.derive(
        lambda ask: judge_ranking(
            ask, slices, rate, by, chosen, baseline=baseline, smallest=smallest, costs=costs
        ),
        "ranking",
        *(rate.name, by, chosen, baseline, smallest, list_prices() if costs else ()),
    )


def list_prices() -> Sequence[ModelPrice]:
    """Return the team's own prices. Raises MetricError."""
    return tuple(_read_records().prices)


def list_public_rates() -> Sequence[PublicRate]:
    """Return the public rates that the team imported. Raises MetricError."""
    return tuple(_read_records().public_rates)


def _read_records() -> TeamRecords:
    try:
        return store_queries.team_records()
    except MemoryProblemError as problem:
        raise MetricError(leave_place_out(str(problem))) from None
