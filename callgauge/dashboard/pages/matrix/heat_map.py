"""The cells of a heat map: bounded, in order of use, shaded by badness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from callgauge.dashboard.measures.slices import Slice
from callgauge.stats import ENOUGH

DEEPEST = 0.5  # of the shade's colour, so that text stays legible on it


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The table. `cells`: by row and column name. `rows_in_all`, `columns_in_all`: how many there are."""

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[str, str], Slice]
    rows_in_all: int
    columns_in_all: int
    worst: float

    def cell_heat(self, one: Slice) -> float | None:
        """Return 0 (best) to DEEPEST (as bad as `worst`). None where hardly anything was observed.

        By the root of the badness: one cell that is much worse than all others leaves them apart.
        """
        bad = badness(one)
        if bad is None or one.share.n < ENOUGH:
            return None
        return DEEPEST * sqrt(min(1.0, bad / self.worst)) if self.worst else 0.0

    def legend_shades(self, steps: int) -> list[tuple[float, float]]:
        """Return `steps` shades from the best to the worst, each with the badness it stands for."""
        places = [step / (steps - 1) for step in range(steps)]
        return [(DEEPEST * place, self.worst * place * place) for place in places]


def badness(one: Slice) -> float | None:
    """The rate, or what is missing to 100 % where high is good."""
    rate = one.share.rate
    return None if rate is None else 1 - rate if one.rate.is_good else rate


def build_heat_map(several: Sequence[Slice], rows: int, columns: int) -> HeatMap:
    """The `rows` × `columns` most observed of slices: `name` is the row, `also` the column."""
    down = _sort_by_use((one.name, one) for one in several)
    across = _sort_by_use((one.also, one) for one in several)
    kept = {
        (one.name, one.also): one
        for one in several
        if one.name in down[:rows] and one.also in across[:columns]
    }
    solid = [bad for one in kept.values() if one.share.n >= ENOUGH and (bad := badness(one)) is not None]
    return HeatMap(down[:rows], across[:columns], kept, len(down), len(across), max(solid, default=0.0))


def _sort_by_use(named: Iterable[tuple[str, Slice]]) -> list[str]:
    """The most observed first, then what could not be measured, by how much there is of it."""
    totals: dict[str, tuple[int, int]] = {}
    for name, one in named:
        n, total = totals.get(name, (0, 0))
        totals[name] = (n + one.share.n, total + one.total)
    return sorted(totals, key=lambda name: (-totals[name][0], -totals[name][1], name))
