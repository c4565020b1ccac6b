"""Compares pairs of slices, ranks slices, and decides whether there is enough data for a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum

from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, SameMix
from callgauge.analysis.measures.slices import Slice, rank_slices
from callgauge.stats import Difference, compare_shares, holm, rank_arms
from callgauge.stats.day_spread import NO_EXCESS, measure_excesses

LEVEL = 0.05
SMALLEST = 0.02
"""The default smallest difference of interest, as a share."""


class Standing(Enum):
    """The verdict on a slice compared with another."""

    REFERENCE = "nothing to compare with"
    UNNAMED = "several things that the log does not name"
    UNMEASURED = "nothing was observed"
    TOO_FEW = "too few observed or sessions on a side, or less than a fifth measured"
    TOO_FEW_DAYS = "on different days, and too few of them on both sides"
    MEASURED_APART = "not measured in the same way"
    OTHER_WORK = "most of the work of the two is not of the same kind"
    BETTER = "better"
    WORSE = "worse"
    MORE = "more, where neither is better"
    LESS = "less, where neither is better"
    ALIKE = "the whole interval is within the smallest difference worth knowing"
    UNDECIDED = "not decided"


@dataclass(frozen=True, slots=True)
class SliceComparison:
    """A slice compared with another slice.

    `difference` is the difference to report, mix-adjusted where the mix matters. `difference` is None when
    there is no other slice or no observation. `p` is the p-value of `difference`, adjusted for all
    comparisons of the table, or None if no verdict may be given. `other` is the second slice. `plain` is the
    unadjusted difference. `same_mix` is the mix-adjusted comparison, even if `difference` is unadjusted.
    `is_apart` means that the two slices have no stratum in common. `compared` is the approximate number of
    comparisons that the p-value is adjusted for. `family` is the plural noun for the compared things.
    `is_thin` means that one of the two slices has too little data for a verdict. `has_too_few_days` means
    that the slices cover different days, and neither slice covers five days. `is_measured_apart` means that
    the slices were measured differently, so they cannot be compared.
    """

    slice: Slice
    difference: Difference | None
    p: float | None
    other: Slice | None = None
    plain: Difference | None = None
    same_mix: SameMix | None = None
    is_apart: bool = False
    compared: int = 1
    family: str = "comparisons"
    is_thin: bool = False
    has_too_few_days: bool = False
    is_measured_apart: bool = False

    @property
    def is_at_same_mix(self) -> bool:
        """True when `difference` is mix-adjusted."""
        return self.same_mix is not None and self.difference is self.same_mix.found.difference

    @property
    def does_other_work(self) -> bool:
        """True when the two slices have less than half of their observations in common strata."""
        uncommon = self.same_mix is not None and not self.same_mix.found.is_comparable
        return self.is_apart or (self.is_at_same_mix and uncommon)

    @property
    def is_decisive(self) -> bool:
        """True when the interval does not contain 0 and the adjusted `p` is below 0.05."""
        return (
            self.difference is not None
            and self.difference.is_decisive
            and self.p is not None
            and self.p < LEVEL
        )

    def is_better_alone(self, name: str, smallest: float = SMALLEST) -> bool:
        """Return True when `name`, one of the two slices, would be better without a correction for other
        comparisons.
        """
        difference = self.difference
        if (
            difference is None
            or self.p is None
            or not difference.is_decisive
            or difference.is_within(smallest)
        ):
            return False
        is_first_better = (difference.estimate > 0) == self.slice.rate.is_good
        return self.slice.rate.better is not None and is_first_better == (self.slice.name == name)

    def standing(self, smallest: float = SMALLEST) -> Standing:
        """Return the verdict. `smallest` is the smallest difference of interest, as a share."""
        difference = self.difference
        if self.other is None and self.plain is None and difference is None:
            return Standing.REFERENCE
        if difference is None:
            return Standing.UNMEASURED
        if self.p is None:
            if self.is_measured_apart:
                return Standing.MEASURED_APART
            if self.is_thin:
                return Standing.TOO_FEW_DAYS if self.has_too_few_days else Standing.TOO_FEW
            is_named = self.slice.is_named and (self.other is None or self.other.is_named)
            return Standing.OTHER_WORK if self.does_other_work and is_named else Standing.UNNAMED
        if difference.is_within(smallest):
            return Standing.ALIKE
        if not self.is_decisive:
            return Standing.UNDECIDED
        if self.slice.rate.better is None:
            return Standing.MORE if difference.estimate > 0 else Standing.LESS
        return Standing.BETTER if (difference.estimate > 0) == self.slice.rate.is_good else Standing.WORSE


def compare_pairs(
    pairs: Sequence[tuple[Slice, Slice | None]],
    mixes: Sequence[SameMix | None] | None = None,
    family: str = "comparisons",
) -> list[SliceComparison]:
    """Compare the first slice of each pair with the second slice, which may be None. Keep the order.

    `mixes` holds the mix-adjusted difference of each pair, or None for a pair without common strata. The
    p-values are adjusted by Holm's method over all pairs. `family` is the plural noun for the pairs.
    """
    comparisons = _hold_against(pairs, mixes)
    adjusted = iter(
        holm([each.difference.p for each in comparisons if each.difference and each.p is not None])
    )
    judged = sum(each.p is not None for each in comparisons)
    return [
        replace(each, p=next(adjusted), compared=judged, family=family) if each.p is not None else each
        for each in comparisons
    ]


def _hold_against(
    pairs: Sequence[tuple[Slice, Slice | None]], mixes: Sequence[SameMix | None] | None
) -> list[SliceComparison]:
    """Return the comparison of each pair with the unadjusted `p`.

    `mixes` holds the mix-adjusted difference of each pair, or None for a pair without common strata. If the
    mix is unknown, `mixes` itself is None.
    """
    share_pairs = [(slice_.share, other.share) for slice_, other in pairs if other is not None]
    excesses = measure_excesses(share_pairs)
    differences = iter(zip(compare_shares(share_pairs, excesses), excesses, strict=True))
    comparisons = []
    for (slice_, other), mix in zip(pairs, mixes or [None] * len(pairs), strict=True):
        plain, excess = next(differences) if other is not None else (None, NO_EXCESS)
        difference = mix.found.difference if mix and plain and mix.found.outweighs(plain) else plain
        has_sessions = other is not None and slice_.has_enough_to_compare and other.has_enough_to_compare
        judged = has_sessions and not excess.has_too_few
        is_apart = mixes is not None and mix is None and plain is not None and judged
        p = difference.p if difference and judged else None
        each = SliceComparison(
            slice_,
            difference,
            p,
            other,
            plain,
            mix,
            is_apart,
            is_thin=not judged,
            has_too_few_days=has_sessions and excess.has_too_few,
        )
        comparisons.append(replace(each, p=None) if each.does_other_work else each)
    return comparisons


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a slice in a ranking. The slices of a tie group have the same position.

    The first tie group contains the slices that may be the best. The next tie group contains the slices that
    may be the best of the remaining slices, and so on.
    """

    number: int
    is_shared: bool


@dataclass(frozen=True, slots=True)
class RankedTable:
    """The slices of one rate, the best first, each compared with `reference`.

    Only the differences in the rows depend on `reference`, not the ranking. `ranks` holds by name the first
    and the last possible rank of each slice with enough data. `best` is the first tie group: it contains the
    best slice with 95 % confidence. `wins` holds the names of the decided pairs (better, worse). `places`
    holds the position of each ranked slice by name. `places` is empty if neither a low nor a high rate is
    better. `pairs` holds by both names the comparison of each two slices with enough data, with a p-value
    corrected for all pairs. `is_apart` means that some of the best slices have no stratum in common, so they
    were not compared. `smallest` is the smallest difference of interest, as a share.
    """

    rows: Sequence[SliceComparison]
    reference: Slice
    ranks: dict[str, tuple[int, int]]
    best: Sequence[Slice]
    wins: frozenset[tuple[str, str]]
    places: Mapping[str, Place]
    pairs: Mapping[tuple[str, str], SliceComparison]
    is_apart: bool = False
    smallest: float = SMALLEST

    @property
    def rate(self) -> RateDefinition:
        return self.reference.rate

    @property
    def judged(self) -> list[Slice]:
        """The slices with enough data for a verdict, the best first."""
        return [row.slice for row in self.rows if row.slice.name in self.ranks]

    def find_losses(self, name: str) -> list[Slice]:
        """Return the slices that are better than this slice, the best first."""
        return [each for each in self.judged if (each.name, name) in self.wins]

    def find_pair(self, name: str, against: str) -> PairRates | None:
        """Return the rates of two slices with the interval of their difference, or None if they were not
        compared.
        """
        comparison = self.pairs.get((name, against)) or self.pairs.get((against, name))
        if comparison is None or comparison.difference is None or comparison.other is None:
            return None
        mix = comparison.same_mix.found if comparison.is_at_same_mix and comparison.same_mix else None
        rates = (
            (mix.of, mix.against)
            if mix
            else (comparison.slice.share.rate or 0.0, comparison.other.share.rate or 0.0)
        )
        ends = (comparison.difference.low, comparison.difference.high)
        if comparison.slice.name != name:
            rates, ends = rates[::-1], (-ends[1], -ends[0])
        return PairRates(*rates, *ends, is_mixed=mix is not None)


@dataclass(frozen=True, slots=True)
class PairRates:
    """The rates of two slices, the interval of their difference, and whether the rates are mix-adjusted."""

    of: float
    against: float
    low: float
    high: float
    is_mixed: bool


def choose_reference(several: Sequence[Slice]) -> Slice:
    """Return the slice that all other slices are compared with: the slice with most sessions."""
    return max(
        several,
        key=lambda slice_: (
            slice_.is_named,
            slice_.is_solid,
            slice_.share.sessions or 0,
            slice_.share.n,
            slice_.name,
        ),
    )


def limit_ranked(several: Sequence[Slice], most: int) -> tuple[list[Slice], list[Slice]]:
    """Return the slices to rank, and the slices with too little data.

    The slices to rank are the most used slices with enough data, at most `most`.
    """
    solid = [slice_ for slice_ in several if slice_.is_solid]
    by_use = sorted(solid, key=lambda slice_: (-slice_.total, slice_.name))
    return by_use[:most], [slice_ for slice_ in several if not slice_.is_solid]


def rank_table(
    several: Sequence[Slice],
    reference: Slice,
    strata: ArmStrata | None = None,
    smallest: float = SMALLEST,
    *,
    is_alike: bool = True,
) -> RankedTable:
    """Rank slices of one rate, and compare each slice with `reference`.

    `strata` holds the strata of each slice, for mix-adjusted comparisons where the mix matters. The p-values
    are corrected for all pairs of slices with enough data (`stats.rank_arms`). The unnamed slice mixes
    several values, so it gets no rank and no verdict. Two slices share a rank if the whole interval of their
    difference is smaller than `smallest`. `is_alike` is False if the slices were measured differently. Then
    no slice is ranked.
    """
    order = [reference, *(slice_ for slice_ in several if slice_ is not reference)]
    places = [place for place, slice_ in enumerate(order) if slice_.is_solid and slice_.is_named]
    inner = [(place, other) for index, other in enumerate(places) for place in places[index + 1 :]]
    inner_pairs = set(inner)
    outer = [(place, 0) for place in range(1, len(order)) if (place, 0) not in inner_pairs]
    pairs = [*inner, *outer]
    slices = [(order[place], order[other]) for place, other in pairs]
    mixes = strata.compare([((a.name, a), (b.name, b)) for a, b in slices]) if strata else None
    by_pair = dict(zip(pairs, _hold_against(slices, mixes), strict=True))
    by_pair |= {
        pair: replace(by_pair[pair], p=None, is_thin=not all(order[place].is_solid for place in pair))
        for pair in outer
    }
    if not is_alike:
        by_pair = {pair: replace(each, p=None, is_measured_apart=True) for pair, each in by_pair.items()}
    differences = {
        pair: each.difference for pair, each in by_pair.items() if each.p is not None and each.difference
    }
    ranking = rank_arms(len(order), differences, high_is_good=reference.rate.is_good, smallest=smallest)
    by_pair = {
        pair: replace(each, p=ranking.p.get(pair), compared=len(differences))
        for pair, each in by_pair.items()
    }
    judged = {place for pair in differences for place in pair}
    unjudged = len(order) - len(judged)  # unjudged slices do not count in the ranks of the others
    ranks = {
        order[place].name: (first, last - unjudged)
        for place, (first, last) in enumerate(ranking.ranks)
        if place in judged
    }
    rows = [SliceComparison(reference, None, None), *(by_pair[place, 0] for place in range(1, len(order)))]
    best = {order[place].name for place in ranking.best if place in judged}
    wins = frozenset((order[place].name, order[other].name) for place, other in ranking.wins)
    found_places = _find_places(ranks, wins, best) if reference.rate.better else {}
    ordered = _order_rows(rows, found_places)
    compared = {(order[place].name, order[other].name): by_pair[place, other] for place, other in differences}
    named = [(order[place].name, order[other].name) for place, other in inner]
    return RankedTable(
        ordered,
        reference,
        ranks,
        [row.slice for row in ordered if row.slice.name in best],
        wins,
        found_places,
        compared,
        any(set(pair) <= best and pair not in compared for pair in named),
        smallest,
    )


def _find_places(names: Iterable[str], wins: Set[tuple[str, str]], best: Set[str]) -> dict[str, Place]:
    """Return the position of each slice.

    `wins` holds the decided pairs (better, worse). `best` is the first tie group. If slices beat each other
    in a cycle, these slices and all worse slices have no position.
    """
    left = list(names)
    places: dict[str, Place] = {}
    while left:
        worse = {loser for winner, loser in wins if winner in left}
        group = [name for name in left if name not in worse]
        if not places:
            group = [name for name in group if name in best]
        if not group:
            break
        places |= dict.fromkeys(group, Place(len(places) + 1, len(group) > 1))
        left = [name for name in left if name not in group]
    return places


def _order_rows(rows: Sequence[SliceComparison], places: Mapping[str, Place]) -> list[SliceComparison]:
    """Return the rows by position, then the rows without a position, rows with enough data first.

    Slices without a position are in the order of their rates, the best first. Unnamed slices come last.
    """

    def sort_key(slice_: Slice) -> tuple[bool, bool, bool, int]:
        place = places[slice_.name].number if slice_.name in places else len(rows)
        return not slice_.is_solid, not slice_.is_rankable, not slice_.is_named, place

    by_name = {row.slice.name: row for row in rows}
    return [by_name[slice_.name] for slice_ in sorted(rank_slices(row.slice for row in rows), key=sort_key)]
