"""Ranks with their doubt: which arms may be the best, and between which ranks each arm may lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callgauge.stats.corrections import holm
from callgauge.stats.differences import Difference

LEVEL = 0.05
_OF_REFERENCE = 0.9  # of the level is for the differences from the reference, the rest for all others


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the pairwise differences of several arms, looked at together, say of their order.

    `ranks`: for each arm the first and last rank that it may have, 1 for the best; together these hold the
    true ranks of all arms with 95 % confidence. `best`: the arms that no other arm is better than. `p`: the
    adjusted p-value of each pair of arms, by their indices, in the order given. `wins`: the pairs (better,
    worse) that are certain.
    """

    ranks: Sequence[tuple[int, int]]
    best: Sequence[int]
    p: Mapping[tuple[int, int], float]
    wins: Sequence[tuple[int, int]] = ()


def rank_arms(
    arms: int,
    differences: Mapping[tuple[int, int], Difference],
    *,
    high_is_good: bool,
    reference: int | None = None,
    smallest: float = 0.0,
) -> Ranking:
    """Return the ranks that fit the differences, after Mogstad, Romano, Shaikh & Wilhelm (2024).

    An arm's first rank is 1 + the number of arms that are better than it for certain, its last rank the
    number of arms minus those that are worse for certain; a pair without a difference is never certain. All
    pairs are one family: the chance that any claim is false stays at 5 % (weighted Holm 1979). Pairs with the
    `reference` get nine tenths of the level, since these are the ones that people read. A difference whose
    whole interval is smaller than `smallest` makes no arm better than another.
    """
    pairs = list(differences)
    of_reference = [reference is not None and reference in pair for pair in pairs]
    counts = {True: sum(of_reference), False: len(pairs) - sum(of_reference)}
    shares = (
        {True: _OF_REFERENCE, False: 1 - _OF_REFERENCE} if all(counts.values()) else {True: 1.0, False: 1.0}
    )
    adjusted = holm(
        [differences[pair].p for pair in pairs], [shares[known] / counts[known] for known in of_reference]
    )
    wins = [
        pair if (differences[pair].estimate > 0) == high_is_good else pair[::-1]
        for pair, p in zip(pairs, adjusted, strict=True)
        if p < LEVEL and not differences[pair].is_within(smallest)
    ]
    beaten, beats = Counter(worse for _, worse in wins), Counter(better for better, _ in wins)
    return Ranking(
        [(1 + beaten[arm], arms - beats[arm]) for arm in range(arms)],
        [arm for arm in range(arms) if not beaten[arm]],
        dict(zip(pairs, adjusted, strict=True)),
        wins,
    )
