"""Rows of the metric `slices` in, measured slices out: a rate with its doubt, and how much is unmeasured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import pandas as pd

from dashboard.rates import RATES, Rate
from dashboard.statistics import ENOUGH, Difference, Share, difference, holm

MEASURED_ENOUGH = 0.2  # a slice of which less could be measured is shown and badged, but not ranked


@dataclass(frozen=True, slots=True)
class Slice:
    """One rate of one slice. `total`: how many there are in all, of which `share.n` could be measured."""

    rate: Rate
    name: str
    also: str
    share: Share
    total: int

    @property
    def measured(self) -> float:
        """The share of `total` that could be measured, 0 to 1."""
        return self.share.n / self.total if self.total else 0.0

    @property
    def rankable(self) -> bool:
        return self.share.n > 0 and self.measured >= MEASURED_ENOUGH

    @property
    def solid(self) -> bool:
        """True where enough was observed, and enough of it, for a rank and for a verdict."""
        return self.rankable and self.share.n >= ENOUGH


def slices(rows: pd.DataFrame) -> list[Slice]:
    """In the order of the rows."""
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


def together(several: Iterable[Slice], name: str = "all") -> Slice | None:
    """One slice of several of the same rate; None when there is none. Sessions that two share count twice."""
    parts = list(several)
    if not parts:
        return None
    whole = reduce(add, (part.share for part in parts))
    return Slice(parts[0].rate, name, "all", whole, sum(part.total for part in parts))


def ranked(several: Iterable[Slice]) -> list[Slice]:
    """The best first; those of which too little was measured last, by their size."""
    return sorted(
        several,
        key=lambda one: (
            not one.rankable,
            0.0 if not one.rankable else (one.share.rate or 0.0) * (-1 if one.rate.good else 1),
            -one.share.n,
            one.name,
        ),
    )


@dataclass(frozen=True, slots=True)
class Against:
    """A slice beside the one it is held against; `p` is Holm's, over all of the table.

    `p` is None where either is not `solid`: of two calls no test can be trusted.
    """

    slice: Slice
    difference: Difference | None
    p: float | None

    @property
    def decisive(self) -> bool:
        """True when the difference holds up among all that were looked at together."""
        return (
            self.difference is not None and self.difference.decisive and self.p is not None and self.p < 0.05
        )


def against(several: Sequence[Slice], reference: Slice) -> list[Against]:
    """Each slice beside `reference`, in the same order; the reference itself has no difference."""
    return beside([(one, None if one is reference else reference) for one in several])


def beside(pairs: Sequence[tuple[Slice, Slice | None]]) -> list[Against]:
    """Each first slice beside its second, in the same order, all looked at together; None: beside nothing."""
    found = [None if other is None else difference(one.share, other.share) for one, other in pairs]
    judged = [
        diff is not None and one.solid and other is not None and other.solid
        for (one, other), diff in zip(pairs, found, strict=True)
    ]
    corrected = iter(holm([diff.p for diff, judge in zip(found, judged, strict=True) if diff and judge]))
    return [
        Against(one, diff, next(corrected) if judge else None)
        for (one, _), diff, judge in zip(pairs, found, judged, strict=True)
    ]
