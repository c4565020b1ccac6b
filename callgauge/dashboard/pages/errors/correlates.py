"""Correlates failure with traits of calls: a rate for each class of a trait, and the traits that stand out.

A correlation is not a cause: the tool or the model may explain both the trait and the failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import pandas as pd

from callgauge.dashboard import wording
from callgauge.dashboard.call_traits import TITLES, class_words
from callgauge.dashboard.measures.slices import read_shares
from callgauge.dashboard.measures.verdicts import RULE, format_difference
from callgauge.stats import Difference, Share, compare_rates, holm, relate_shares


@dataclass(frozen=True, slots=True)
class TraitClass:
    """One class of a trait of calls; `share` counts calls with refused arguments among the judged calls."""

    trait: str
    number: int
    share: Share

    @property
    def class_words(self) -> str:
        return class_words(self.trait, self.number)


@dataclass(frozen=True, slots=True)
class Standout:
    """The class of a trait with the highest failure rate, compared with all other classes of that trait.

    `p` is corrected by Holm's method.
    """

    worst: TraitClass
    others: Share
    difference: Difference
    p: float


def trait_classes(rows: pd.DataFrame) -> list[TraitClass]:
    """Return from the rows of the metric `traits` the classes with judged calls, sorted by trait in the order
    of TITLES, then by class number.

    Traits that TITLES does not name are left out.
    """
    shares = relate_shares(read_shares(rows), list(rows["trait"]))
    known = [
        TraitClass(trait, number, share)
        for trait, number, share in zip(rows["trait"], rows["class"], shares, strict=True)
        if trait in TITLES and share.n
    ]
    return sorted(known, key=lambda one: (list(TITLES).index(one.trait), one.number))


def find_standouts(classes: Sequence[TraitClass]) -> list[Standout]:
    """Return the class of each trait that fails most, the largest decisive difference first.

    A class is compared when it and the other classes of its trait together have enough judged calls and
    sessions each. Holm's correction is over every class that could have been the worst, since the worst was
    picked after looking.
    """
    found = [
        (one, others, compared)
        for one in classes
        if one.share.has_enough
        and (others := _other_classes(one, classes)) is not None
        and others.has_enough
        and (compared := compare_rates(one.share, others)) is not None
    ]
    corrected = holm([compared.p for _, _, compared in found])
    worst: dict[str, Standout] = {}
    for (one, others, compared), p in zip(found, corrected, strict=True):
        if one.trait not in worst or compared.estimate > worst[one.trait].difference.estimate:
            worst[one.trait] = Standout(one, others, compared, p)
    return sorted(worst.values(), key=lambda one: (not _is_decisive(one), -one.difference.estimate))


def _is_decisive(one: Standout) -> bool:
    return one.difference.low > 0 and one.p < 0.05


def _other_classes(one: TraitClass, classes: Sequence[TraitClass]) -> Share | None:
    rest = [other.share for other in classes if other.trait == one.trait and other is not one]
    return reduce(add, rest) if rest else None


def describe_standout(found: Sequence[Standout]) -> str:
    """Return a sentence on the trait that goes with failure most, or that none stands out or is known."""
    if not found:
        return f"No trait can be compared: it takes two classes with {RULE} each."
    first = found[0]
    if not _is_decisive(first):
        return "No trait stands out: no class of any of them fails more than its others by more than chance."
    title = TITLES[first.worst.trait]
    share = first.worst.share
    return (
        f"{title} goes with failure most: "
        f"at {first.worst.class_words}, {wording.rate(share.k, share.n)} fail "
        f"({wording.fraction(share.k, share.n)}); "
        f"at all others {wording.rate(first.others.k, first.others.n)} "
        f"({wording.fraction(first.others.k, first.others.n)}); "
        f"difference {format_difference(first.difference)}, 95%. "
        "It goes together; it need not be the cause."
    )
