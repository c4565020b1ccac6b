"""The cost of a successful turn on the page Overview: a headline card."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import COMMAND, Cost, CostSummary
from callgauge.analysis.metrics import MetricError
from callgauge.dashboard import filters
from callgauge.dashboard.components.money.page_costs import summarise_costs
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.overview.headline_card import draw_headline_card
from callgauge.stats import ENOUGH


def read_costs(chosen: Mapping[str, Any]) -> CostSummary | None:
    """Return what the chosen turns cost; None when the team's memory, which holds prices, cannot be read."""
    with suppress(MetricError):  # the filter bar says why
        return summarise_costs(chosen, filters.baseline_parameters(chosen))
    return None


def draw_cost_headline(summary: CostSummary) -> None:
    """Draw the card of the cost per successful turn, with its change against the baseline."""
    cost = summary.overall
    mean = cost.per_completed if cost else None
    few = mean is not None and (mean.turns < ENOUGH or mean.interval is None)
    change = None if summary.change is None else f"{100 * summary.change:+.0f}%".replace("-", "−")
    amount = wording.in_markdown(_write(cost, mean.amount)) if cost and mean else "–"
    with draw_headline_card("Cost per successful turn", amount, change, few=few):
        if cost is None or mean is None:
            st.caption(wording.in_markdown(f"No turn has a price. Load yours: {COMMAND}", 120))
            return
        lines = [f"{'few: ' if few else ''}{wording.plural(mean.turns, 'successful turn')}"]
        if mean.interval:
            lines.append(f"{_write(cost, mean.interval.low)} to {_write(cost, mean.interval.high)}")
        if cost.unpriced_calls:
            lines.append(
                f"unpriced: {cost.unpriced_calls:,} of {wording.plural(cost.calls, 'step')} (model calls)"
            )
        st.caption("  \n".join(wording.in_markdown(line, 200) for line in lines))
        st.page_link(page_file("models"), label=wording.link_label("By model"), query_params={"tab": "cost"})


def _write(cost: Cost, amount: float) -> str:
    return wording.money(amount, cost.currency, wording.money_places(amount))
