"""Simulates sessions in several strata (tools, days, prompts), within one variant and in two variants."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import add

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, logit

from bench.statistics.cells import Cell
from bench.statistics.draws import Floats, Sessions
from callgauge.analysis.measures.comparisons import RankedTable, choose_reference, rank_table
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.same_mix import ArmStrata, Stratum
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Share, compare_rates, relate_shares, standardise

LEAST, LARGEST = 0.935, 0.06
# standard deviation of a session's logit; the calls of a session then have a correlation of 0.05 to 0.2
_SPREAD = 1.0


def mean_rate(rate: float) -> float:
    """Return the mean of expit(logit(rate) + _SPREAD · z) over a standard normal z."""
    points, weights = hermegauss(60)
    return float((expit(logit(rate) + _SPREAD * points) * weights).sum() / weights.sum())


def draw_parts(drawn: Sessions, sessions: int, rates: Floats, mix: Floats) -> Floats:
    """Return hits and calls by stratum and group, of shape (draws, 2, parts, GROUPS).

    A session distributes its calls over the strata by `mix`. The effect of a session is the same in all
    strata. `rates` contains the rate of each stratum, before the session's effect.
    """
    n = drawn.random.multinomial(drawn.draw_sizes(sessions).astype(int), mix).astype(float)
    effect = _SPREAD * drawn.random.standard_normal((drawn.draws, sessions, 1))
    k = drawn.random.binomial(n.astype(int), expit(logit(rates) + effect)).astype(float)
    return drawn.put_into_groups(k, n)


def make_parts(counts: Floats, sessions: int) -> list[Share]:
    """Return the error rate of each stratum as a Share. `counts` has the shape (2, parts, GROUPS)."""
    return [
        Share(int(k.sum()), int(n.sum()), sessions, np.stack([k, n])) for k, n in zip(*counts, strict=True)
    ]


def cover_parts(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the coverage of the intervals for rates and differences over strata that share sessions."""
    random = np.random.default_rng(seed)
    settings = [(2, 300), (5, 300), (10, 300)] + ([(2, 60), (5, 60), (10, 60), (10, 2000)] if whole else [])
    for parts, sessions in settings:
        rates = np.linspace(0.03, 0.15, parts)
        truth = np.array([mean_rate(rate) for rate in rates])
        equal, other = (np.ones(parts) / parts, np.linspace(1, 3, parts) / np.linspace(1, 3, parts).sum())
        drawn = Sessions(random, draws)
        firsts, seconds = (draw_parts(drawn, sessions, rates, mix) for mix in (equal, other))
        summed = standardised = plain = within = 0
        for first, second in zip(firsts, seconds, strict=True):
            ours, theirs = make_parts(first, sessions), make_parts(second, sessions)
            total = reduce(add, ours)
            expected = float((truth * np.array([share.n for share in ours])).sum()) / total.n
            summed += total.interval is not None and total.interval.low <= expected <= total.interval.high
            comparison = standardise(list(zip(ours, theirs, strict=True)))
            standardised += (
                comparison is not None and comparison.difference.low <= 0 <= comparison.difference.high
            )
            plain += comparison is not None and comparison.difference.p < 0.05
            pair = compare_rates(ours[0], ours[-1])
            within += pair is not None and pair.low <= truth[0] - truth[-1] <= pair.high
        setting = f"{parts} tools, {sessions} sessions in each of them"
        yield Cell("a rate summed over tools, days or prompts", setting, summed, draws, LEAST)
        yield Cell("a mix-adjusted difference", setting, standardised, draws, LEAST)
        yield Cell("equal when mix-adjusted, called different", setting, plain, draws, None, LARGEST)
        yield Cell("a difference of two tools of the same sessions", setting, within, draws, LEAST)


def rank_mixed(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often a table calls equal models different when they use tools in different proportions.

    Also yield how often the better model is named in Simpson's paradox.
    """
    random = np.random.default_rng(seed)
    settings = [(6, 5, 100)] + ([(20, 20, 100), (20, 5, 60), (6, 10, 300)] if whole else [])
    for models, parts, sessions in settings:
        rates = np.linspace(0.02, 0.3, parts)
        drawn = Sessions(random, draws)
        false = 0
        arms = [
            (draw_parts(drawn, sessions, rates, random.dirichlet(np.full(parts, 2.0))), sessions)
            for _ in range(models)
        ]
        for draw in range(draws):
            table = _rank_arms([(counts[draw], number) for counts, number in arms])
            false += bool(table.wins)
        setting = f"{models} equal models, each with its own mix of {parts} tools, {sessions} sessions"
        yield Cell(
            "tables of equal models with different work, called different",
            setting,
            false,
            draws,
            None,
            LARGEST,
        )
    yield _find_simpson(draws, random)


def _find_simpson(draws: int, random: np.random.Generator) -> Cell:
    """Return how often the better of two models is named although the unadjusted rates say the opposite."""
    drawn = Sessions(random, draws)
    better = draw_parts(drawn, 300, np.array([0.02, 0.2]), np.array([0.2, 0.8]))
    worse = draw_parts(drawn, 300, np.array([0.05, 0.35]), np.array([0.8, 0.2]))
    right = sum(
        ("0", "1") in _rank_arms([(better[draw], 300), (worse[draw], 301)]).wins for draw in range(draws)
    )
    setting = "2 models, 2 tools, 300 sessions each"
    return Cell("a Simpson mix: the better model is named", setting, right, draws, 0.9)


def _rank_arms(arms: list[tuple[Floats, int]]) -> RankedTable:
    """Rank the variants as the page Models does.

    The counts of each variant have the shape (2, parts, GROUPS), by stratum and group.
    """
    rate = RATES["parse_error"]
    whole = np.stack([counts.sum(1) for counts, _ in arms])
    rows = zip(whole.sum(-1).astype(int).tolist(), arms, whole, strict=True)
    shares = relate_shares([Share(k, n, number, groups) for (k, n), (_, number), groups in rows])
    slices = [Slice(rate, str(place), "all", share, share.n) for place, share in enumerate(shares)]
    strata: dict[str, dict[Stratum, Share]] = {
        str(place): {(str(part),): share for part, share in enumerate(make_parts(counts, number)) if share.n}
        for place, (counts, number) in enumerate(arms)
    }
    return rank_table(slices, choose_reference(slices), ArmStrata(("tool",), strata))
