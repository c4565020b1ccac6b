"""Simulates the sentence that a model makes more tool-call errors on one host: how often equal hosts get the
sentence, how often a worse host is found, and whether the interval of the ratio contains the true ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from bench.statistics.cells import Cell
from bench.statistics.draws import Sessions, share_tables
from callgauge.analysis.comparisons.hosts import pair_hosts
from callgauge.analysis.measures.comparisons import compare_pairs
from callgauge.analysis.measures.rates import PUBLIC_ERROR
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.public_rates import describe_public_hosts
from callgauge.stats import Share, divide_rates

MOST_FALSE = 0.05
_LEAST, _MOST = 0.935, 0.975
_SESSIONS = 60


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the results for models on several hosts. `whole` means all settings."""
    random = np.random.default_rng(seed)
    for hosts, models, rate, rho in product((2, 3, 6), (1, 4), (0.02, 0.08, 0.3), (0.05, 0.2)):
        if not whole and (hosts == 3 or rate == 0.3 or rho == 0.05):
            continue
        named = count_named(random, draws, hosts=hosts, models=models, rate=rate, rho=rho)
        setting = f"{models} model{'s' * (models > 1)} on {hosts} hosts, {rate:.0%}, rho {rho}"
        yield Cell("equal hosts, one named with more errors", setting, named, draws, None, MOST_FALSE)
    for sessions, (rate, worse), rho in product(
        (30, 60, 200), ((0.05, 0.1), (0.05, 0.15), (0.1, 0.3)), (0.05, 0.2)
    ):
        if not whole and (sessions == 30 or rho == 0.05):
            continue
        yield from _find_worse(random, draws, sessions, (rate, worse), rho)


def count_named(
    random: np.random.Generator, draws: int, *, hosts: int, models: int, rate: float, rho: float
) -> int:
    """Return in how many of `draws` stores with equal hosts the sentence names a host.

    Any difference is of interest, because a smallest difference would hide false sentences.
    """
    tables = _draw_tables(random, draws, [rate] * hosts * models, _SESSIONS, rho)
    return sum("times the" in _describe(table, hosts, 0.0) for table in tables)


def _find_worse(
    random: np.random.Generator, draws: int, sessions: int, rates: tuple[float, float], rho: float
) -> Iterator[Cell]:
    first, worse = rates
    tables = _draw_tables(random, draws, [first, worse], sessions, rho)
    setting = f"{first:.0%} and {worse:.0%}, {sessions} sessions each, rho {rho}"
    named = sum("On host 1" in _describe(table, 2, 0.02) for table in tables)
    yield Cell("a host with more errors, named", setting, named, draws)
    ratios = [ratio for table in tables if (ratio := divide_rates(table[1], table[0]))]
    hits = sum(ratio.low <= worse / first <= ratio.high for ratio in ratios)
    yield Cell("the ratio of two hosts", setting, hits, len(ratios), _LEAST, _MOST)


def _draw_tables(
    random: np.random.Generator, draws: int, rates: Sequence[float], sessions: int, rho: float
) -> list[list[Share]]:
    drawn = Sessions(random, draws)
    arms = []
    for rate in rates:
        k, n = drawn.draw_counts(sessions, rate, rho)
        arms.append((drawn.put_into_groups(k, n), sessions))
    return share_tables(arms)


def _describe(table: Sequence[Share], hosts: int, smallest: float) -> str:
    by_model = {
        f"model {start // hosts}": [
            Slice(PUBLIC_ERROR, f"model {start // hosts}", f"host {place}", share, share.n)
            for place, share in enumerate(table[start : start + hosts])
        ]
        for start in range(0, len(table), hosts)
    }
    pairs, _ = pair_hosts(by_model)
    return describe_public_hosts(compare_pairs(pairs), str, smallest)
