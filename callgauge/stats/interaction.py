"""Tests for interaction: whether a difference is another one in some strata than in the others.

Each stratum is contrasted with all others together: its difference minus that of the rest, which is averaged
with the weights of Mantel & Haenszel as at the same mix. The largest contrast is the test of a dimension, so
that it also names the stratum. Cochran's Q would need the variance of each stratum from its own few sessions;
a stratum without a hit has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from callgauge.stats.corrections import holm
from callgauge.stats.day_spread import measure_excesses, widen_estimates
from callgauge.stats.differences import Difference, compare_differences
from callgauge.stats.rates import Likeness, Share
from callgauge.stats.standardisation import Strata, estimate_at_mix

_UNSEEN = Share(0, 0)


def contrast_strata(
    strata: Strata, judged: Sequence[int], likeness: tuple[Likeness | None, Likeness | None] = (None, None)
) -> list[Difference | None]:
    """Return for each stratum by how much its difference exceeds that of all others together.

    `judged`: the places of the strata to contrast; None for the others, and where no other stratum is in both
    arms. `likeness`: what the tables of both arms tell of how alike calls of a session are.
    """
    others = {place: [*strata[:place], *strata[place + 1 :]] for place in judged}
    excesses = measure_excesses(
        [pair for place in judged for pair in (strata[place], _sum_arms(others[place]))]
    )
    quads = {}
    for place, own, of_rest in zip(judged, excesses[::2], excesses[1::2], strict=True):
        first, second = (share.estimate for share in strata[place])
        rest = estimate_at_mix(others[place], *likeness)
        if first and second and rest:
            quads[place] = (
                widen_estimates(first, second, own),
                widen_estimates(*rest, of_rest),
            )
    found = dict(zip(quads, compare_differences(list(quads.values())), strict=True))
    return [found.get(place) for place in range(len(strata))]


def _sum_arms(strata: Strata) -> tuple[Share, Share]:
    """Return the shares of both arms over all strata."""
    of, against = ([share for share in arm if share.n] for arm in zip(*strata, strict=True))
    return reduce(add, of, _UNSEEN), reduce(add, against, _UNSEEN)


def adjust_families(families: Sequence[Sequence[float | None]]) -> list[list[float | None]]:
    """Return the p-values adjusted over all families at once; each family gets the same part of the level.

    Holm's weighted procedure (1979): the chance of any false positive stays at the level, and a dimension of
    many strata does not take the level away from one of few. None stays None and counts for nothing.
    """
    known = [[p for p in family if p is not None] for family in families]
    weights = [1 / len(family) for family in known for _ in family]
    adjusted = iter(holm([p for family in known for p in family], weights))
    return [[None if p is None else next(adjusted) for p in family] for family in families]
