"""Simulates coverage with few tasks: pass^k, paired differences of tasks, and calls parsed twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from bench.statistics.cells import Cell
from callgauge.stats import Difference, compare_paired, compare_same_calls, pass_k

LEAST, MOST = 0.935, 0.975
FALSE_ALARMS = 0.06
ENOUGH_EACH = 20  # with at least this many expected passing and failing tasks, an interval is not too wide

Trials = tuple[int, int]  # minimum and maximum number of trials per task, with a uniform distribution
NEVER = "no effect"
BY_TASK = "each task another effect, none on average"

_UNITS = (3, 5, 10, 20, 50, 100)
_RHOS = (0.0, 0.1, 0.3, 0.6, 0.9)  # at 0, all tasks are equally hard; at 1, each task always or never passes
_PASS_TASKS = (3, 5, 10, 20, 50, 200)
_PASS_TRIALS: tuple[Trials, ...] = ((2, 2), (4, 4), (8, 8), (2, 8))
_PASS_RATES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
_PASS_NAMED = {((2, 2), 2), ((4, 4), 4), ((8, 8), 1), ((2, 8), 3)}

_ARMS: tuple[tuple[Trials, Trials], ...] = (
    ((1, 1), (1, 1)),
    ((2, 2), (2, 2)),
    ((4, 4), (4, 4)),
    ((8, 8), (8, 8)),
    ((8, 8), (4, 4)),
    ((8, 8), (2, 2)),
    # the documented limit of compare_paired, where coverage is outside of the allowed range
    ((8, 8), (1, 1)),
    ((1, 8), (1, 8)),
)
_EFFECTS: tuple[float | str, ...] = (NEVER, BY_TASK, 0.3, -0.3, 0.8)
_SIZES = ("1 to 50", "lognormal to 2,000")
# Each pair contains the shares of calls that change in each direction.
_MOVES = ((0.01, 0.01), (0.03, 0.0), (0.1, 0.1), (0.2, 0.05), (0.003, 0.0), (0.6, 0.0), (0.45, 0.45))


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield all results for tasks.

    `whole` means all settings. For 500 repetitions, the selected settings take about 20 seconds.
    """
    yield from cover_pass_k(draws, whole=whole, seed=seed)
    yield from cover_paired(draws, whole=whole, seed=seed)
    yield from cover_same_calls(draws, whole=whole, seed=seed)


def cover_pass_k(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the coverage of the interval for pass^k, for 3 to 200 tasks of 2 to 8 trials.

    Task rates are beta-distributed.
    """
    random = np.random.default_rng(seed)
    for trials, k, tasks, rate, rho in product(_PASS_TRIALS, range(1, 5), _PASS_TASKS, _PASS_RATES, _RHOS):
        named = (
            (trials, k) in _PASS_NAMED and tasks in (5, 20, 200) and rate in (0.3, 0.9) and rho in (0.1, 0.6)
        )
        if k > trials[1] or not (whole or named):
            continue
        truth = _expected_power(rate, rho, k)
        hits = drawn = many = 0
        for _ in range(draws):
            n = random.integers(trials[0], trials[1] + 1, tasks)
            passed = random.binomial(n, _draw_rates(random, rate, rho, tasks))
            estimate = pass_k(
                [(*each, number) for each, number in Counter(zip(n, passed, strict=True)).items()], k
            )
            if estimate is None or estimate.tasks < 2:
                continue
            drawn += 1
            many += estimate.tasks
            hits += estimate.interval is not None and estimate.interval.low <= truth <= estimate.interval.high
        enough = many / drawn * min(truth, 1 - truth) >= ENOUGH_EACH
        setting = f"k {k}, {tasks} tasks of {_describe(trials)} trials, mean {rate}, rho {rho}"
        yield Cell("pass^k", setting, hits, drawn, LEAST, MOST if enough else None)


def cover_paired(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the coverage and false alarms of a paired difference over 3 to 100 tasks."""
    random = np.random.default_rng(seed)
    settings = product(_ARMS, _UNITS, (0.05, 0.5, 0.9), (0.0, 0.3, 0.8))
    for ((first, second), tasks, rate, rho), effect in product(settings, _EFFECTS):
        named = tasks in (3, 10, 50) and (rate, rho) in {(0.05, 0.3), (0.5, 0.0), (0.9, 0.3)}
        named = named and first in {(1, 1), (4, 4), (1, 8)} and second != (2, 2) and effect in (NEVER, 0.3)
        if (effect == BY_TASK and rho == 0) or not (whole or named):
            continue
        truth, differences = _truth_of_effect(rate, effect), []
        for _ in range(draws):
            before = _draw_rates(random, rate, rho, tasks)
            after = _apply_effect(random, before, rate, rho, effect)
            first_shares, other = _draw_shares(random, first, before), _draw_shares(random, second, after)
            differences.append(compare_paired((other - first_shares).tolist()))
        setting = (
            f"{tasks} tasks of {_describe(first)} and {_describe(second)} trials, {rate}, rho {rho}, {effect}"
        )
        yield from _judge("paired tasks", setting, differences, truth)


def cover_same_calls(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Simulate 3 to 100 sessions whose calls are parsed twice.

    Yield how often the interval contains the true difference of the two error rates.
    """
    random = np.random.default_rng(seed)
    for sessions, sizes, (up, down), rho in product(_UNITS, _SIZES, _MOVES, (0.0, 0.05, 0.2, 0.5, 0.9)):
        named = sessions in (5, 20, 100) and rho in (0.05, 0.5) and up in (0.03, 0.2, 0.45)
        if not (whole or named):
            continue
        differences = []
        for _ in range(draws):
            n = _draw_sizes(random, sizes, sessions)
            moved = random.binomial(n, _draw_rates(random, up + down, rho, sessions))
            rises = random.binomial(moved, _draw_rates(random, up / (up + down), rho, sessions))
            differences.append(compare_same_calls((moved - rises).tolist(), rises.tolist(), n.tolist()))
        setting = f"{sessions} sessions of {sizes} calls, {up} up and {down} down, rho {rho}"
        yield from _judge("the same calls twice", setting, differences, up - down)


def _judge(
    topic: str, setting: str, differences: Sequence[Difference | None], truth: float
) -> Iterator[Cell]:
    measured = [difference for difference in differences if difference is not None]
    slack = 1e-9  # an interval that ends at the truth contains it
    hits = sum(difference.low - slack <= truth <= difference.high + slack for difference in measured)
    yield Cell(f"{topic}: coverage", setting, hits, len(measured), LEAST)
    if truth == 0:
        alarms = sum(difference.p < 0.05 for difference in measured)
        yield Cell(f"{topic}: false alarms", setting, alarms, len(measured), most=FALSE_ALARMS)


def _draw_rates(random: np.random.Generator, rate: float, rho: float, units: int) -> np.ndarray:
    """Return beta-distributed rates of `units` tasks or sessions, with mean `rate`.

    `rho` is the correlation of two trials of one task, or of two calls of one session.
    """
    if rho == 0 or rate in (0, 1):
        return np.full(units, rate)
    weight = 1 / rho - 1
    return random.beta(rate * weight, (1 - rate) * weight, units)


def _expected_power(rate: float, rho: float, k: int) -> float:
    if rho == 0:
        return rate**k
    weight = 1 / rho - 1
    return prod((rate * weight + i) / (weight + i) for i in range(k))


def _apply_effect(
    random: np.random.Generator, before: np.ndarray, rate: float, rho: float, effect: float | str
) -> np.ndarray:
    """Return the second variant's rates.

    A positive effect moves the rates towards 1. A negative effect moves the rates towards 0.
    """
    if isinstance(effect, str):
        return before if effect == NEVER else _draw_rates(random, rate, rho, len(before))
    return before + effect * (1 - before) if effect > 0 else before + effect * before


def _truth_of_effect(rate: float, effect: float | str) -> float:
    if isinstance(effect, str):
        return 0.0
    return effect * (1 - rate) if effect > 0 else effect * rate


def _draw_shares(random: np.random.Generator, trials: Trials, rates: np.ndarray) -> np.ndarray:
    n = random.integers(trials[0], trials[1] + 1, len(rates))
    return np.asarray(random.binomial(n, rates) / n)


def _draw_sizes(random: np.random.Generator, sizes: str, sessions: int) -> np.ndarray:
    if sizes == _SIZES[0]:
        return random.integers(1, 51, sessions)
    return np.asarray(np.clip(np.rint(random.lognormal(2.5, 1.6, sessions)), 1, 2000), dtype=np.int64)


def _describe(trials: Trials) -> str:
    return str(trials[0]) if trials[0] == trials[1] else f"{trials[0]} to {trials[1]}"
