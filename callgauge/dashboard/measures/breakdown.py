"""Breaks a comparison of two arms down: their slices paired by name, and what their work is made up of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from callgauge.dashboard.measures.comparisons import SliceComparison, compare_pairs
from callgauge.dashboard.measures.same_mix import SameMix
from callgauge.dashboard.measures.slices import Slice


@dataclass(frozen=True, slots=True)
class ArmPair:
    """The slices of one name in both arms; `held` compares B with A, and is None when an arm has no slice."""

    name: str
    a: Slice | None
    b: Slice | None
    held: SliceComparison | None

    @property
    def n(self) -> int:
        return sum(one.share.n for one in (self.a, self.b) if one)


def pair_slices(
    a: Sequence[Slice],
    b: Sequence[Slice],
    compare_work: Callable[[Slice, Slice], SameMix | None] | None = None,
) -> list[ArmPair]:
    """Return the slices paired by name, the most observed first; p-values are Holm's over all pairs.

    `compare_work`: returns the slices of B and A of one name at the same mix of work.
    """
    firsts, seconds = {one.name: one for one in a}, {one.name: one for one in b}
    both = [name for name in seconds if name in firsts]
    pairs = [(seconds[name], firsts[name]) for name in both]
    mixes = [compare_work(*pair) for pair in pairs] if compare_work else None
    held = dict(zip(both, compare_pairs(pairs, mixes), strict=True))
    found = [
        ArmPair(name, firsts.get(name), seconds.get(name), held.get(name))
        for name in dict.fromkeys([*firsts, *seconds])
    ]
    return sorted(found, key=lambda pair: (-pair.n, pair.name))


@dataclass(frozen=True, slots=True)
class MakeupShift:
    """How many calls of each arm have a `value` of a dimension: `a` of `a_total`, `b` of `b_total`."""

    dimension: str
    value: str
    a: int
    a_total: int
    b: int
    b_total: int

    @property
    def change(self) -> float:
        """The share in arm B minus the share in arm A."""
        return self.b / self.b_total - self.a / self.a_total


def find_makeup_shifts(a: pd.DataFrame, b: pd.DataFrame, leave_out: Iterable[str] = ()) -> list[MakeupShift]:
    """Return the values whose shares differ between the arms, the biggest differences first.

    `a` and `b`: the rows of the metric `makeup` for each arm; `leave_out`: dimensions to leave out. A
    dimension without calls in one arm, such as a trait that its logs do not record, is left out as well.
    """
    left_out = set(leave_out)
    of_a, of_b = a.to_dict("records"), b.to_dict("records")
    firsts, seconds = (
        {(row["dimension"], row["value"]): row["calls"] for row in rows} for rows in (of_a, of_b)
    )
    first_totals, second_totals = (
        {row["dimension"]: row["total"] for row in rows if row["total"]} for rows in (of_a, of_b)
    )
    found = [
        MakeupShift(
            dimension,
            value,
            firsts.get((dimension, value), 0),
            first_totals[dimension],
            seconds.get((dimension, value), 0),
            second_totals[dimension],
        )
        for dimension, value in dict.fromkeys([*firsts, *seconds])
        if dimension not in left_out and dimension in first_totals and dimension in second_totals
    ]
    differing = [shift for shift in found if shift.change]
    return sorted(differing, key=lambda shift: (-abs(shift.change), shift.dimension, shift.value))
