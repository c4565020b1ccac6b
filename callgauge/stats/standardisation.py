"""Mix-adjusted differences of two slices, and how much of a plain difference comes from the mix.

Two models that get different tool calls cannot be compared by their plain rates: the model with the harder
tools looks worse (Simpson 1951). So the slices are compared within each stratum (such as a tool), and the
differences are averaged with the weights of Mantel & Haenszel (1959; for rate differences Greenland & Robins
1985).

A contrast tests whether a stratum differs from the other strata. It is the stratum's difference minus the
difference of all other strata at the same mix. The largest contrast tests a dimension, and shows which
stratum is unlike the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from operator import add

import msgspec
import numpy as np

from callgauge.stats.corrections import holm
from callgauge.stats.day_spread import NO_EXCESS, DayExcess, measure_excesses, widen_estimates
from callgauge.stats.differences import Difference, compare_differences, compare_estimates
from callgauge.stats.intervals import LEVEL, Floats
from callgauge.stats.rates import Estimate, Likeness, Share, estimate_rate, measure_spreads

REPRESENTATIVE = 0.8  # below this share of the observations, the common mix does not represent the slices
COMPARABLE = 0.5  # below this share, the slices do different work, and there is no verdict
_MATTERS = 0.25  # in half-widths of the interval; a bias of 0.25 half-widths costs two points of coverage

_UNSEEN = Share(0, 0)
Strata = Sequence[tuple[Share, Share]]
"""The shares (of, against) of each stratum. A slice without the stratum has 0 of 0."""


class StandardisedDifference(msgspec.Struct, frozen=True):
    """The `difference` of two slices at the same mix of strata, and the rates `of` and `against` at this mix.

    `strata` is the number of strata that both slices have. `covered` is the share of a slice's observations
    that are in these strata, for the slice where this share is smaller. `by_mix` is the part of the plain
    difference that comes from the different mixes (Kitagawa 1955), including strata that only one slice has.
    """

    difference: Difference
    of: float
    against: float
    strata: int
    covered: float
    by_mix: float

    @property
    def is_representative(self) -> bool:
        """True if the strata that both slices have contain at least 80 % of each slice's observations."""
        return self.covered >= REPRESENTATIVE

    @property
    def is_comparable(self) -> bool:
        """True if the strata that both slices have contain at least half of each slice's observations."""
        return self.covered >= COMPARABLE

    def outweighs(self, plain: Difference) -> bool:
        """Return True if the mix moves the plain difference so much that the adjusted one must be shown."""
        return not self.is_representative or abs(self.by_mix) > _MATTERS * (plain.high - plain.low) / 2


def standardise(strata: Strata) -> StandardisedDifference | None:
    """Return the difference of the rates of two slices, as if both slices had the same share of calls in each
    stratum.

    Return None if no stratum occurs in both slices.
    """
    return standardise_all([strata])[0]


def standardise_all(
    several: Sequence[Strata],
    likeness: Sequence[tuple[Likeness | None, Likeness | None]] | None = None,
    excesses: Sequence[DayExcess] | None = None,
    level: float = LEVEL,
) -> list[StandardisedDifference | None]:
    """Return the difference of each pair of slices at the same mix.

    A pair gets None if no stratum occurs in both slices. A stratum that occurs in only one session group of a
    slice is left out. Observations of one session in several strata count as correlated
    (callgauge.stats.rates). `likeness` holds for each pair the intra-session correlation from the tables of
    both slices. `excesses` is the variance that days add to each plain difference. `level` is the confidence
    of the intervals.
    """
    mixes = [_Mix.read(strata) for strata in several]
    lent = likeness or [(None, None)] * len(mixes)
    beyond = excesses or [NO_EXCESS] * len(mixes)
    usable = [(mix, each) for mix, each in zip(mixes, lent, strict=True) if mix]
    estimates = iter(_estimate_arms([mix for mix, _ in usable], [each for _, each in usable]))
    pairs = [
        widen_estimates(*next(estimates), excess) for mix, excess in zip(mixes, beyond, strict=True) if mix
    ]
    differences = iter(compare_estimates(pairs, level))
    return [mix.describe(next(differences)) if mix else None for mix in mixes]


def estimate_at_mix(
    strata: Strata, likeness: Likeness | None, against: Likeness | None
) -> tuple[Estimate, Estimate] | None:
    """Return the rates of both slices at the same mix, with uncertainty.

    Return None if the slices have no stratum in common.
    """
    mix = _Mix.read(strata)
    return _estimate_arms([mix], [(likeness, against)])[0] if mix else None


def _estimate_arms(
    mixes: Sequence[_Mix], likeness: Sequence[tuple[Likeness | None, Likeness | None]]
) -> list[tuple[Estimate, Estimate]]:
    """Return the rates of both slices at each mix, with their uncertainty.

    Mixes with the same number of strata are calculated together.
    """
    estimates: dict[int, tuple[Estimate, Estimate]] = {}
    by_size: dict[int, list[int]] = {}
    for place, mix in enumerate(mixes):
        if mix.is_clustered:
            by_size.setdefault(len(mix.used), []).append(place)
        else:
            estimates[place] = mix.estimate_independent()
    for places in by_size.values():
        arms = [(mixes[place], arm) for place in places for arm in (0, 1)]
        counts = np.array([[pair[arm].by_group for pair in mix.used] for mix, arm in arms])
        spreads = measure_spreads(counts.transpose(0, 2, 1, 3), np.array([mix.weights for mix, _ in arms]))
        for place, own_likeness, against in zip(places, spreads[::2], spreads[1::2], strict=True):
            rates, lent = mixes[place].rates.tolist(), likeness[place]
            estimates[place] = (
                estimate_rate(rates[0], own_likeness, lent[0]),
                estimate_rate(rates[1], against, lent[1]),
            )
    return [estimates[place] for place in range(len(mixes))]


class _Mix(msgspec.Struct, frozen=True):
    """The strata that both slices have: k and n, of shape (2 slices, strata), and the weights of the strata.

    `totals` holds k and n of all strata, of shape (2, 2 slices).
    """

    used: Strata
    k: Floats
    n: Floats
    weights: Floats
    totals: Floats

    @classmethod
    def read(cls, strata: Strata) -> _Mix | None:
        used = [pair for pair in strata if all(map(_is_usable, pair))]
        if not used:
            return None
        k, n = _read_counts(used)
        weights = n[0] * n[1] / n.sum(0)
        return cls(used, k, n, weights / weights.sum(), _read_counts(strata).sum(2))

    @property
    def rates(self) -> Floats:
        return np.asarray((self.k / self.n * self.weights).sum(1))

    @property
    def is_clustered(self) -> bool:
        return all(share.by_group is not None for pair in self.used for share in pair)

    def estimate_independent(self) -> tuple[Estimate, Estimate]:
        """Return the rates of both slices, assuming that all observations are independent."""
        precision = (self.weights**2 / self.n).sum(1)
        estimate, against = (
            Estimate(rate, 1 / float(each), inf, inf)
            for rate, each in zip(self.rates.tolist(), precision, strict=True)
        )
        return estimate, against

    def describe(self, difference: Difference) -> StandardisedDifference:
        mixes = self.n / self.n.sum(1, keepdims=True)
        by_mix = float(((mixes[0] - mixes[1]) * (self.k / self.n).mean(0)).sum())
        whole, within = self.totals[0] / self.totals[1], self.k.sum(1) / self.n.sum(1)
        by_mix += float((whole[0] - whole[1]) - (within[0] - within[1]))
        method = f"mix-adjusted over {len(self.used):,} groups (Mantel-Haenszel), {difference.method}"
        rate, against = self.rates.tolist()
        return StandardisedDifference(
            Difference(difference.estimate, difference.low, difference.high, difference.p, method),
            rate,
            against,
            len(self.used),
            float((self.n.sum(1) / self.totals[1]).min()),
            by_mix,
        )


def _read_counts(strata: Strata) -> Floats:
    counts = [[[share.k for share in pair], [share.n for share in pair]] for pair in strata]
    return np.array(counts, dtype=float).transpose(1, 2, 0)


def _is_usable(share: Share) -> bool:
    return share.n > 0 and (share.by_group is None or int((share.by_group[1] > 0).sum()) > 1)


# --- interaction: is the difference of a stratum unlike that of the others? --------------------------------


def contrast_strata(
    strata: Strata, judged: Sequence[int], likeness: tuple[Likeness | None, Likeness | None] = (None, None)
) -> list[Difference | None]:
    """Return for each stratum by how much its difference exceeds the difference of all other strata together.

    `judged` holds the positions of the strata to contrast. A stratum gets None if its position is not in
    `judged`, or if no other stratum is in both slices. `likeness` is the intra-session correlation from the
    tables of both slices.
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
    differences = dict(zip(quads, compare_differences(list(quads.values())), strict=True))
    return [differences.get(place) for place in range(len(strata))]


def _sum_arms(strata: Strata) -> tuple[Share, Share]:
    shares, against = ([share for share in arm if share.n] for arm in zip(*strata, strict=True))
    return reduce(add, shares, _UNSEEN), reduce(add, against, _UNSEEN)


def adjust_families(families: Sequence[Sequence[float | None]]) -> list[list[float | None]]:
    """Return the p-values adjusted over all families together. The significance level is divided equally
    among the families.

    Holm's weighted procedure (1979) keeps the chance of any false positive at the level. A family with many
    p-values does not make the test of a small family stricter. A p-value of None stays None and is not
    counted.
    """
    families_of_p = [[p for p in family if p is not None] for family in families]
    weights = [1 / len(family) for family in families_of_p for _ in family]
    adjusted = iter(holm([p for family in families_of_p for p in family], weights))
    return [[None if p is None else next(adjusted) for p in family] for family in families]
