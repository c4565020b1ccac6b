"""Costs of the chosen turns, from the store of the page and the team's prices."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from callgauge.analysis.measures.costs import (
    DIMENSIONS,
    Cost,
    CostSummary,
    cost_parameters,
    find_costs,
    match_models,
)
from callgauge.analysis.metrics import MetricError
from callgauge.dashboard import store_queries
from callgauge.dashboard.shown_slices import list_prices
from callgauge.prices import PriceList, PriceMatch


def read_prices() -> PriceList:
    """Return the prices for the store: the team's and ours. Raises MetricError."""
    return PriceList(list_prices())


def match_shown_models(prices: PriceList) -> dict[str, PriceMatch | None]:
    """Return the prices of each model that the shown store names, None for a model without."""
    return match_models(store_queries.ask, prices)


def shown_parameters(by: str | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the metric `costs` for a dimension and filters. Raises MetricError."""
    return cost_parameters(store_queries.ask, read_prices(), by, chosen)


def ask_costs(by: str | None = None, **chosen: Any) -> list[Cost]:
    """Return the cost of each slice of a dimension, as `find_costs` does. Raises MetricError."""
    return store_queries.derive(
        lambda ask: find_costs(ask, read_prices(), by, **chosen), "costs", by, chosen, list_prices()
    )


def ask_ranked_costs(by: str, chosen: Mapping[str, Any]) -> list[Cost]:
    """Return the cost of each value of a dimension for its ranking; empty if prices cannot be read."""
    with suppress(MetricError):  # the filter bar shows the reason
        return ask_costs(by, **chosen) if by in DIMENSIONS else []
    return []


def summarise_costs(chosen: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> CostSummary:
    """Return the cost of the chosen turns by model, and that of the baseline `before`.

    Both are metric parameters, as from `filters.chosen_filters().parameters()`. Raises MetricError.
    """
    return CostSummary(
        next(iter(ask_costs(**chosen)), None),
        tuple(ask_costs("model", **chosen)),
        next(iter(ask_costs(**before)), None) if before else None,
    )
