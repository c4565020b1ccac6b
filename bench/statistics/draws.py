"""Simulates sessions of many sizes with correlated calls (beta-binomial), over tools or days."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from callgauge.stats import GROUPS, Share, relate_shares

Sizes = Literal["even", "heavy"]
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Sessions:
    """Simulates the calls of sessions in `draws` independent repetitions.

    A session's rate comes from a beta distribution around `rate` with intra-session correlation `rho`. The
    size of a session is uniform from 1 to 50 calls ("even"), or lognormal with a long tail up to 2,000 calls
    ("heavy").
    """

    def __init__(self, random: np.random.Generator, draws: int, sizes: Sizes = "even") -> None:
        self.random, self.draws, self.sizes = random, draws, sizes

    def draw_counts(self, sessions: int, rate: float | Floats, rho: float | Floats) -> tuple[Floats, Floats]:
        """Return the numbers of hits k and calls n of each session, as arrays of shape (draws, sessions)."""
        n = self.draw_sizes(sessions)
        return self.random.binomial(n.astype(int), self.draw_rates(sessions, rate, rho)).astype(float), n

    def draw_sizes(self, sessions: int) -> Floats:
        shape = (self.draws, sessions)
        if self.sizes == "even":
            return self.random.integers(1, 51, shape).astype(float)
        return np.minimum(np.ceil(np.exp(self.random.normal(1.5, 1.2, shape))), 2000.0)

    def draw_rates(self, sessions: int, rate: float | Floats, rho: float | Floats) -> Floats:
        """Return each session's own rate. The arguments `rate` and `rho` may have the shape (draws, 1)."""
        shape = (self.draws, sessions)
        mean, alike = (
            np.broadcast_to(np.asarray(value, dtype=float), (self.draws, 1)) for value in (rate, rho)
        )
        weight = 1 / np.maximum(alike, 1e-9) - 1
        own = self.random.beta(
            np.broadcast_to(mean * weight, shape), np.broadcast_to((1 - mean) * weight, shape)
        )
        return np.asarray(np.where(alike > 0, own, mean), dtype=float)

    def put_into_groups(self, k: Floats, n: Floats) -> Floats:
        """Return the numbers of hits k and calls n by random group, of shape (draws, 2, parts, GROUPS).

        `k` and `n` have the shape (draws, sessions) or (draws, sessions, parts). All calls of a session are
        in the same group.
        """
        k, n = (part[:, :, None] if part.ndim == 2 else part for part in (k, n))
        parts = k.shape[2]
        group = self.random.integers(0, GROUPS, k.shape[:2])
        place = (np.arange(self.draws)[:, None] * GROUPS + group)[:, :, None] * parts + np.arange(parts)
        by_group = [
            np.bincount(place.ravel(), part.ravel(), self.draws * GROUPS * parts).reshape(
                self.draws, GROUPS, parts
            )
            for part in (k, n)
        ]
        return np.asarray(np.stack(by_group, axis=1).transpose(0, 1, 3, 2), dtype=float)


def share_tables(arms: list[tuple[Floats, int]]) -> list[list[Share]]:
    """Return one rate per variant for the table of each repetition, computed as on a page.

    `arms` contains, for each variant, hits and calls by group (draws, 2, 1, GROUPS) and the number of
    sessions.
    """
    draws = len(arms[0][0])
    counts = np.stack([groups[:, :, 0] for groups, _ in arms], axis=1).reshape(draws * len(arms), 2, GROUPS)
    totals = counts.sum(-1).astype(int)
    sessions = [number for _, number in arms] * draws
    tables = np.repeat(np.arange(draws), len(arms)).tolist()
    rows = zip(totals.tolist(), sessions, counts, strict=True)
    shares = relate_shares([Share(k, n, many, groups) for (k, n), many, groups in rows], tables)
    return [shares[start : start + len(arms)] for start in range(0, len(shares), len(arms))]
