"""Makes rates from pairs (k, n) of hits and calls, or from randomly generated sessions. Each session gets a
random group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import GROUPS, Share

Sessions = Sequence[tuple[int, int]]
Counts = np.ndarray[Any, np.dtype[np.float64]]


def place_sessions(sessions: int, seed: int = 0) -> list[int]:
    """Return a random group for each session. The same seed gives the same groups."""
    return [int(group) for group in np.random.default_rng([seed, sessions]).integers(0, GROUPS, sessions)]


def count_by_group(sessions: Sessions, groups: Sequence[int]) -> Counts:
    """Return k and n of each group of sessions as an array of shape (2, GROUPS). `groups` contains the group
    of each session.
    """
    places, pairs = np.asarray(groups, np.intp), np.asarray(sessions, np.float64).reshape(-1, 2)
    return np.stack([np.bincount(places, pairs[:, column], GROUPS) for column in (0, 1)])


def of_sessions(sessions: Sessions, groups: Sequence[int] | None = None) -> Share:
    counts = count_by_group(sessions, place_sessions(len(sessions)) if groups is None else groups)
    k, n = counts.sum(axis=1).astype(int).tolist()
    return Share(k, n, len(sessions), counts)


def fill_sessions(k: int, n: int, sessions: int) -> Sessions:
    """Return sessions of about equal size. In each session but one, either all calls are hits or none."""
    filled = []
    for number in range(sessions):
        size = n * (number + 1) // sessions - n * number // sessions
        filled.append((min(k, size), size))
        k -= min(k, size)
    return filled


def of_slice(
    name: str,
    k: int,
    n: int,
    *,
    total: int | None = None,
    rate: str = "parse_error",
    sessions: int | None = None,
    also: str = "all",
) -> Slice:
    """Return a slice with `k` hits of `n` calls. If `sessions` is None, each call has its own session.

    Slices with different names have no session in common.
    """
    session_sizes = fill_sessions(k, n, n if sessions is None else sessions)
    share = of_sessions(session_sizes, place_sessions(len(session_sizes), crc32(f"{name}/{also}".encode())))
    return Slice(RATES[rate], name, also, share, n if total is None else total)


def draw_sessions(
    random: np.random.Generator, sessions: int, calls: int, rate: float, alike: float
) -> Sessions:
    """Generate sessions whose rates vary around `rate`. `alike` is the correlation of a session's calls."""
    size = random.poisson(calls - 1, sessions) + 1
    if alike == 0:
        return [(int(random.binomial(n, rate)), int(n)) for n in size]
    weight = 1 / alike - 1
    own = random.beta(rate * weight, (1 - rate) * weight, sessions)
    return [(int(random.binomial(n, p)), int(n)) for n, p in zip(size, own, strict=True)]


def draw_share(random: np.random.Generator, sessions: int, calls: int, rate: float, alike: float) -> Share:
    drawn = draw_sessions(random, sessions, calls, rate, alike)
    return of_sessions(drawn, [int(group) for group in random.integers(0, GROUPS, sessions)])
