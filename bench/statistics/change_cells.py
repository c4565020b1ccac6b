"""Simulates series of days with and without a change, and the results of `find_changes`.

Sessions of 1–50 calls have correlated calls (beta-binomial). Days have an effect on the logit scale, and the
effects may be autocorrelated. The day of the change is uniformly distributed, except that the first and last
sixth of the days never change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import expit, logit

from bench.statistics.cells import Cell
from callgauge.stats.over_time.change_points import MOST_FALSE, find_changes

LEAST_COVERED = 0.93  # smallest allowed share of found changes whose range of days contains the true day
_RATE = 0.05
_ENOUGH_FOUND = 20  # with fewer found changes, the coverage is not judged


@dataclass(frozen=True, slots=True)
class Series:
    """The parameters of a simulated series.

    Each day has `calls` calls, in sessions of 1 to `longest` calls. `correlation` is the correlation of two
    calls of a session. `day_sd` is the standard deviation of the day effects on the logit scale.
    `autocorrelation` is the correlation of neighbouring day effects. The error rate changes from 5 % to
    `after`.
    """

    days: int
    calls: int
    correlation: float
    day_sd: float
    after: float = _RATE
    autocorrelation: float = 0.0
    longest: int = 50

    @property
    def setting(self) -> str:
        parts = [f"{self.days} days", f"{self.calls:,} calls a day", f"rho {self.correlation}"]
        parts += [f"day sd {self.day_sd}"]
        parts += [f"AR {self.autocorrelation}"] if self.autocorrelation else []
        parts += [f"5 → {self.after:.0%}"] if self.after != _RATE else []
        return ", ".join(parts)


STEADY = (
    Series(14, 200, 0.2, 0.2),
    Series(14, 2_000, 0.1, 0.4, autocorrelation=0.6),
    Series(30, 2_000, 0.1, 0.4),
    Series(30, 2_000, 0.1, 0.4, autocorrelation=0.6),
    Series(60, 2_000, 0.1, 0.4, autocorrelation=0.6),
    Series(120, 2_000, 0.1, 0.4, autocorrelation=0.3),
    Series(120, 2_000, 0.1, 0.4, autocorrelation=0.6),
    Series(120, 20, 0.0, 0.0),
)
CHANGED = (
    Series(14, 2_000, 0.1, 0.2, 0.15),
    Series(14, 2_000, 0.1, 0.2, 0.4),
    Series(30, 20, 0.0, 0.0, 0.2, longest=1),
    Series(30, 200, 0.3, 0.2, 0.3),
    Series(30, 2_000, 0.2, 0.4, 0.15),
    Series(60, 200, 0.5, 0.2, 0.2),
    Series(60, 2_000, 0.2, 0.4, 0.1),
    Series(60, 2_000, 0.2, 0.4, 0.3),
    Series(120, 200, 0.2, 0.2, 0.1),
    Series(120, 2_000, 0.0, 0.2, 0.07),
)


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often alarms are false, changes are found, and ranges contain the true day.

    150 repetitions of the selected settings take about half a minute. `whole` means all settings.
    """
    random = np.random.default_rng(seed)
    for series in _steady_grid() if whole else STEADY:
        false = sum(bool(find_changes(draw_counts(series, series.days, random))) for _ in range(draws))
        yield Cell("series without a change that show one", series.setting, false, draws, most=MOST_FALSE)
    for series in _changed_grid() if whole else CHANGED:
        verdicts = [_holds_true_day(series, random) for _ in range(draws)]
        decided = [verdict for verdict in verdicts if verdict is not None]
        yield Cell("series with a change that show one", series.setting, len(decided), draws)
        if len(decided) >= _ENOUGH_FOUND:
            yield Cell(
                "changes found whose range contains the true day",
                series.setting,
                sum(decided),
                len(decided),
                least=LEAST_COVERED,
            )


def _steady_grid() -> Iterator[Series]:
    for days, calls, rho, sd in product(
        (14, 30, 60, 120), (20, 200, 2_000), (0.0, 0.2, 0.5), (0.0, 0.2, 0.4)
    ):
        plain = Series(days, calls, rho, sd)
        yield plain
        if sd:
            yield replace(plain, autocorrelation=0.3)
            yield replace(plain, autocorrelation=0.6)


def _changed_grid() -> Iterator[Series]:
    for plain, after in product(_steady_grid(), (0.075, 0.1, 0.15, 0.3)):
        yield replace(plain, after=after)


def _holds_true_day(series: Series, random: np.random.Generator) -> bool | None:
    """Return whether the date range of the nearest found change contains the true day.

    Return None when no change was found.
    """
    margin = max(2, series.days // 6)
    true = int(random.integers(margin, series.days - margin + 1))
    changes = find_changes(draw_counts(series, true, random))
    if not changes:
        return None
    nearest = min(changes, key=lambda change: abs(change.at - true))
    return nearest.first <= true <= nearest.last


def draw_counts(series: Series, change: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """Return the numbers of hits and calls (k, n) of each day. The new rate begins on the day `change`."""
    effect = random.standard_normal(series.days)
    for day in range(1, series.days):
        fresh = np.sqrt(1 - series.autocorrelation**2) * effect[day]
        effect[day] = series.autocorrelation * effect[day - 1] + fresh
    level = np.where(np.arange(series.days) < change, logit(_RATE), logit(series.after))
    rates = expit(level + series.day_sd * effect)
    several = series.calls / ((1 + series.longest) / 2) * random.lognormal(0, 0.15, series.days)
    day_of = np.repeat(np.arange(series.days), np.maximum(random.poisson(several), 1))
    n = random.integers(1, series.longest + 1, len(day_of))
    own = rates[day_of]
    if series.correlation:
        weight = 1 / series.correlation - 1
        own = random.beta(own * weight, (1 - own) * weight)
    k = random.binomial(n, own)
    k_day, n_day = (np.bincount(day_of, values, series.days).astype(int).tolist() for values in (k, n))
    return list(zip(k_day, n_day, strict=True))
