"""Computes the cost of the chosen turns, using the shown store and the team's prices."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from callgauge.analysis.measures import costs
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
    """Return the price list: the team's own prices and the built-in prices. Raises MetricError."""
    return PriceList(list_prices())


def match_shown_models(prices: PriceList) -> dict[str, PriceMatch | None]:
    """Return the matched prices of each model in the shown store. A model without a price gets None."""
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
    """Return the cost of each value of a dimension for a ranking.

    Return no costs if the prices cannot be read.
    """
    with suppress(MetricError):  # the filter bar shows the reason
        return ask_costs(by, **chosen) if by in DIMENSIONS else []
    return []


def summarise_costs(chosen: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> CostSummary:
    """Return the cost of the chosen turns, in total and by model, and the total cost of the baseline.

    `chosen` and `before` (the baseline) are metric parameters. Raises MetricError.
    """
    return store_queries.derive(
        lambda ask: costs.summarise_costs(ask, read_prices(), chosen, before),
        *("cost summary", chosen, before, list_prices()),
    )
