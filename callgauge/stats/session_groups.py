"""Counts and amounts by random group of sessions and by day, and intervals of ratios of their sums.

The interval of a ratio, such as money per successful turn, comes from the delete-a-group jackknife of the
ratio's logarithm (Wolter 2007, chapter 4), with Student's t.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import date
from itertools import chain
from math import exp, log, sqrt
from typing import Any, TypeVar

import msgspec
import numpy as np

from callgauge.stats.intervals import LEVEL, Floats, Interval, t_quantile

Stratum = TypeVar("Stratum", bound=Hashable)
Integers = np.ndarray[Any, np.dtype[np.int64]]
GROUPS = 50
"""The number of random groups of sessions; ingest/store/session_group.sql has the same number."""
_FEWEST = 8  # with fewer groups of sessions, the variance of a ratio is unknown
_CAUTION = 0.6  # factor for the degrees of freedom, because amounts are skewed


class DayCounts(msgspec.Struct, frozen=True):
    """Counts of one rate by day: `k` hits of `n` observations on each of `days`.

    `days` are `date.toordinal` numbers in rising order.
    """

    days: Integers
    k: Floats
    n: Floats

    def __add__(self, other: DayCounts) -> DayCounts:
        return DayCounts.sum_up([self, other])

    @classmethod
    def sum_up(cls, several: Sequence[DayCounts]) -> DayCounts:
        """Return the sum of at least one count."""
        days, places = np.unique(np.concatenate([each.days for each in several]), return_inverse=True)
        k, n = (
            np.bincount(places, np.concatenate(counts), len(days)).astype(float)
            for counts in zip(*((each.k, each.n) for each in several), strict=True)
        )
        return cls(days, k, n)

    @classmethod
    def make_empty(cls) -> DayCounts:
        """Return counts that contain no day."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))


def place_in_groups(ids: Collection[Sequence[int]], *counts: Iterable[Sequence[float]]) -> Floats:
    """Return counts by group as an array of shape (rows, len(counts), GROUPS).

    For each row, `ids` holds the groups that have an observation, and `counts` holds the counts of these
    groups. Each argument may be a pandas series of Arrow lists.
    """
    cells = np.zeros((len(ids), len(counts), GROUPS))
    groups, lengths = _flatten(ids)
    rows = np.repeat(np.arange(len(ids)), lengths)
    for place, column in enumerate(counts):
        cells[rows, place, groups.astype(int)] = _flatten(column)[0]
    return cells


def read_days(
    days: Iterable[Sequence[date]], k: Iterable[Sequence[float]], n: Iterable[Sequence[float]]
) -> list[DayCounts]:
    """Return the counts by day of each row, from lists of days, k and n.

    Each argument may be a pandas series of Arrow lists.
    """
    calendar, lengths = _flatten(days, "datetime64[D]")
    ordinals = np.asarray(calendar, dtype="datetime64[D]").astype(np.int64)
    counts = [np.asarray(_flatten(column)[0], dtype=float) for column in (k, n)]
    ends = np.cumsum(lengths)
    return [
        DayCounts(ordinals[first:last], *(each[first:last] for each in counts))
        for first, last in zip(ends - lengths, ends, strict=True)
    ]


def _flatten(lists: Iterable[Sequence[Any]], kind: str = "float64") -> tuple[np.ndarray, Integers]:
    """Return the concatenated elements of all lists, and the length of each list."""
    read_arrow = getattr(getattr(lists, "array", None), "__arrow_array__", None)
    if read_arrow is not None:  # a pandas series of Arrow lists
        arrow = read_arrow().combine_chunks()
        elements, lengths = arrow.flatten(), arrow.value_lengths()
        return elements.to_numpy(zero_copy_only=False), lengths.to_numpy(zero_copy_only=False)
    several = list(lists)
    elements = list(chain.from_iterable(several))
    return np.array(elements, dtype=kind), np.array([len(each) for each in several], int)


def ratio_interval(tops: Floats, bottoms: Floats) -> Interval | None:
    """Return the 95 % interval of sum(tops) / sum(bottoms). Both arrays have one value for each group of
    sessions.

    Return None with fewer than eight groups, or if the ratio is undefined when one group is left out.
    """
    moves = _log_moves(tops, bottoms)
    used = (tops > 0) | (bottoms > 0)
    if moves is None or used.sum() < _FEWEST:
        return None
    return _spread(log(tops.sum() / bottoms.sum()), moves, int(used.sum()))


def compare_ratios(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> Interval | None:
    """Return the 95 % interval of the second ratio divided by the first.

    The arguments hold the tops and the bottoms of each ratio by group. Return None if `ratio_interval` of
    either ratio is None.
    """
    if ratio_interval(*first) is None or ratio_interval(*second) is None:
        return None
    before, after = _log_moves(*first), _log_moves(*second)
    if before is None or after is None:
        return None
    used = np.any([first[0] > 0, first[1] > 0, second[0] > 0, second[1] > 0], axis=0)
    log_ratio = log(second[0].sum() / second[1].sum()) - log(first[0].sum() / first[1].sum())
    return _spread(log_ratio, after - before, int(used.sum()))


class MixedRatio(msgspec.Struct, frozen=True):
    """A ratio of two ratios at the same mix of strata, with its interval.

    `covered` is the share of the first ratio's tops that is in strata of both ratios. `moves` says how much
    the logarithm of the estimate moves when each group is left out. `groups` is the number of groups with
    data.
    """

    estimate: float
    interval: Interval
    covered: float
    moves: Floats
    groups: int


def compare_mixed_ratios(
    first: Mapping[Stratum, Floats], second: Mapping[Stratum, Floats], level: float = LEVEL
) -> MixedRatio | None:
    """Return the second ratio divided by the first, as if both had the same mix of strata.

    The arguments hold for each stratum the tops and the bottoms by group, of shape (2, GROUPS). The ratios of
    the strata are averaged with the weights of Mantel & Haenszel (for ratios of rates Rothman & Greenland
    2008). `level` is the confidence of the interval. Return None if `ratio_interval` of either ratio would be
    None in the common strata.
    """
    common = [key for key in first if key in second and first[key][1].any() and second[key][1].any()]
    if not common:
        return None
    tops, bottoms = np.array([first[key] for key in common]).transpose(1, 0, 2)
    others, other_bottoms = np.array([second[key] for key in common]).transpose(1, 0, 2)
    sides = [(tops > 0) | (bottoms > 0), (others > 0) | (other_bottoms > 0)]
    if min(int(side.any(0).sum()) for side in sides) < _FEWEST:
        return None
    # The first column is the whole, and each other column leaves one group out.
    top, bottom, other, other_bottom = (
        np.hstack([each.sum(1, keepdims=True), each.sum(1, keepdims=True) - each])
        for each in (tops, bottoms, others, other_bottoms)
    )
    weights = 1 / np.maximum(bottom + other_bottom, 1e-12)
    against, of = (top * other_bottom * weights).sum(0), (other * bottom * weights).sum(0)
    if (against <= 0).any() or (of <= 0).any():
        return None
    logarithms = np.log(of / against)
    moves, groups = logarithms[1:] - logarithms[0], int((sides[0] | sides[1]).any(0).sum())
    interval = _spread(float(logarithms[0]), moves, groups, level)
    covered = float(tops.sum() / sum(counts[0].sum() for counts in first.values()))
    return MixedRatio(exp(float(logarithms[0])), interval, covered, moves, groups)


def sum_savings(amounts: Sequence[float], ratios: Sequence[MixedRatio]) -> tuple[float, Interval]:
    """Return the sum of each amount times (1 - ratio), with its 95 % interval.

    The amounts are exact. A group of sessions may be in several ratios.
    """
    spent = [amount * ratio.estimate for amount, ratio in zip(amounts, ratios, strict=True)]
    saved = sum(amounts) - sum(spent)
    moves = np.sum([each * ratio.moves for each, ratio in zip(spent, ratios, strict=True)], axis=0)
    groups = max((ratio.groups for ratio in ratios), default=_FEWEST)
    reach = _reach(np.asarray(moves), groups, LEVEL)
    return saved, Interval(saved - reach, saved + reach)


def _log_moves(tops: Floats, bottoms: Floats) -> Floats | None:
    """Return how much the logarithm of the ratio moves when each group is left out.

    Return None if a logarithm is undefined.
    """
    rest_top, rest_bottom = tops.sum() - tops, bottoms.sum() - bottoms
    if (rest_top <= 0).any() or (rest_bottom <= 0).any():
        return None
    return np.asarray(np.log(rest_top / rest_bottom) - log(tops.sum() / bottoms.sum()))


def _spread(logarithm: float, moves: Floats, groups: int, level: float = LEVEL) -> Interval:
    reach = _reach(moves, groups, level)
    return Interval(exp(logarithm - reach), exp(logarithm + reach))


def _reach(moves: Floats, groups: int, level: float) -> float:
    return t_quantile(_CAUTION * (groups - 1), level) * sqrt((groups - 1) / groups * float(moves @ moves))
