"""Slices: a rate of a group of calls, turns or chains, its uncertainty, and its comparison with others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import pandas as pd

from callgauge.dashboard.measures.rates import RATES, RateDefinition
from callgauge.stats import ENOUGH, Difference, Share, compare_rates, holm

MEASURED_ENOUGH = 0.2  # a slice of which less could be measured is shown and badged, but not ranked


@dataclass(frozen=True, slots=True)
class Slice:
    """One rate of one slice: of the calls, turns or chains with the value `name` of a dimension.

    `also`: the value of a second dimension. `total`: how many there are in all; `share.n` of these could be
    measured.
    """

    rate: RateDefinition
    name: str
    also: str
    share: Share
    total: int

    @property
    def measured_share(self) -> float:
        """The share of `total` that could be measured, 0 to 1."""
        return self.share.n / self.total if self.total else 0.0

    @property
    def is_rankable(self) -> bool:
        return self.share.n > 0 and self.measured_share >= MEASURED_ENOUGH

    @property
    def is_solid(self) -> bool:
        """True when a rank and a verdict have enough observations, in number and as a share of `total`."""
        return self.is_rankable and self.share.n >= ENOUGH


def make_slices(rows: pd.DataFrame) -> list[Slice]:
    """Return a slice for each row of the metric `slices` (or one with its columns), in the same order."""
    return [
        Slice(
            RATES[row["rate"]],
            row["slice"],
            row["also"],
            Share(row["k"], row["n"], row["sessions"], row["kk"], row["kn"], row["nn"]),
            row["total"],
        )
        for row in rows.to_dict("records")
    ]


def merge_slices(several: Iterable[Slice], name: str = "all") -> Slice | None:
    """Return the sum of several slices of one rate; None for no slices. Shared sessions count twice."""
    parts = list(several)
    if not parts:
        return None
    whole = reduce(add, (part.share for part in parts))
    return Slice(parts[0].rate, name, "all", whole, sum(part.total for part in parts))


def rank_slices(several: Iterable[Slice]) -> list[Slice]:
    """Return the slices, the best first. Those with too little measured come last, by size."""
    return sorted(
        several,
        key=lambda one: (
            not one.is_rankable,
            0.0 if not one.is_rankable else (one.share.rate or 0.0) * (-1 if one.rate.is_good else 1),
            -one.share.n,
            one.name,
        ),
    )


@dataclass(frozen=True, slots=True)
class SliceComparison:
    """A slice and its difference from another slice; `p` is adjusted by Holm's method over the table.

    `difference` is None without another slice or without observations. `p` is None where either slice is not
    `is_solid`: no test of a few calls can be trusted.
    """

    slice: Slice
    difference: Difference | None
    p: float | None

    @property
    def is_decisive(self) -> bool:
        """True when the interval does not contain 0 and the adjusted `p` is below 0.05."""
        return (
            self.difference is not None
            and self.difference.is_decisive
            and self.p is not None
            and self.p < 0.05
        )


def compare_with_reference(several: Sequence[Slice], reference: Slice) -> list[SliceComparison]:
    """Compare each slice with `reference`, in the same order; the reference itself has no difference."""
    return compare_pairs([(one, None if one is reference else reference) for one in several])


def compare_pairs(pairs: Sequence[tuple[Slice, Slice | None]]) -> list[SliceComparison]:
    """Compare the first slice of each pair with the second, in the same order; None: nothing to compare with.

    The p-values are adjusted by Holm's method over all pairs.
    """
    found = [None if other is None else compare_rates(one.share, other.share) for one, other in pairs]
    judged = [
        diff is not None and one.is_solid and other is not None and other.is_solid
        for (one, other), diff in zip(pairs, found, strict=True)
    ]
    corrected = iter(holm([diff.p for diff, judge in zip(found, judged, strict=True) if diff and judge]))
    return [
        SliceComparison(one, diff, next(corrected) if judge else None)
        for (one, _), diff, judge in zip(pairs, found, judged, strict=True)
    ]
