"""The selector of the baseline: the slice that the others are compared with, kept in the URL."""

from __future__ import annotations

from collections.abc import Sequence

from callgauge.analysis.measures.comparisons import choose_reference
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS, choose_one


def baseline_key(dimension: str) -> str:
    """Return the URL key of the baseline among the values of a dimension: base_model. Links keep it."""
    return f"base_{dimension}"


def choose_baseline(dimension: str, several: Sequence[Slice]) -> Slice:
    """Draw the selector and return the baseline among slices of one rate; `several` has one slice or more.

    The default is the slice with most sessions. It is never chosen by its rate: the luckiest slice as the
    baseline would make the others look worse than they are. What the logs do not name is several things, and
    is only offered when there is nothing else.
    """
    usual = choose_reference(several)
    named = [one for one in several if one.is_named]
    known = {one.name: one for one in [usual, *sorted(named, key=_use_key)]}
    name = choose_one(
        f"Baseline {DIMENSIONS[dimension].lower()}",
        baseline_key(dimension),
        list(known),
        usual.name,
        lambda value: filters.short_label(dimension, value),
        width=280,
    )
    return known[name]


def _use_key(one: Slice) -> tuple[bool, int, str]:
    return not one.is_solid, -(one.share.sessions or 0), one.name
