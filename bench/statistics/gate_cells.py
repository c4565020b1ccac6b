"""Simulates how often a quality gate passes a rate that is worse by the margin, or fails an equal rate.

Sessions of 1–30 calls have correlated calls (beta-binomial). Every day has an effect on the logit scale, and
the effects may be autocorrelated. The true rate is the expected rate over all days.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from bench.statistics.cells import Cell
from callgauge.analysis.measures.comparisons import compare_pairs
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, relate_slices
from callgauge.report.store_gate import decide
from callgauge.stats import GROUPS, DayCounts, Share

MOST_WRONG = 0.05
MARGIN = 0.02
_LONGEST = 30  # maximum number of calls in a session
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


@dataclass(frozen=True, slots=True)
class Spans:
    """The compared time spans.

    `days` are the lengths of the earlier and the later span. Each day has about `calls` calls. `rate` is the
    error rate in the earlier span.
    """

    rate: float
    calls: int
    correlation: float
    day_sd: float
    autocorrelation: float = 0.0
    days: tuple[int, int] = (28, 7)

    @property
    def setting(self) -> str:
        parts = [f"{self.rate:.0%}", f"{self.calls:,} calls a day", f"rho {self.correlation}"]
        parts += [f"day sd {self.day_sd}"]
        parts += [f"AR {self.autocorrelation}"] if self.autocorrelation else []
        return ", ".join([*parts, f"{self.days[1]} against {self.days[0]} days"])


NAMED = (
    Spans(0.05, 300, 0.0, 0.0),
    Spans(0.05, 300, 0.3, 0.0),
    Spans(0.05, 1_000, 0.1, 0.2),
    Spans(0.05, 1_000, 0.1, 0.4),
    Spans(0.2, 1_000, 0.1, 0.4),
    Spans(0.05, 1_000, 0.1, 0.2, autocorrelation=0.5),
    Spans(0.05, 1_000, 0.1, 0.4, autocorrelation=0.5),
    Spans(0.05, 1_000, 0.1, 0.4, days=(7, 7)),
    Spans(0.05, 1_000, 0.1, 0.4, days=(28, 1)),
    Spans(0.01, 300, 0.1, 0.2),
)


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often the gate passes or fails incorrectly, and how often equal rates pass."""
    random = np.random.default_rng(seed)
    for spans in _whole_grid() if whole else NAMED:
        worse = [judge_spans(spans, MARGIN, random) for _ in range(draws)]
        alike = [judge_spans(spans, 0.0, random) for _ in range(draws)]
        for topic, expected, several, most in (
            ("gates that pass a slice worse by the margin", "not worse", worse, MOST_WRONG),
            ("gates that fail equal slices", "worse", alike, MOST_WRONG),
            ("gates that pass equal slices, margin 2 points", "not worse", alike, None),
        ):
            yield Cell(
                topic, spans.setting, sum(verdict == expected for verdict in several), draws, most=most
            )


def _whole_grid() -> Iterator[Spans]:
    for rate, calls, correlation, sd in product((0.05, 0.2), (300, 3_000), (0.0, 0.1, 0.3), (0.0, 0.2, 0.4)):
        yield Spans(rate, calls, correlation, sd)
        yield Spans(rate, calls, correlation, sd, days=(7, 7))
        if sd:
            yield Spans(rate, calls, correlation, sd, autocorrelation=0.5)


def judge_spans(spans: Spans, worse_by: float, random: np.random.Generator) -> str:
    """Return the gate's result if the parse error rate of the later days is higher by `worse_by`."""
    length = sum(spans.days)
    effects = random.standard_normal(length)
    for day in range(1, length):
        rest = np.sqrt(1 - spans.autocorrelation**2)
        effects[day] = spans.autocorrelation * effects[day - 1] + rest * effects[day]
    levels = [_find_level(spans.rate, spans.day_sd), _find_level(spans.rate + worse_by, spans.day_sd)]
    rates = expit(np.repeat(levels, spans.days) + spans.day_sd * effects)
    counts, sessions = _draw_days(rates, spans, random)
    before, now = slice(None, spans.days[0]), slice(spans.days[0], None)
    sides = relate_slices([_make_slice(counts, sessions, days) for days in (before, now)])
    (comparison,) = compare_pairs([(sides[1], sides[0])])
    return "cannot be told" if comparison.p is None else decide(comparison, MARGIN)


def _find_level(rate: float, sd: float) -> float:

    def miss(level: float) -> float:
        return float((expit(level + sd * _NODES) * _WEIGHTS).sum() / _WEIGHTS.sum() - rate)

    return float(brentq(miss, -20, 20))


def _draw_days(rates: np.ndarray, spans: Spans, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return hits and calls of shape (2, GROUPS, days), and the numbers of sessions of each day."""
    mean = spans.calls / ((1 + _LONGEST) / 2)
    sessions = np.maximum(random.poisson(mean * random.lognormal(0, 0.15, len(rates))), 1)
    day = np.repeat(np.arange(len(rates)), sessions)
    n = random.integers(1, _LONGEST + 1, len(day))
    own = rates[day]
    if spans.correlation:
        weight = 1 / spans.correlation - 1
        own = random.beta(own * weight, (1 - own) * weight)
    k = random.binomial(n, own)
    counts = np.zeros((2, GROUPS, len(rates)))
    group = random.integers(0, GROUPS, len(day))
    np.add.at(counts[0], (group, day), k)
    np.add.at(counts[1], (group, day), n)
    return counts, sessions


def _make_slice(counts: np.ndarray, sessions: np.ndarray, days: slice) -> Slice:
    k, n = counts[:, :, days].sum(axis=2)
    ordinals = np.arange(counts.shape[2])[days]
    by_day = DayCounts(ordinals, *counts[:, :, days].sum(axis=1))
    share = Share(int(k.sum()), int(n.sum()), int(sessions[days].sum()), np.stack([k, n]), by_day)
    return Slice(RATES["parse_error"], "drawn", "all", share, share.n)
