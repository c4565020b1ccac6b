"""Breaks the difference of two arms down by model, tool, prompt and host, and names those that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from callgauge.analysis.measures.comparisons import (
    LEVEL,
    SMALLEST,
    SliceComparison,
    Standing,
    compare_pairs,
)
from callgauge.analysis.measures.same_mix import ArmStrata
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Difference, Share
from callgauge.stats.rates import Likeness
from callgauge.stats.standardisation import adjust_families, contrast_strata

BROKEN_DOWN_BY = ("model", "tool", "prompt", "provider")
_DECIDED = (Standing.BETTER, Standing.WORSE, Standing.MORE, Standing.LESS)
_UNNAMED = "unknown"
_UNSEEN = Share(0, 0)
_FAMILY = "models, tools, prompts and hosts"


@dataclass(frozen=True, slots=True)
class StratumComparison:
    """Two arms within one value `name` of a dimension.

    `a`, `b`: the slices of both arms; None when an arm has none. `held`: B compared with A, its p-value
    adjusted over all strata of all dimensions; None when an arm has none. `contrast`: by how much this
    difference exceeds that of all other strata of the dimension together, and `contrast_p` its p-value,
    adjusted over all contrasts; None where either has too little.
    """

    dimension: str
    name: str
    a: Slice | None
    b: Slice | None
    held: SliceComparison | None
    contrast: Difference | None = None
    contrast_p: float | None = None

    @property
    def n(self) -> int:
        return sum(one.share.n for one in (self.a, self.b) if one)

    @property
    def is_judged(self) -> bool:
        return self.held is not None and self.held.p is not None

    def standing(self, smallest: float = SMALLEST) -> Standing:
        """Return what can be said of B beside A within this value."""
        return self.held.standing(smallest) if self.held else Standing.UNMEASURED

    @property
    def is_unlike_others(self) -> bool:
        """True when its difference is another one than that of the other strata: an interaction.

        Not where the difference is told at the same mix: the contrast is that of plain rates.
        """
        plain = self.held is not None and not self.held.is_at_same_mix
        return plain and self.contrast_p is not None and self.contrast_p < LEVEL


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The difference `whole` of two arms, broken down by each dimension; the most observed stratum first."""

    whole: SliceComparison
    strata: Mapping[str, Sequence[StratumComparison]]

    def find_named(self, smallest: float = SMALLEST) -> list[StratumComparison]:
        """Return the strata that a reader must know of beside the whole, the most certain first.

        A stratum is named when its own verdict is decided, and is not that of the whole anyway or is unlike
        the others. Where no stratum of a dimension is, those unlike the others are: beside one that is, the
        others are unlike it by that alone. Where the whole has too little, nothing is named. `smallest`: the
        smallest difference worth knowing, a share.
        """
        whole = self.whole.standing(smallest)
        if whole in (Standing.TOO_FEW, Standing.TOO_FEW_DAYS, Standing.UNMEASURED, Standing.REFERENCE):
            return []
        named: list[StratumComparison] = []
        for its in self.strata.values():
            decided = [each for each in its if each.standing(smallest) in _DECIDED]
            unlike = [each for each in its if each.is_unlike_others]
            named += [
                each for each in decided if each.standing(smallest) is not whole or each.is_unlike_others
            ] or [each for each in unlike if not decided]
        return sorted(
            named, key=lambda each: (each.standing(smallest) not in _DECIDED, *_order_by_certainty(each))
        )


def _order_by_certainty(stratum: StratumComparison) -> tuple[float, float]:
    held = stratum.held
    size = abs(held.difference.estimate) if held and held.difference else 0.0
    return held.p if held and held.p is not None else 1.0, -size


def break_down(
    whole: SliceComparison,
    slices: Mapping[str, tuple[Sequence[Slice], Sequence[Slice]]],
    work: ArmStrata | None = None,
    arms: tuple[str, str] = ("A", "B"),
) -> Breakdown:
    """Return the difference of two arms, broken down by each dimension of `slices`.

    `whole`: B compared with A. `slices`: the slices of A and of B by dimension. `work`: the work of both,
    under the names `arms`, so that a stratum is compared at the same mix of the other dimensions where that
    matters. All verdicts are one family, and all contrasts are another (docs/statistics.md).
    """
    compared = {name: _pair_slices(name, *both, work, arms) for name, both in slices.items()}
    # One value alone says no more than the whole.
    compared = {name: its for name, its in compared.items() if len(its) > 1}
    likeness = (whole.slice.share.likeness, whole.other.share.likeness if whole.other else None)
    contrasts = [_contrast(its, likeness) for its in compared.values()]
    chances = adjust_families([[_plain_p(each) for each in its] for its in compared.values()])
    others = adjust_families([[each.p if each else None for each in its] for its in contrasts])
    judged = sum(p is not None for its in chances for p in its)
    strata = {
        name: [
            replace(
                each,
                held=replace(each.held, p=p, compared=judged, family=_FAMILY) if each.held else None,
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
    """Return the slices of a dimension paired by name, the most observed first."""
    firsts, seconds = {one.name: one for one in a}, {one.name: one for one in b}
    both = [name for name in seconds if name in firsts]
    mixes = None
    if work is not None and dimension in work.dimensions:
        mixes = [
            work.within(dimension, name).compare([((arms[1], seconds[name]), (arms[0], firsts[name]))])[0]
            if seconds[name].has_enough_to_compare and firsts[name].has_enough_to_compare
            else None
            for name in both
        ]
    held = dict(
        zip(both, compare_pairs([(seconds[name], firsts[name]) for name in both], mixes), strict=True)
    )
    found = [
        StratumComparison(dimension, name, firsts.get(name), seconds.get(name), held.get(name))
        for name in dict.fromkeys([*firsts, *seconds])
    ]
    return sorted((each for each in found if each.n), key=lambda each: (-each.n, each.name))


def _plain_p(stratum: StratumComparison) -> float | None:
    """Return the p-value of a stratum alone; None where it gets no verdict, as what the log does not name."""
    held = stratum.held
    if held is None or held.p is None or held.difference is None or stratum.name == _UNNAMED:
        return None
    return held.difference.p


def _contrast(
    strata: Sequence[StratumComparison], likeness: tuple[Likeness | None, Likeness | None]
) -> list[Difference | None]:
    """Return the contrast of each stratum with the others that the log names."""
    shares = [
        (_read_share(each.b), _read_share(each.a)) if each.name != _UNNAMED else (_UNSEEN, _UNSEEN)
        for each in strata
    ]
    judged = [place for place, each in enumerate(strata) if _plain_p(each) is not None]
    return contrast_strata(shares, judged, likeness)


def _read_share(one: Slice | None) -> Share:
    return one.share if one else _UNSEEN
