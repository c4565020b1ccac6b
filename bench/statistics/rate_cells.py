"""Simulates the coverage of the intervals of a single rate, of rates in a table, and of a difference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from bench.statistics.cells import Cell
from bench.statistics.draws import Sessions, Sizes, share_tables
from callgauge.stats.differences import compare_estimates

LEAST, MOST = 0.935, 0.975
_MANY_HITS = 20  # with fewer sessions that have a hit, an interval may be too wide
_TABLE = 12  # number of rates in a table

RHOS, RATES = (0.0, 0.05, 0.2, 0.5), (0.001, 0.01, 0.05, 0.2, 0.5)
SESSIONS = (5, 10, 20, 50, 100, 200, 500)
SIZES: tuple[Sizes, ...] = ("even", "heavy")
_NAMED = {
    (0.2, 0.05, 100),
    (0.2, 0.01, 500),
    (0.5, 0.01, 500),
    (0.0, 0.01, 100),
    (0.05, 0.2, 20),
    (0.5, 0.5, 10),
}


def cover_rates(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the coverage of one rate's interval when the page shows only this rate.

    `whole` means all 280 settings.
    """
    random = np.random.default_rng(seed)
    for sizes, rho, rate, sessions in product(SIZES, RHOS, RATES, SESSIONS):
        if not whole and (rho, rate, sessions) not in _NAMED:
            continue
        drawn = Sessions(random, draws, sizes)
        k, n = drawn.draw_counts(sessions, rate, rho)
        tables = share_tables([(drawn.put_into_groups(k, n), sessions)])
        intervals = [table[0].interval for table in tables]
        hits = sum(interval is not None and interval.low <= rate <= interval.high for interval in intervals)
        yield Cell(
            "one rate, alone",
            _describe(sizes, rho, rate, sessions),
            hits,
            draws,
            LEAST,
            MOST if (k > 0).sum(1).mean() >= _MANY_HITS else None,
        )


def cover_tables(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the coverage of intervals in a table of twelve rates, which share one estimate of correlation."""
    random = np.random.default_rng(seed)
    for sizes, rho, rate, sessions in product(SIZES, (*RHOS, None), RATES, SESSIONS):
        if not whole and (rho, rate, sessions) not in _NAMED:
            continue
        drawn = Sessions(random, max(1, draws // _TABLE), sizes)
        arms, with_hits = [], 0.0
        for _ in range(_TABLE):
            k, n = drawn.draw_counts(sessions, rate, _draw_rho(drawn, rho))
            with_hits = (k > 0).sum(1).mean()
            arms.append((drawn.put_into_groups(k, n), sessions))
        intervals = [share.interval for table in share_tables(arms) for share in table]
        hits = sum(interval is not None and interval.low <= rate <= interval.high for interval in intervals)
        yield Cell(
            "one rate of a table of twelve",
            _describe(sizes, rho, rate, sessions),
            hits,
            len(intervals),
            LEAST,
            MOST if with_hits >= _MANY_HITS else None,
        )


def cover_differences(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the coverage of the interval for a difference of two rates, and how often equal rates are called
    different.
    """
    random = np.random.default_rng(seed)
    pairs = ((0.01, 0.01), (0.05, 0.05), (0.2, 0.2), (0.01, 0.03), (0.05, 0.1), (0.2, 0.3), (0.5, 0.6))
    sessions = ((10, 10), (30, 30), (100, 100), (20, 300))
    for sizes, rho, (first, second), (first_sessions, other) in product(SIZES, RHOS, pairs, sessions):
        if not whole and (rho != 0.2 or first_sessions == 30):
            continue
        drawn = Sessions(random, draws, sizes)
        arms, with_hits = [], []
        for rate, number in ((first, first_sessions), (second, other)):
            k, n = drawn.draw_counts(number, rate, rho)
            with_hits.append((k > 0).sum(1).mean())
            arms.append((drawn.put_into_groups(k, n), number))
        estimates = [(table[0].estimate, table[1].estimate) for table in share_tables(arms)]
        differences = compare_estimates([(a, b) for a, b in estimates if a and b])
        hits = sum(each.low <= first - second <= each.high for each in differences)
        setting = (
            f"{sizes} sizes, rho {rho}, {first:.1%} and {second:.1%}, {first_sessions} and {other} sessions"
        )
        yield Cell(
            "a difference",
            setting,
            hits,
            len(differences),
            LEAST,
            MOST if min(with_hits) >= _MANY_HITS else None,
        )
        if first == second:
            false = sum(each.p < 0.05 for each in differences)
            yield Cell("equal rates called different", setting, false, len(differences), None, 0.06)


def _draw_rho(drawn: Sessions, rho: float | None) -> float | np.ndarray:
    return drawn.random.choice([0.02, 0.05, 0.1, 0.2, 0.4], size=(drawn.draws, 1)) if rho is None else rho


def _describe(sizes: str, rho: float | None, rate: float, sessions: int) -> str:
    likeness = "a different rho in every model" if rho is None else f"rho {rho}"
    return f"{sizes} sizes, {likeness}, {rate:.1%}, {sessions} sessions"
