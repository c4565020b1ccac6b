"""Finds the days (or versions) at which a rate changed, each with the range of days that fit the data.

Binary segmentation: the split that explains the counts best is found first, then the splits of both halves. A
split is accepted when at most 1 % of random orders of the days have a split as good (a permutation test;
Matteson & James 2014). Whole days are shuffled, so the usual spread between days is not taken for a change.
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
    """A change of a rate in a series of days; `at`, `first` and `last` are indices into the series.

    `at` is the first day of the new rate; the change may have begun on any day from `first` to `last`.
    `before` and `after` are the rates up to the neighbouring changes. `p` is the p-value of the permutation
    test.
    """

    at: int
    first: int
    last: int
    before: float
    after: float
    p: float


def find_changes(counts: Sequence[tuple[int, int]], *, seed: int = 1) -> list[ChangePoint]:
    """Return the changes of a series of days in order; [] when there are none.

    `counts`: (k, n) of each day, k hits out of n. The same seed gives the same changes.
    """
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
    """Return the gain in log likelihood of a split before each day that leaves SHORTEST days on both sides.

    `part`: an array of days by (k, n), or of many such series along the leading axes.
    """
    sums = part.cumsum(axis=-2)
    left, whole = sums[..., SHORTEST - 1 : -SHORTEST, :], sums[..., -1:, :]
    gains: np.ndarray = _log_likelihood(left) + _log_likelihood(whole - left) - _log_likelihood(whole)
    return gains


def _log_likelihood(sums: np.ndarray) -> np.ndarray:
    """Return the maximum log likelihood of k hits out of n; the last axis of `sums` is (k, n)."""
    k, n = sums[..., 0], sums[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(n > 0, k / n, 0.0)
        value = np.where(k > 0, k * np.log(p), 0.0) + np.where(n > k, (n - k) * np.log1p(-p), 0.0)
    return np.asarray(value)


def _pooled_rate(part: _Counts) -> float:
    n = float(part[:, 1].sum())
    return float(part[:, 0].sum()) / n if n else 0.0
