"""Compares two slices within each model, tool, prompt and host, and finds the values where the difference is
an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from callgauge.analysis.measures.comparisons import (
    LEVEL,
    SMALLEST,
    SliceComparison,
    Standing,
    compare_pairs,
)
from callgauge.analysis.measures.measurability import ComparisonBasis
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Difference, Share
from callgauge.stats.rates import Likeness
from callgauge.stats.standardisation import adjust_families, contrast_strata

BROKEN_DOWN_BY = ("model", "tool", "prompt", "provider")
DECIDED = (Standing.BETTER, Standing.WORSE, Standing.MORE, Standing.LESS)
"""The verdicts by which one of two slices has the higher rate."""
_UNNAMED = "unknown"
_UNSEEN = Share(0, 0)
_FAMILY = "models, tools, prompts and hosts"


@dataclass(frozen=True, slots=True)
class StratumComparison:
    """The comparison of two slices within one value `name` of a dimension.

    `a` and `b` are the two slices limited to this value, or None. `comparison` compares `b` with `a`, with a
    p-value adjusted over all strata of all dimensions. `comparison` is None when `a` or `b` is None.
    `contrast` says how much the difference in `comparison` exceeds the difference of all other strata of the
    dimension together. `contrast` is None when there is too little data. `contrast_p` is the p-value of the
    contrast, adjusted over all contrasts.
    """

    dimension: str
    name: str
    a: Slice | None
    b: Slice | None
    comparison: SliceComparison | None
    contrast: Difference | None = None
    contrast_p: float | None = None

    @property
    def n(self) -> int:
        return sum(slice_.share.n for slice_ in (self.a, self.b) if slice_)

    @property
    def is_judged(self) -> bool:
        return self.comparison is not None and self.comparison.p is not None

    def standing(self, smallest: float = SMALLEST) -> Standing:
        """Return how B compares with A within this value."""
        return self.comparison.standing(smallest) if self.comparison else Standing.UNMEASURED

    @property
    def is_unlike_others(self) -> bool:
        """True when the difference in this stratum is unlike the difference in the other strata (an
        interaction).

        The result is False for a mix-adjusted difference, because the contrast compares unadjusted rates.
        """
        plain = self.comparison is not None and not self.comparison.is_at_same_mix
        return plain and self.contrast_p is not None and self.contrast_p < LEVEL


@dataclass(frozen=True, slots=True)
class Split:
    """A dimension by which the verdict splits, with the better and the worse strata, the smallest p-values
    first.
    """

    dimension: str
    better: Sequence[StratumComparison]
    worse: Sequence[StratumComparison]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The difference `whole` of two slices, broken down by each dimension, the most observed stratum first.

    If one slice is better by this rate, `prices` holds the comparisons by the other leading rates. If the
    verdict splits, `weekly` holds the weekly observations of each value of the dimension by which it splits.
    `basis` is the rate by which the two slices may be compared, if requested.
    """

    whole: SliceComparison
    strata: Mapping[str, Sequence[StratumComparison]]
    prices: Sequence[SliceComparison] = ()
    weekly: Mapping[str, float] = field(default_factory=dict)
    basis: ComparisonBasis | None = None

    def find_named(self, smallest: float = SMALLEST) -> list[StratumComparison]:
        """Return the strata that a sentence should name in addition to the whole, the most certain first.

        These are the strata with a verdict that differs from the verdict on the whole, and the strata that
        are unlike the others. If the whole has too little data, no stratum is named. `smallest` is the
        smallest difference of interest, as a share.
        """
        whole = self.whole.standing(smallest)
        if whole in (Standing.TOO_FEW, Standing.TOO_FEW_DAYS, Standing.UNMEASURED, Standing.REFERENCE):
            return []
        named = [
            each
            for strata in self.strata.values()
            for each in strata
            if (standing := each.standing(smallest)) in DECIDED
            and (standing is not whole or each.is_unlike_others)
        ]
        return sorted(named, key=_order_by_certainty)

    def find_split(self, smallest: float = SMALLEST) -> Split | None:
        """Return the dimension by which the verdict splits, or None.

        The verdict splits if the judged slice is clearly better within one value and clearly worse within
        another value. If several dimensions show a split, the dimension with the most certain verdicts is
        returned.
        """
        splits: list[Split] = []
        for dimension, strata in self.strata.items():
            better, worse = (
                sorted(
                    (each for each in strata if each.standing(smallest) is standing), key=_order_by_certainty
                )
                for standing in (Standing.BETTER, Standing.WORSE)
            )
            if better and worse:
                splits.append(Split(dimension, better, worse))
        return min(
            splits,
            key=lambda split: max(_order_by_certainty(split.better[0]), _order_by_certainty(split.worse[0])),
            default=None,
        )

    def list_differing(self) -> list[str]:
        """Return the dimensions with a stratum whose difference is unlike that of the other strata."""
        return [name for name, strata in self.strata.items() if any(each.is_unlike_others for each in strata)]

    def find_helped(self, smallest: float = SMALLEST) -> tuple[str, Sequence[StratumComparison]] | None:
        """Return the dimension and the strata if the judged slice is better only for these strata.

        Otherwise return None. Also return None if the verdict on the whole is decided and does not split.
        """
        if split := self.find_split(smallest):
            return split.dimension, split.better
        if self.whole.standing(smallest) in DECIDED:
            return None
        better = [each for each in self.find_named(smallest) if each.standing(smallest) is Standing.BETTER]
        if not better:
            return None
        dimension = better[0].dimension
        return dimension, [each for each in better if each.dimension == dimension]

    def list_prices(self, smallest: float = SMALLEST) -> list[SliceComparison]:
        """Return the comparisons by other leading rates in which the better slice is worse."""
        is_worse = self.whole.standing(smallest) is Standing.WORSE and not self.find_split(smallest)
        against = Standing.BETTER if is_worse else Standing.WORSE
        return [price for price in self.prices if price.standing(smallest) is against]


def _order_by_certainty(stratum: StratumComparison) -> tuple[float, float]:
    comparison = stratum.comparison
    size = abs(comparison.difference.estimate) if comparison and comparison.difference else 0.0
    return comparison.p if comparison and comparison.p is not None else 1.0, -size


def break_down(
    whole: SliceComparison,
    slices: Mapping[str, tuple[Sequence[Slice], Sequence[Slice]]],
    work: ArmStrata | None = None,
    arms: tuple[str, str] = ("A", "B"),
) -> Breakdown:
    """Return the difference of two slices, broken down by each dimension of `slices`.

    `whole` is B compared with A. `slices` holds the strata of A and of B by dimension. `work` holds the
    strata of both slices for the mix adjustment, under the names `arms`. With `work`, a stratum is
    mix-adjusted for the other dimensions where the mix matters. The p-values of all verdicts are adjusted
    together, and so are the p-values of all contrasts (docs/statistics.md).
    """
    compared = {name: _pair_slices(name, *both, work, arms) for name, both in slices.items()}
    # A dimension with a single value would repeat the whole difference.
    compared = {name: strata for name, strata in compared.items() if len(strata) > 1}
    likeness = (whole.slice.share.likeness, whole.other.share.likeness if whole.other else None)
    contrasts = [_contrast(strata, likeness) for strata in compared.values()]
    chances = adjust_families([[_plain_p(each) for each in strata] for strata in compared.values()])
    others = adjust_families([[each.p if each else None for each in group] for group in contrasts])
    judged = sum(p is not None for p_values in chances for p in p_values)
    strata = {
        name: [
            replace(
                each,
                comparison=replace(each.comparison, p=p, compared=judged, family=_FAMILY)
                if each.comparison
                else None,
                contrast=contrast,
                contrast_p=contrast_p,
            )
            for each, p, contrast, contrast_p in zip(*columns, strict=True)
        ]
        for (name, *columns) in zip(compared, compared.values(), chances, contrasts, others, strict=True)
    }
    return Breakdown(whole, strata)


def _pair_slices(
    dimension: str, a: Sequence[Slice], b: Sequence[Slice], work: ArmStrata | None, arms: tuple[str, str]
) -> list[StratumComparison]:
    firsts, seconds = {slice_.name: slice_ for slice_ in a}, {slice_.name: slice_ for slice_ in b}
    both = [name for name in seconds if name in firsts]
    mixes = None
    if work is not None and dimension in work.dimensions:
        mixes = [
            work.within(dimension, name).compare([((arms[1], seconds[name]), (arms[0], firsts[name]))])[0]
            if seconds[name].has_enough_to_compare and firsts[name].has_enough_to_compare
            else None
            for name in both
        ]
    comparisons = dict(
        zip(both, compare_pairs([(seconds[name], firsts[name]) for name in both], mixes), strict=True)
    )
    strata = [
        StratumComparison(dimension, name, firsts.get(name), seconds.get(name), comparisons.get(name))
        for name in dict.fromkeys([*firsts, *seconds])
    ]
    return sorted((each for each in strata if each.n), key=lambda each: (-each.n, each.name))


def _plain_p(stratum: StratumComparison) -> float | None:
    comparison = stratum.comparison
    if (
        comparison is None
        or comparison.p is None
        or comparison.difference is None
        or stratum.name == _UNNAMED
    ):
        return None
    return comparison.difference.p


def _contrast(
    strata: Sequence[StratumComparison], likeness: tuple[Likeness | None, Likeness | None]
) -> list[Difference | None]:
    shares = [
        (_read_share(each.b), _read_share(each.a)) if each.name != _UNNAMED else (_UNSEEN, _UNSEEN)
        for each in strata
    ]
    judged = [place for place, each in enumerate(strata) if _plain_p(each) is not None]
    return contrast_strata(shares, judged, likeness)


def _read_share(slice_: Slice | None) -> Share:
    return slice_.share if slice_ else _UNSEEN
