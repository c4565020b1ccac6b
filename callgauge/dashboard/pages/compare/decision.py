"""Records a decision on the page Compare, with both slices and the verdict as the page shows them."""

from __future__ import annotations

from callgauge.analysis.comparisons.sides import CompareSide
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.dashboard.components.memory.decision_form import draw_decide, freeze_parameters
from callgauge.dashboard.components.memory.saved_views import read_query
from callgauge.memory.decisions import FrozenComparison, FrozenSide


def draw_compare_decision(title: str, frozen: FrozenComparison) -> None:
    """Draw the popover that records a decision.

    `title` is the suggested title, or empty when the numbers suggest no single decision.
    """
    draw_decide("compare", {"": (title, frozen)}, f"compare?{read_query()}")


def freeze_comparison(
    a: CompareSide, b: CompareSide, rate: RateDefinition, comparison: SliceComparison, sentence: str
) -> FrozenComparison:
    """Return the comparison of slice B with slice A, with all current numbers."""
    difference = comparison.difference
    return FrozenComparison(
        rate.name,
        sentence,
        _freeze_side(b, rate),
        _freeze_side(a, rate),
        difference.estimate if difference else None,
        difference.low if difference else None,
        difference.high if difference else None,
        comparison.p,
        difference.method if difference else "",
    )


def _freeze_side(side: CompareSide, rate: RateDefinition) -> FrozenSide:
    whole = side.whole_slice(rate)
    parameters = freeze_parameters(side.arm.parameters())
    if whole is None:
        return FrozenSide(side.name, 0.0, 0.0, 0, parameters=parameters)
    share, bounds = whole.share, whole.share.interval
    low, high = (bounds.low, bounds.high) if bounds else (None, None)
    return FrozenSide(side.name, float(share.k), float(share.n), int(whole.total), low, high, parameters)
