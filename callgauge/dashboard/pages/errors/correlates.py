"""Finds traits of calls that correlate with failures.

Each trait has classes, and each class has a failure rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import pandas as pd

from callgauge.analysis import wording
from callgauge.analysis.call_traits import TITLES, class_words
from callgauge.analysis.measures.slices import read_shares
from callgauge.analysis.verdicts.sentences import RULE, format_difference
from callgauge.stats import Difference, Share, compare_rates, holm, relate_shares

_CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class TraitClass:
    """One class of a trait of calls.

    `share` is the share of checked calls with invalid arguments.
    """

    trait: str
    number: int
    share: Share

    @property
    def class_words(self) -> str:
        return class_words(self.trait, self.number)


@dataclass(frozen=True, slots=True)
class Standout:
    """A split of a trait's classes into two groups whose failure rates differ most.

    `above` covers the class `start` and all higher classes, and `below` covers the lower classes.
    `difference` is `above` minus `below`. `p` is corrected by Holm's method for the number of splits,
    `compared`.
    """

    start: TraitClass
    above: Share
    below: Share
    difference: Difference
    p: float
    compared: int

    @property
    def is_decisive(self) -> bool:
        return self.p < _CHANCE


def trait_classes(rows: pd.DataFrame) -> list[TraitClass]:
    """Return the classes that have checked calls.

    `rows` are the rows of the metric `traits`. Traits have the order of TITLES, and classes are sorted by
    number. Traits that are not in TITLES are skipped.
    """
    shares = relate_shares(read_shares(rows), list(rows["trait"]))
    classes = [
        TraitClass(trait, number, share)
        for trait, number, share in zip(rows["trait"], rows["class"], shares, strict=True)
        if trait in TITLES and share.n
    ]
    return sorted(
        classes, key=lambda trait_class: (list(TITLES).index(trait_class.trait), trait_class.number)
    )


def find_standouts(classes: Sequence[TraitClass]) -> list[Standout]:
    """Return for each trait the split with the smallest p-value, sorted by p-value.

    A split compares all calls of a class and of higher classes with all calls of lower classes. Both groups
    need enough checked calls and sessions. Holm's correction covers the splits of all traits.
    """
    splits = [split for trait in TITLES for split in _split(trait, classes)]
    corrected = holm([difference.p for _, _, _, difference in splits])
    clearest: dict[str, Standout] = {}
    for (start, above, below, difference), p in zip(splits, corrected, strict=True):
        before = clearest.get(start.trait)
        if before is None or difference.p < before.difference.p:
            clearest[start.trait] = Standout(start, above, below, difference, p, len(splits))
    return sorted(clearest.values(), key=lambda standout: standout.difference.p)


def _split(trait: str, classes: Sequence[TraitClass]) -> list[tuple[TraitClass, Share, Share, Difference]]:
    ordered = sorted(
        (trait_class for trait_class in classes if trait_class.trait == trait),
        key=lambda trait_class: trait_class.number,
    )
    splits = []
    for place in range(1, len(ordered)):
        below = reduce(add, (trait_class.share for trait_class in ordered[:place]))
        above = reduce(add, (trait_class.share for trait_class in ordered[place:]))
        if below.has_enough and above.has_enough and (difference := compare_rates(above, below)):
            splits.append((ordered[place], above, below, difference))
    return splits


def find_apart(classes: Sequence[TraitClass]) -> tuple[TraitClass, TraitClass] | None:
    """Return the two classes of one trait with the widest gap between their intervals.

    Return None if all intervals overlap. Classes with too few checked calls or sessions do not count.
    """
    gaps = [
        (other.share.interval.low - lower.share.interval.high, lower, other)
        for lower in classes
        for other in classes
        if lower.trait == other.trait
        and lower.share.has_enough
        and other.share.has_enough
        and lower.share.interval
        and other.share.interval
    ]
    gap, lower, other = max(gaps, key=lambda candidate: candidate[0], default=(0.0, None, None))
    return (lower, other) if gap > 0 and lower and other else None


def describe_standout(
    standouts: Sequence[Standout], apart: tuple[TraitClass, TraitClass] | None = None
) -> str:
    """Return sentences on the trait that correlates most with failures. If no trait correlates, say so.

    `apart` holds two classes whose intervals do not overlap. A sentence says that the gap can be chance.
    """
    if not standouts:
        return f"No trait can be compared: it takes two classes with {RULE} each."
    first = standouts[0]
    if first.is_decisive:
        return (
            f"{TITLES[first.start.trait]} correlates most with failures. {_describe_split(first)} "
            f"The difference is {format_difference(first.difference)}, 95%. It may not be the cause."
        )
    count = wording.plural(first.compared, "comparison")
    parts = [f"No trait clearly correlates with failures after correction for {count}."]
    if first.difference.p < _CHANCE:
        parts.append(
            f"{TITLES[first.start.trait]} is significant alone (p {first.difference.p:.3f}). "
            f"{_describe_split(first)}"
        )
    if apart:
        lower, other = apart
        parts.append(
            f"{TITLES[lower.trait]}: the intervals of {lower.class_words} and {other.class_words} do not "
            "touch, but with so many classes that can be chance."
        )
    return " ".join(parts)


def _describe_split(standout: Standout) -> str:
    above, below = standout.above, standout.below
    return (
        f"From {standout.start.class_words} on, {wording.rate(above.k, above.n)} fail "
        f"({wording.fraction(above.k, above.n)}); below that, {wording.rate(below.k, below.n)} "
        f"({wording.fraction(below.k, below.n)})."
    )
