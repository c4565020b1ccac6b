"""Finds the days (or versions) on which a rate changed, each with the days it may have been.

Binary segmentation: the split that explains the counts best, then the splits of both halves. A split counts
when chance seldom gives one as good: the days are shuffled, so that whatever spread days have by themselves
is no change (a permutation test; Matteson & James 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

SHUFFLES = 499
LEVEL = 0.01  # the chance that a series without a change shows one
SHORTEST = 2  # days on each side of a change
_Counts = np.ndarray


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of a rate at the day `at` (an index); it began on one of the days `first` to `last`.

    `before` and `after` are the rates up to the neighbouring changes.
    """

    at: int
    first: int
    last: int
    before: float
    after: float
    p: float


def find_changes(counts: Sequence[tuple[int, int]], *, seed: int = 1) -> list[ChangePoint]:
    """The changes of a series of (k, n), in order. The same seed gives the same changes."""
    series = np.asarray(counts, dtype=float).reshape(-1, 2)
    found = sorted(_find_splits(series, 0, len(series), np.random.default_rng(seed)))
    edges = [0, *(at for at, *_ in found), len(series)]
    return [
        ChangePoint(
            at, first, last, _pooled_rate(series[edges[i] : at]), _pooled_rate(series[at : edges[i + 2]]), p
        )
        for i, (at, first, last, p) in enumerate(found)
    ]


def _find_splits(
    series: _Counts, start: int, end: int, random: np.random.Generator
) -> list[tuple[int, int, int, float]]:
    part = series[start:end]
    if len(part) < 2 * SHORTEST or part[:, 1].sum() == 0:
        return []
    gains = _likelihood_gains(part)
    best = int(np.argmax(gains))
    orders = random.permuted(np.tile(np.arange(len(part)), (SHUFFLES, 1)), axis=1)
    shuffled = _likelihood_gains(part[orders]).max(axis=1)
    p = float((1 + (shuffled >= gains[best]).sum()) / (1 + SHUFFLES))
    if p > LEVEL:
        return []
    at = start + best + SHORTEST
    # The days whose split is nearly as good: a likelihood interval (Hinkley 1970).
    near = np.nonzero(gains >= gains[best] - chdtri(1, 0.05) / 2)[0] + start + SHORTEST
    here = (at, int(near.min()), int(near.max()), p)
    return [*_find_splits(series, start, at, random), here, *_find_splits(series, at, end, random)]


def _likelihood_gains(part: _Counts) -> np.ndarray:
    """The gain in log likelihood of a split before each day that leaves enough days on both sides.

    `part`: days by (k, n), or many series of them at once, along the axes before these two.
    """
    sums = part.cumsum(axis=-2)
    left, whole = sums[..., SHORTEST - 1 : -SHORTEST, :], sums[..., -1:, :]
    gains: np.ndarray = _log_likelihood(left) + _log_likelihood(whole - left) - _log_likelihood(whole)
    return gains


def _log_likelihood(sums: np.ndarray) -> np.ndarray:
    """The largest log likelihood of k out of n, along the last axis."""
    k, n = sums[..., 0], sums[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(n > 0, k / n, 0.0)
        value = np.where(k > 0, k * np.log(p), 0.0) + np.where(n > k, (n - k) * np.log1p(-p), 0.0)
    return np.asarray(value)


def _pooled_rate(part: _Counts) -> float:
    n = float(part[:, 1].sum())
    return float(part[:, 0].sum()) / n if n else 0.0
