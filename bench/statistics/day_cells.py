"""Simulates comparisons when error rates differ between days: false verdicts between equal variants, and
power.

Sessions of about six calls have their own rates (logit-normal, standard deviation 1). Each day has two
effects on the logit scale, one for all variants and one for each variant. The effects may be autocorrelated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from bench.statistics.cells import Cell
from callgauge.analysis.measures.comparisons import compare_pairs, rank_table
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, relate_slices
from callgauge.stats import GROUPS, DayCounts, Share

MOST_FALSE = 0.08
_SESSION_SD = 1.0
_CALLS = 6  # mean number of calls per session
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)


@dataclass(frozen=True, slots=True)
class Setting:
    """Variants with `sessions` sessions per day on `days` days each, either one after the other or in
    parallel.

    `own_sd` is the standard deviation of each variant's own day effects. Parallel variants also have common
    day effects with standard deviation 0.3. `rates` contains the rate of each variant.
    """

    days: int
    sessions: int
    own_sd: float
    autocorrelation: float
    rates: tuple[float, ...] = (0.05, 0.05)
    is_successive: bool = True

    @property
    def words(self) -> str:
        order = "one after the other" if self.is_successive else "in parallel"
        rates = " and ".join(f"{rate:.0%}" for rate in sorted(set(self.rates)))
        return (
            f"{len(self.rates)} models of {rates} {order}, {self.days} days × {self.sessions} sessions, "
            f"day sd {self.own_sd}, AR {self.autocorrelation}"
        )


_DAYS = ((0.0, 0.0), (0.2, 0.0), (0.2, 0.5), (0.4, 0.0), (0.4, 0.5))
SUCCESSIVE = tuple(
    Setting(days, sessions, sd, ar)
    for days, sessions in ((7, 25), (14, 25), (28, 25), (14, 100))
    for sd, ar in _DAYS
)
_POWER = tuple(
    Setting(days, sessions, 0.0, 0.0, rates, is_successive)
    for days, sessions, rates in ((7, 25, (0.10, 0.05)), (14, 25, (0.08, 0.05)), (28, 25, (0.08, 0.05)))
    for is_successive in (True, False)
)
_SIDE_BY_SIDE = tuple(
    Setting(days, sessions, sd, ar, (0.05,) * 5, is_successive=False)
    for days, sessions in ((14, 25), (28, 25))
    for sd, ar in _DAYS[1:]
)


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often equal versions or equal parallel models are called different, and the power."""
    random = np.random.default_rng(seed)
    for setting in SUCCESSIVE if whole else SUCCESSIVE[4::5]:
        false = sum(is_called_different(setting, random) for _ in range(draws))
        yield Cell("equal versions called different", setting.words, false, draws, most=MOST_FALSE)
    for setting in _SIDE_BY_SIDE if whole else _SIDE_BY_SIDE[3::4]:
        arms = draws // 2
        false = sum(bool(rank_models(setting, random)) for _ in range(arms))
        yield Cell("tables of equal models with a false verdict", setting.words, false, arms)
    for setting in _POWER if whole else _POWER[:2]:
        different = sum(is_called_different(setting, random) for _ in range(draws))
        yield Cell("power of a comparison", setting.words, different, draws)


def is_called_different(setting: Setting, random: np.random.Generator) -> bool:
    """Return True when the first of two simulated variants is called better or worse than the second."""
    first, second = draw_arms(setting, random)
    (comparison,) = compare_pairs([(first, second)])
    difference = comparison.difference
    return comparison.is_decisive and difference is not None and not difference.is_within(0.02)


def rank_models(setting: Setting, random: np.random.Generator) -> frozenset[tuple[str, str]]:
    """Return the pairs (better, worse) of the models in a simulated table."""
    several = draw_arms(setting, random)
    return rank_table(several, several[0]).wins


def draw_arms(setting: Setting, random: np.random.Generator) -> list[Slice]:
    """Return the simulated data of one variant for each rate in `setting.rates`."""
    arms, length = len(setting.rates), setting.days
    calendar = length * arms if setting.is_successive else length
    common = _draw_effects(calendar, setting.own_sd if setting.is_successive else 0.3, setting, random)
    several = []
    for place, rate in enumerate(setting.rates):
        first = place * length if setting.is_successive else 0
        effects = common[first : first + length]
        if not setting.is_successive:
            effects = effects + _draw_effects(length, setting.own_sd, setting, random)
        several.append(_draw_arm(f"m{place}", rate, first, effects, setting.sessions, random))
    return relate_slices(several)


def _draw_effects(days: int, sd: float, setting: Setting, random: np.random.Generator) -> np.ndarray:
    effects = random.standard_normal(days)
    rest = np.sqrt(1 - setting.autocorrelation**2)
    for day in range(1, days):
        effects[day] = setting.autocorrelation * effects[day - 1] + rest * effects[day]
    return sd * effects


def _draw_arm(
    name: str, rate: float, first: int, effects: np.ndarray, sessions: int, random: np.random.Generator
) -> Slice:
    day = np.repeat(np.arange(len(effects)), sessions)
    n = random.geometric(1 / _CALLS, len(day))
    own = _find_level(rate) + _SESSION_SD * random.standard_normal(len(day)) + effects[day]
    k = random.binomial(n, expit(own))
    group = random.integers(0, GROUPS, len(day))
    by_group = np.stack([np.bincount(group, counts, GROUPS) for counts in (k, n)]).astype(float)
    k_of_day, n_of_day = (np.bincount(day, counts, len(effects)) for counts in (k, n))
    days = DayCounts(first + np.arange(len(effects)), k_of_day.astype(float), n_of_day.astype(float))
    share = Share(int(k.sum()), int(n.sum()), len(day), by_group, days)
    return Slice(RATES["parse_error"], name, "all", share, share.n)


@cache
def _find_level(rate: float) -> float:

    def miss(level: float) -> float:
        return float((expit(level + _SESSION_SD * _NODES) * _WEIGHTS).sum() / _WEIGHTS.sum() - rate)

    return float(brentq(miss, -20, 20))
