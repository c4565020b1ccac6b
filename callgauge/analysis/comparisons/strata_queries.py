"""Reads the strata of two slices, for mix-adjusted comparisons and breakdowns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from callgauge.analysis.measures.breakdown import BROKEN_DOWN_BY, Breakdown, break_down
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, choose_dimensions, make_strata
from callgauge.analysis.measures.slices import Slice, make_slices

Ask = Callable[..., pd.DataFrame]
"""Answers a metric. The arguments are the name of the metric, and the parameters as keywords."""
ArmSlices = Mapping[str, Mapping[str, Sequence[Slice]]]
"""By dimension, then by compared slice: the part of the slice with each value of the dimension."""


def read_strata(
    ask: Ask,
    rates: Sequence[RateDefinition],
    by: str | None,
    chosen: Mapping[str, Any],
    *,
    arms: Sequence[str] | None = None,
    apart: Iterable[str] = (),
) -> dict[str, ArmStrata]:
    """Return by rate the strata of each value of the dimension `by`.

    If `by` is None, return the strata of all calls. All `rates` must have the same unit. `arms` limits the
    values that are read. `apart` holds further dimensions in which the compared slices differ.
    """
    dimensions = choose_dimensions(rates[0], [*([by] if by else []), *apart])
    dimension_parameters = dict(zip(("first", "second", "third"), dimensions, strict=False))
    names = tuple(rate.name for rate in rates)
    among = tuple(arms) if arms is not None else None
    rows = ask("strata", rates=names, by=by, among=among, **dimension_parameters, **chosen)
    return {name: make_strata(rows[rows["rate"] == name], dimensions) for name in names}


def break_compared_down(whole: SliceComparison, arms: ArmSlices, work: ArmStrata) -> Breakdown:
    """Return the difference of two values of one dimension, broken down by the other dimensions."""
    pair = (whole.other.name if whole.other else "", whole.slice.name)
    return break_down(
        whole,
        {
            name: (arm_slices.get(pair[0], ()), arm_slices.get(pair[1], ()))
            for name, arm_slices in arms.items()
        },
        work,
        pair,
    )


def read_arms(
    ask: Ask, rate: RateDefinition, by: str, arms: Sequence[str], chosen: Mapping[str, Any]
) -> ArmSlices:
    """Return the slices of the values `arms` of the dimension `by`, by the other dimensions."""
    return split_arms(ask_arms(ask, rate, [by], chosen, by=by, among=tuple(arms)))


def ask_arms(
    ask: Ask, rate: RateDefinition, apart: Iterable[str], chosen: Mapping[str, Any], **arms: Any
) -> pd.DataFrame:
    """Return the rows of the metric `breakdown`, by the dimensions that both slices have in common.

    `apart` holds the dimensions in which the slices differ. `arms` holds the metric's parameters `by` and
    `among`.
    """
    dimensions = choose_breakdown(apart)
    return ask("breakdown", rates=(rate.name,), dimensions=dimensions, **arms, **chosen)


def choose_breakdown(apart: Iterable[str]) -> tuple[str, ...]:
    """Return the dimensions for a breakdown: dimensions in which the slices do not differ."""
    others = {"prompt" if name == "prompt_name" else name for name in apart}
    return tuple(name for name in BROKEN_DOWN_BY if name not in others)


def split_arms(rows: pd.DataFrame) -> ArmSlices:
    """Return the slices of the metric `breakdown`.

    Slices of a dimension share one estimate of the intra-session correlation.
    """
    by_dimension: dict[str, dict[str, list[Slice]]] = {}
    for dimension, dimension_rows in rows.groupby("dimension", sort=False):
        arms = by_dimension.setdefault(str(dimension), {})
        for slice_ in make_slices(dimension_rows):
            arms.setdefault(slice_.also, []).append(slice_)
    return {name: by_dimension[name] for name in BROKEN_DOWN_BY if name in by_dimension}
