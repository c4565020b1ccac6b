"""Compares the rate of the newest days with what the days before let one expect.

Days differ by more than their sessions explain: tasks, users and services have good days and bad ones. So the
newest days are compared with a prediction: the mean of the days before, give or take the spread between days.

The spread is a random effect of the day on the logit scale. Its variance is estimated by moments (DerSimonian
& Laird 1986; Paule & Mandel 1982) on the arcsine scale, on which the variance of a binomial rate hardly
depends on the rate (Anscombe 1948). The newest days have an interval of their own (Jeffreys; Brown, Cai &
DasGupta 2001), over the number of independent calls that their sessions are worth. Both intervals are
combined on the logit scale (MOVER; Zou & Donner 2008), and the p-value is the level at which the combined
interval ends at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import pi, sqrt

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtrit

from callgauge.stats.differences import Difference

LEAST_DAYS = 5
"""Earlier days that a comparison takes: of fewer, nobody knows how much days differ."""
_LEAST_OF_KIND = 4  # days of a kind (weekend or not) to compare a day with its own kind
_ALIKE = 0.5  # the correlation of neighbouring days that the mean of several newest days allows for
_CAUTION = 0.5  # of the degrees of freedom: rates of days are skewed, and their variance is less sure
_LEAST_FREEDOM = 4.0  # of the t quantile, where the days show little of how much they differ
_HALVINGS = 20  # of the range in which a p-value's normal quantile lies
_Z = float(ndtri(0.975))
_MOST_Z = 8.0
_ROUNDS = 3  # of weights and variance between days
_TINY = 1e-12
_Array = np.ndarray


@dataclass(frozen=True, slots=True)
class DayCounts:
    """Counts of several series (first axis) by day (second axis): `k` hits of `n` observations.

    A day without observations has n = 0. `design_effect`: the variance of a rate over its sessions, relative
    to that of independent calls; of each day, or one for each series (an array of series by 1). `weekend`:
    for each day, whether it is a Saturday or a Sunday; for all series alike, or for each (series by day).
    """

    k: _Array
    n: _Array
    design_effect: _Array
    weekend: _Array


def count_days(
    counts: Sequence[Sequence[tuple[int, int]]], design_effects: Sequence[float], weekend: Sequence[bool]
) -> DayCounts:
    """Return the counts of several series, given (k, n) of each day and the design effect of each series."""
    days = np.asarray(counts, dtype=float).reshape(len(design_effects), len(weekend), 2)
    effects = np.asarray(design_effects, dtype=float)[:, None]
    return DayCounts(days[..., 0], days[..., 1], effects, np.asarray(weekend, dtype=bool))


def compare_with_days_before(before: DayCounts, now: DayCounts) -> list[Difference | None]:
    """Return by how much each series' rate on the days `now` differs from what the days `before` predict.

    None where a series has no observation now, or on fewer than LEAST_DAYS of the days before. A single
    newest day is compared with the days of its kind, weekends or weekdays, where there are four of either
    kind: a constant difference between them is then not taken for a change. `estimate` is the difference from
    the mean of these days, each weighted by the inverse of its variance.
    """
    days = (before.n > 0).sum(axis=-1)
    chosen = np.nonzero((days >= LEAST_DAYS) & (now.n.sum(axis=-1) > 0))[0]
    found: list[Difference | None] = [None] * len(days)
    if not len(chosen):
        return found
    newest = _take(now, chosen)
    rate, seen, expected = _predict(_take(before, chosen), newest)
    estimate, centre, reference = rate - expected.rate, seen.centre, expit(expected.centre)
    low = np.minimum(expit(centre - _reach(seen, expected, -_Z)) - reference, estimate)
    high = np.maximum(expit(centre + _reach(seen, expected, _Z)) - reference, estimate)
    p = _p_value(seen, expected)
    for i, place in enumerate(chosen):
        found[place] = Difference(
            float(estimate[i]),
            float(low[i]),
            float(high[i]),
            float(p[i]),
            f"prediction from {days[place]} days before, 95 %",
        )
    return found


def find_unlike_days(before: DayCounts, now: DayCounts) -> tuple[_Array, _Array]:
    """Return the p-value of each series as `compare_with_days_before` would, and whether its rate rose.

    For thousands of series: a p-value above 0.05 is only told as 1. Every series has an observation now, and
    enough days before.
    """
    _, seen, expected = _predict(before, now)
    change = seen.centre - expected.centre
    beyond = np.nonzero(np.abs(change) > _reach(seen, expected, -np.sign(change) * _Z))[0]
    p = np.ones(len(change))
    if len(beyond):
        p[beyond] = _p_value(seen.take(beyond), expected.take(beyond))
    return p, change > 0


def measure_deviations(before: DayCounts, later: DayCounts) -> tuple[_Array, _Array]:
    """Return how far each later day lies from the days before, and the variance of that.

    On the arcsine scale: in a day's own kind, weekend or weekday, where there are enough days of either
    before. Days without observations have a deviation of 0 and an infinite variance.
    """
    effect = _pooled_design_effect(before)[:, None]
    used, calls = before.n > 0, before.n / effect
    alike, other = _split_weekends(before.weekend, used)
    x, sampling = _to_arcsine(before.k / effect, calls), 1 / (4 * calls + 2)
    spread, _ = _day_variance(x, sampling, used, [alike, other])
    weight = used / (sampling + spread[:, None])
    is_weekend = np.broadcast_to(later.weekend, later.n.shape)
    mean, doubt = np.zeros(later.n.shape), np.zeros(later.n.shape)
    for kind in (False, True):
        of = weight * np.where(other.any(-1, keepdims=True), before.weekend == kind, True)
        whole = np.maximum(of.sum(axis=-1, keepdims=True), _TINY)
        mean = np.where(is_weekend == kind, (of * x).sum(axis=-1, keepdims=True) / whole, mean)
        doubt = np.where(is_weekend == kind, 1 / whole, doubt)
    later_calls = later.n / np.maximum(later.design_effect, effect)
    deviation = _to_arcsine(later.k / np.maximum(later.design_effect, effect), later_calls) - mean
    variance = 1 / (4 * later_calls + 2) + spread[:, None] + doubt
    seen = later.n > 0
    return np.where(seen, deviation, 0.0), np.where(seen, variance, np.inf)


@dataclass(frozen=True, slots=True)
class _Expected:
    """What the days before predict for the newest days.

    `rate`: the mean; `centre`, `scale` and `freedom`: the t distribution of the newest rate's logit.
    """

    rate: _Array
    centre: _Array
    scale: _Array
    freedom: _Array
    design_effect: _Array

    def take(self, chosen: _Array) -> _Expected:
        return _Expected(*(getattr(self, each.name)[chosen] for each in fields(self)))


@dataclass(frozen=True)
class _Seen:
    """The beta distribution of the newest rate, given its calls (Jeffreys); `centre`: its median's logit."""

    hits: _Array
    misses: _Array

    @cached_property
    def centre(self) -> _Array:
        return self.quantile(0.0)

    def take(self, chosen: _Array) -> _Seen:
        return _Seen(self.hits[chosen], self.misses[chosen])

    def quantile(self, z: _Array | float) -> _Array:
        """Return the logit of the quantile that belongs to the normal quantile `z`."""
        # Of the rarer side: a quantile close to 1 has few digits left.
        turned = self.hits > self.misses
        chance = ndtr(np.where(turned, -np.asarray(z), z))
        rarer = betaincinv(np.minimum(self.hits, self.misses), np.maximum(self.hits, self.misses), chance)
        odds = np.log(np.maximum(rarer, 1e-300)) - np.log1p(-rarer)
        return np.asarray(np.where(turned, -odds, odds))


def _take(several: DayCounts, chosen: _Array) -> DayCounts:
    return DayCounts(
        several.k[chosen].astype(float),
        several.n[chosen].astype(float),
        several.design_effect[chosen],
        several.weekend[chosen] if several.weekend.ndim > 1 else several.weekend,
    )


def _predict(before: DayCounts, now: DayCounts) -> tuple[_Array, _Seen, _Expected]:
    """Return each series' rate now, with what is seen of it and what the days before predict."""
    expected = _expect(before, now)
    n = now.n.sum(axis=-1)
    rate = now.k.sum(axis=-1) / n
    calls = n / np.maximum(_pooled_design_effect(now), expected.design_effect)
    return rate, _Seen(rate * calls + 0.5, (1 - rate) * calls + 0.5), expected


def _pooled_design_effect(of: DayCounts) -> _Array:
    """Return the mean design effect of the days, weighted by how well each of them shows it: k(n-k)/n."""
    weight = of.k * (of.n - of.k) / np.maximum(of.n, 1)
    weight = np.where(weight.sum(axis=-1, keepdims=True) > 0, weight, of.n)
    return np.asarray((weight * of.design_effect).sum(axis=-1) / weight.sum(axis=-1))


def _expect(before: DayCounts, now: DayCounts) -> _Expected:
    effect = _pooled_design_effect(before)
    calls = before.n / effect[:, None]
    used = before.n > 0
    kinds = _kinds(before, now, used)
    x = _to_arcsine(before.k / effect[:, None], calls)
    sampling = 1 / (4 * calls + 2)
    spread, doubt = _day_variance(x, sampling, used, kinds)
    weight = kinds[0] * used / (sampling + spread[:, None])
    whole = weight.sum(axis=-1)
    rate = (weight * before.k / np.maximum(before.n, 1)).sum(axis=-1) / whole
    worth = calls.sum(axis=-1)
    inner = (rate * worth + 0.5) / (worth + 1)  # off 0 and 1
    to_logit = 4 / (inner * (1 - inner))  # of a variance on the arcsine scale (the delta method)
    share = now.n / now.n.sum(axis=-1, keepdims=True)
    alike = (1 + _ALIKE) / (1 - _ALIKE) if share.shape[-1] > 1 else 1.0
    of_now = to_logit * np.minimum((share**2).sum(axis=-1) * alike, 1.0)
    # Neighbouring days may be alike: their mean is then less sure than they show (chosen by simulation).
    doubled = spread * (weight**2).sum(axis=-1) / whole**2
    variance = of_now * spread + to_logit * (1 / whole + doubled)
    whole_variance = variance + effect / (now.n.sum(axis=-1) * inner * (1 - inner))
    # Satterthwaite 1946: only the variance between days is estimated.
    freedom = np.maximum(
        _CAUTION * 2 * (whole_variance / np.maximum(of_now * doubt, _TINY)) ** 2, _LEAST_FREEDOM
    )
    # The mean of a rate lies above its median where the logits of days are symmetric (to second order).
    centre = logit(inner) - to_logit * spread / 2 * (1 - 2 * inner)
    return _Expected(rate, centre, np.sqrt(variance), freedom, effect)


def _day_variance(x: _Array, sampling: _Array, used: _Array, kinds: list[_Array]) -> tuple[_Array, _Array]:
    """Return the variance between days around the mean of their kind, and its standard error.

    `x`: the values of the days; `sampling`: the variance of each that the sessions explain. The estimate by
    moments may be negative. So it is replaced by the mean of a normal distribution around it that is cut off
    at 0: days hardly ever differ by nothing, and the prediction must not be sure that they do.
    """
    freedom = np.maximum(used.sum(axis=-1) - sum(kind.any(axis=-1) for kind in kinds), 1)
    moment = np.zeros(len(x))
    for _ in range(_ROUNDS):
        weight = used / (sampling + np.maximum(moment, 0.0)[:, None])
        excess, scale = np.zeros(len(x)), np.zeros(len(x))
        for kind in kinds:
            of = weight * kind
            whole = np.maximum(of.sum(axis=-1), _TINY)
            mean = (of * x).sum(axis=-1) / whole
            excess += (of * ((x - mean[:, None]) ** 2 - sampling)).sum(axis=-1)
            excess += (of**2 * sampling).sum(axis=-1) / whole
            scale += whole - (of**2).sum(axis=-1) / whole
        moment = excess / np.maximum(scale, _TINY)
    typical = used.sum(axis=-1) / (used / sampling).sum(axis=-1)
    doubt = np.sqrt(2 / freedom) * (np.maximum(moment, 0.0) + typical)
    a = moment / doubt
    return moment + doubt * np.exp(-a * a / 2) / sqrt(2 * pi) / np.maximum(ndtr(a), _TINY), doubt


def _kinds(before: DayCounts, now: DayCounts, used: _Array) -> list[_Array]:
    """Return masks of the earlier days: those of the newest day's kind, then the others."""
    alike, other = _split_weekends(before.weekend == now.weekend[..., -1:], used)
    is_single = now.n.shape[-1] == 1
    return [alike | (not is_single), other & is_single]


def _split_weekends(first: _Array, used: _Array) -> tuple[_Array, _Array]:
    """Return masks of the days of the `first` kind and of the others; all are first where one has too few."""
    mask = np.broadcast_to(first, used.shape)
    enough = ((used & mask).sum(axis=-1) >= _LEAST_OF_KIND) & ((used & ~mask).sum(axis=-1) >= _LEAST_OF_KIND)
    return mask | ~enough[:, None], ~mask & enough[:, None]


def _to_arcsine(k: _Array, n: _Array) -> _Array:
    return np.asarray(np.arcsin(np.sqrt((k + 0.375) / (n + 0.75))))


def _reach(seen: _Seen, expected: _Expected, z: _Array | float) -> _Array:
    """Return how far the combined interval reaches from the newest rate, below it for negative `z`."""
    own = seen.quantile(z) - seen.centre
    other = expected.scale * stdtrit(expected.freedom, ndtr(-np.abs(z)))
    return np.asarray(np.hypot(own, other))


def _p_value(seen: _Seen, expected: _Expected) -> _Array:
    """Return the two-sided p-value: the level at which the combined interval ends at 0, by bisection."""
    change = seen.centre - expected.centre
    sign = -np.sign(change)
    beyond = np.abs(change) > _reach(seen, expected, sign * _Z)
    low = np.where(beyond, _Z, 0.0)
    high = np.where(beyond, _MOST_Z, _Z)
    for _ in range(_HALVINGS):
        z = (low + high) / 2
        inside = np.abs(change) > _reach(seen, expected, sign * z)
        low, high = np.where(inside, z, low), np.where(inside, high, z)
    return np.asarray(2 * ndtr(-np.where(beyond, high, low)))
