"""Builds the cells of a heat map: the most used rows and columns, shaded by badness of the rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from callgauge.analysis.measures.slices import Slice

DEEPEST = 0.5  # of the shade's colour, so that text stays legible on it


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A table of one rate, with a shade for each cell.

    `cells`: slices by (row name, column name). `columns_in_all`: the number of columns of these rows before
    the limit. `worst`: the largest badness (0 to 1) of a cell with enough observations.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Slice]
    columns_in_all: int
    worst: float

    def cell_heat(self, one: Slice) -> float | None:
        """Return the depth of the cell's shade: 0 (best) to DEEPEST (as bad as `worst`).

        Return None when too little was observed for a verdict. The depth grows with the square root of the
        badness, so that one cell much worse than the others leaves these distinguishable.
        """
        bad = badness(one)
        if bad is None or not one.is_solid:
            return None
        return DEEPEST * sqrt(min(1.0, bad / self.worst)) if self.worst else 0.0

    def legend_shades(self, steps: int) -> list[tuple[float, float]]:
        """Return `steps` pairs of a shade's depth and the badness for which it stands, the best first."""
        places = [step / (steps - 1) for step in range(steps)]
        return [(DEEPEST * place, self.worst * place * place) for place in places]


def badness(one: Slice) -> float | None:
    """Return the rate, or 1 minus the rate when a high rate is good; None when nothing was measured."""
    rate = one.share.rate
    return None if rate is None else 1 - rate if one.rate.is_good else rate


def build_heat_map(several: Sequence[Slice], rows: Sequence[str], columns: int) -> HeatMap:
    """Build the heat map from slices: `name` of a slice is the row, `also` the column.

    `rows`: the names that get a row, in their order. `columns`: how many columns are kept, the most observed
    in these rows.
    """
    shown = set(rows)
    inside = [one for one in several if one.name in shown]
    across = _sort_by_use((one.also, one) for one in inside)
    drawn = set(across[:columns])
    kept = {(one.name, one.also): one for one in inside if one.also in drawn}
    solid = [bad for one in kept.values() if one.is_solid and (bad := badness(one)) is not None]
    return HeatMap(rows, across[:columns], kept, len(across), max(solid, default=0.0))


def _sort_by_use(named: Iterable[tuple[str, Slice]]) -> list[str]:
    """Return the names by the number of their observations, then by their total, the largest first."""
    totals: dict[str, tuple[int, int]] = {}
    for name, one in named:
        n, total = totals.get(name, (0, 0))
        totals[name] = (n + one.share.n, total + one.total)
    return sorted(totals, key=lambda name: (-totals[name][0], -totals[name][1], name))
