"""Ranks variants with their uncertainty: which variant is the best, which may be the best, and which ranks
are possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from callgauge.stats.corrections import holm
from callgauge.stats.differences import Difference

LEVEL = 0.05
Pair = tuple[int, int]


class Ranking(msgspec.Struct, frozen=True):
    """The order of several variants, from the differences of all pairs.

    `ranks` holds the first and the last possible rank of each variant. Rank 1 is the best. `best` holds the
    variants that may be the best. `p` maps each pair of variants (indices in the given order) to its adjusted
    p-value. `wins` holds the pairs (better, worse) that are certain.
    """

    ranks: Sequence[tuple[int, int]]
    best: Sequence[int]
    p: Mapping[Pair, float]
    wins: Sequence[Pair] = ()


def rank_arms(
    arms: int, differences: Mapping[Pair, Difference], *, high_is_good: bool, smallest: float = 0.0
) -> Ranking:
    """Return the ranks that fit the differences. There are three rules:

    1. A variant is the best if it is better than each other variant at 5 %. A correction is not needed,
       because the claim is true only if all of these comparisons are true (Gutmann & Maymin 1987).
    2. Any other pair is certain at 5 % after Holm's correction for all pairs (Holm 1979). The ranks follow
       Mogstad, Romano, Shaikh & Wilhelm (2024).
    3. A variant cannot be the best if another is better at 5 % / (variants - 1). The remaining variants
       contain the best variant with 95 % confidence (multiple comparisons with the best; Hsu 1984, with
       Bonferroni's correction).

    The p-value of a pair is the smaller p-value of the first two rules. If the whole interval of a difference
    is smaller than `smallest`, neither variant is better. A pair without a difference is never certain.
    docs/statistics.md has the simulated shares of false claims.
    """
    pairs = list(differences)
    adjusted = dict(zip(pairs, holm([differences[pair].p for pair in pairs]), strict=True))
    beats = {
        (pair if (differences[pair].estimate > 0) == high_is_good else pair[::-1]): pair
        for pair in pairs
        if not differences[pair].is_within(smallest)
    }
    rivals = len({arm for pair in pairs for arm in pair}) - 1
    alone = {win: differences[pair].p for win, pair in beats.items()}
    for win in _find_best(alone, rivals):
        adjusted[beats[win]] = alone[win]
    wins = [win for win, pair in beats.items() if adjusted[pair] < LEVEL]
    beaten, ahead = Counter(worse for _, worse in wins), Counter(better for better, _ in wins)
    ruled_out = {worse for (_, worse), p in alone.items() if rivals * p < LEVEL} | set(beaten)
    return Ranking(
        [(1 + max(beaten[arm], arm in ruled_out), arms - ahead[arm]) for arm in range(arms)],
        [arm for arm in range(arms) if arm not in ruled_out],
        adjusted,
        wins,
    )


def _find_best(alone: Mapping[Pair, float], rivals: int) -> list[Pair]:
    """Return the wins of the variant that is better than every other variant.

    `alone` holds the unadjusted p-values.
    """
    certain = [win for win, p in alone.items() if p < LEVEL]
    number = Counter(better for better, _ in certain)
    return [win for win in certain if number[win[0]] == rivals]
