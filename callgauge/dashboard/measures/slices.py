"""Measured slices: a rate with its uncertainty, and how much is unmeasured."""

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
    """One rate of one slice. `total`: how many there are in all, of which `share.n` could be measured."""

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
        """True where enough was observed, and enough of it, for a rank and for a verdict."""
        return self.is_rankable and self.share.n >= ENOUGH


def make_slices(rows: pd.DataFrame) -> list[Slice]:
    """Make the slices, in the order of the rows."""
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
    """One slice of several of the same rate; None when there is none. Sessions that two share count twice."""
    parts = list(several)
    if not parts:
        return None
    whole = reduce(add, (part.share for part in parts))
    return Slice(parts[0].rate, name, "all", whole, sum(part.total for part in parts))


def rank_slices(several: Iterable[Slice]) -> list[Slice]:
    """The best first; those of which too little was measured last, by their size."""
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
    """A slice beside the one it is held against; `p` is Holm's, over all of the table.

    `p` is None where either is not `solid`: of two calls no test can be trusted.
    """

    slice: Slice
    difference: Difference | None
    p: float | None

    @property
    def is_decisive(self) -> bool:
        """True when the difference holds up among all that were looked at together."""
        return (
            self.difference is not None
            and self.difference.is_decisive
            and self.p is not None
            and self.p < 0.05
        )


def compare_with_reference(several: Sequence[Slice], reference: Slice) -> list[SliceComparison]:
    """Each slice beside `reference`, in the same order; the reference itself has no difference."""
    return compare_pairs([(one, None if one is reference else reference) for one in several])


def compare_pairs(pairs: Sequence[tuple[Slice, Slice | None]]) -> list[SliceComparison]:
    """Each first slice beside its second, in the same order, all looked at together; None: beside nothing."""
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
