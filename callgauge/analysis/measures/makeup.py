"""How the work of two arms differs in what it is made up of: models, tools, prompts, sizes and so on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd


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
