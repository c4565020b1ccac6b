"""Special functions for intervals and tests, with the names and arguments of scipy.special.

scipy would add 143 MB to an installation and 0.3 s to each start. Arguments are numbers or arrays that
broadcast. An argument that is `nan` or outside the domain gives `nan`. tests/stats/test_special_functions.py
compares each function with scipy. DLMF: NIST Digital Library of Mathematical Functions,
https://dlmf.nist.gov.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
_NORMAL = NormalDist()
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_END = 40.0  # the quadrature ends where the integrand is e^-40 of its first value
_AT_ONCE = 256  # elements per block, so that the quadrature fits into the processor's cache
_LEAST_SHAPE = 3.0  # from this shape on, the quadrature is exact to 14 digits
_MOST_STEPS = 40  # maximum number of Newton steps; about five are needed
_SHIFT = 10  # from this x on, the asymptotic series of digamma and trigamma are exact to 16 digits
_TERMS = 40  # number of terms of the Chebyshev series of a quantile of Student's t
_MOST_FRACTIONS = 100_000  # maximum number of terms; a million observations need 1,000
_TINY = 1e-300  # this value replaces a 0 in a continued fraction


def _normal_quantile(chance: float) -> float:
    if 0 < chance < 1:
        return _NORMAL.inv_cdf(chance)
    return {0.0: -math.inf, 1.0: math.inf}.get(chance, math.nan)


def _gamma_ratio(shape: float) -> float:
    """Return Γ(shape + 1/2) / Γ(shape + 1). From shape 80 on, use the series of DLMF 5.11.8."""
    if shape < 80:
        return math.gamma(shape + 0.5) / math.gamma(shape + 1)
    inverse = 1 / shape
    square = inverse * inverse
    return math.sqrt(inverse) * math.exp(-inverse * (1 / 8 - square * (1 / 192 - square / 640)))


_erfcs, _normal_quantiles, _gamma_ratios = (
    np.frompyfunc(function, 1, 1) for function in (math.erfc, _normal_quantile, _gamma_ratio)
)


def ndtr(x: Any) -> Any:
    """Return the distribution function of the normal distribution, erfc(-x / √2) / 2 (DLMF 7.2.2)."""
    return np.asarray(_erfcs(np.asarray(x, dtype=float) * -math.sqrt(0.5)), dtype=float)[()] / 2


def ndtri(chance: Any) -> Any:
    """Return the quantile of the normal distribution (Wichura 1988, AS 241, PPND16)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(_normal_quantiles(np.asarray(chance, dtype=float)), dtype=float)[()]


def stdtr(freedom: Any, t: Any) -> Any:
    """Return the distribution function of Student's t.

    Left of 0, the result is half the regularised incomplete beta function I(freedom / 2, 1/2) at freedom /
    (freedom + t²) (DLMF 8.17). `_scaled_tail` explains the method.
    """
    freedom, t = np.broadcast_arrays(np.asarray(freedom, dtype=float), np.asarray(t, dtype=float))
    is_finite = (freedom > 0) & np.isfinite(freedom)
    shape = np.where(is_finite, freedom, 1.0) / 2
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.abs(t) / np.sqrt(2 * shape)
        log = np.where(ratio < 1, np.log1p(np.minimum(ratio, 1) ** 2), 2 * np.log(np.hypot(1, ratio)))
        depth = np.sqrt(shape * np.where(np.isfinite(log), log, 0.0))
        tail = np.minimum(np.exp(-depth * depth) * _scaled_tail(shape, depth)[0], 0.5)
    tail = np.where(np.isinf(t), 0.0, np.where(np.isnan(t), np.nan, tail))
    if not is_finite.all():
        tail = np.where(is_finite, tail, np.where(freedom == np.inf, ndtr(-np.abs(t)), np.nan))
    return np.where(t > 0, 1 - tail, tail)[()]


def stdtrit(freedom: Any, chance: Any) -> Any:
    """Return the quantile of Student's t. Within 0.001 of the median, only the absolute error is small."""
    freedom, chance = np.broadcast_arrays(np.asarray(freedom, dtype=float), np.asarray(chance, dtype=float))
    is_finite = (freedom > 0) & np.isfinite(freedom)
    tail = np.minimum(chance, 1 - chance)
    is_inner = is_finite & (tail > 0) & (tail < 0.5)
    shape = np.where(is_inner, freedom, 1.0) / 2
    depth = _depth_of_tail(shape, np.where(is_inner, tail, 0.25))
    t = np.where(is_inner, _t_at_depth(shape, depth), np.where(freedom > 0, np.abs(ndtri(tail)), np.nan))
    return np.where(chance < 0.5, -t, t)[()]


def stdtrit_of(chance: float) -> Callable[[Any], Any]:
    """Return a fast function that gives `stdtrit` of one fixed chance for finite degrees of freedom.

    The chance is between 0.5 and 1. From 1 degree of freedom on, the function uses a Chebyshev series
    (Trefethen 2013, Approximation Theory and Approximation Practice, chapter 8) of the quantile's depth as a
    function of 1 / (freedom + 1).
    """
    series = _depth_series(chance)

    def quantile(freedom: Any) -> Any:
        if np.min(freedom, initial=1.0) < 1:
            few = np.minimum(freedom, 1.0)
            return np.where(np.less(freedom, 1), stdtrit(few, chance), quantile(np.maximum(freedom, 1.0)))[()]
        twice = 8 / (freedom + 1) - 2
        current = other = 0.0
        for coefficient in series:  # Clenshaw's recurrence
            current, other = twice * current - other + coefficient, current
        return _t_at_depth(freedom / 2, current - twice / 2 * other)

    return quantile


@lru_cache(maxsize=64)
def _depth_series(chance: float) -> tuple[float, ...]:
    nodes = np.cos(np.pi * (np.arange(_TERMS) + 0.5) / _TERMS)
    depths = _depth_of_tail((4 / (nodes + 1) - 1) / 2, np.full(_TERMS, 1 - chance))
    return tuple(np.polynomial.chebyshev.chebfit(nodes, depths, _TERMS - 1)[::-1].tolist())


def _t_at_depth(shape: Any, depth: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.sqrt(2 * shape) * np.sqrt(np.expm1(depth * depth / shape))


def _depth_of_tail(shape: Floats, tail: Floats) -> Floats:
    """Return the depth (see `_scaled_tail`) at which Student's t has this upper tail, by Newton's method."""
    depth, log_tail = np.abs(ndtri(tail)) / math.sqrt(2), np.log(tail)
    is_done = np.zeros(depth.shape, dtype=bool)
    for _ in range(_MOST_STEPS):
        scaled, slope = _scaled_tail(shape, depth)
        step = (np.log(scaled) - depth * depth - log_tail) * scaled / slope
        # A finished element does not change, so its value does not depend on the other elements of the array.
        depth = np.where(is_done, depth, np.maximum(depth + step, 0.0))
        is_done |= np.abs(step) <= 1e-8 * depth  # each step squares the error
        if is_done.all():
            break
    return np.asarray(depth)


def _scaled_tail(shape: Floats, depth: Floats) -> tuple[Floats, Floats]:
    """Return the upper tail of Student's t and minus the derivative of this tail, each times e^(depth²).

    `shape` is half the degrees of freedom, `depth` is √(shape · log(1 + t² / freedom)). With e^(-y² / shape)
    as the variable of the integral in DLMF 8.17.1, the tail is Γ(shape + 1/2) / (Γ(shape + 1) √π) · ∫ e^(-y²)
    y / √(1 - e^(-y² / shape)) dy, from `depth` to infinity. The integral is the tail of a normal distribution
    with a factor that hardly changes, so Gauss-Legendre quadrature is exact. Small shapes are raised first
    (DLMF 8.17.20).
    """
    factor = np.asarray(_gamma_ratios(shape), dtype=float) / math.sqrt(math.pi)
    below = np.sqrt(-np.expm1(-depth * depth / shape))
    slope = factor * np.where(below > 0, depth / np.where(below > 0, below, 1.0), np.sqrt(shape))
    is_small = shape < _LEAST_SHAPE
    if is_small.any():
        raised = np.where(is_small, shape + 1, shape)
        inner, _ = _scaled_tail(raised, depth * np.sqrt(raised / shape))
        return np.where(is_small, (1 - below * below) * inner + factor / 2 * below, inner), slope
    integral = np.empty_like(depth)
    flat = integral.reshape(-1)
    shapes, depths = shape.reshape(-1), depth.reshape(-1)
    for start in range(0, depth.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        flat[part] = _integrate(shapes[part], depths[part])
    return factor * integral, slope


def _integrate(shape: Floats, depth: Floats) -> Floats:
    half = _END / (np.sqrt(depth * depth + _END) + depth) / 2
    way = np.multiply.outer(_NODES + 1, half)
    y = way + depth
    values = np.expm1(y * y / -shape)
    np.negative(values, out=values)
    np.sqrt(values, out=values)
    np.divide(y, values, out=values)
    y += depth
    y *= way
    np.negative(y, out=y)
    values *= np.exp(y, out=y)
    values *= _WEIGHTS[:, np.newaxis]
    # Terms are added one by one, because a matrix product rounds differently for other numbers of elements.
    return np.asarray(half * np.add.accumulate(values, axis=0)[-1])


def digamma(x: Any) -> Any:
    """Return the digamma function for x ≥ 0 (DLMF 5.5.2 and 5.11.2).

    Near the zero of the function, only the absolute error is small.
    """
    x = np.asarray(x, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        y = np.where(x >= 0, x, np.nan) + _SHIFT
        s = 1 / y**2
        series = s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s / 12)))))
        below = (1 / np.add.outer(np.arange(_SHIFT), x)).sum(axis=0)
        return (np.log(y) - 0.5 / y - s * (1 / 12 - series) - below)[()]


def trigamma(x: Any) -> Any:
    """Return the derivative of digamma for x ≥ 0, polygamma(1, x) (DLMF 5.15.5 and 5.15.8)."""
    x = np.asarray(x, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        y = np.where(x >= 0, x, np.nan) + _SHIFT
        s = 1 / y**2
        series = s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * (691 / 2730 - s * 7 / 6)))))
        below = (1 / np.add.outer(np.arange(_SHIFT), x) ** 2).sum(axis=0)
        return (1 / y + s / 2 + s / y * (1 / 6 - series) + below)[()]


def betaincinv(a: float, b: float, chance: float) -> float:
    """Return the quantile of the beta distribution, by Newton's method within a shrinking bracket."""
    if not (0 < a < math.inf and 0 < b < math.inf and 0 <= chance <= 1):
        return math.nan
    if chance in (0, 1):
        return float(chance)
    log_beta = _log_beta(a, b)
    low, high, x = 0.0, 1.0, a / (a + b)
    while low < x < high:
        log_density = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - log_beta
        excess = _betainc(a, b, x, log_density + math.log(x) + math.log1p(-x)) - chance
        low, high = (x, high) if excess < 0 else (low, x)
        step = excess * math.exp(min(-log_density, 700.0))
        if abs(step) <= 4e-16 * x:
            break
        x = x - step if low < x - step < high else (low + high) / 2
    return x


def _log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function. Large values use the series of DLMF 5.11.1."""
    a, b = sorted((a, b))
    if b < 20:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    def rest(z: float) -> float:
        square = 1 / (z * z)
        return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / z

    # The logarithms of Γ are large, so their difference is computed without the digits they have in common.
    rise = (b - 0.5) * math.log1p(a / b) + a * (math.log(a + b) - 1) + rest(a + b) - rest(b)
    return math.lgamma(a) - rise


def _betainc(a: float, b: float, x: float, log_factor: float) -> float:
    """Return the regularised incomplete beta function, by the continued fraction of DLMF 8.17.22.

    `log_factor` is the logarithm of x^a (1 - x)^b / B(a, b). The fraction is evaluated by the method of Lentz
    (1976), as modified by Thompson & Barnett (1986).
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _betainc(b, a, 1 - x, log_factor)
    value = upper = 1.0
    lower = 0.0
    for number in range(_MOST_FRACTIONS):
        m = number // 2
        scale = x / ((a + number) * (a + number + 1))
        part = (m + 1) * (b - m - 1) * scale if number % 2 else -(a + m) * (a + b + m) * scale
        lower = 1 / (1 + part * lower or _TINY)
        upper = 1 + part / upper or _TINY
        value *= upper * lower
        if abs(upper * lower - 1) < 2e-16:
            break
    return math.exp(log_factor) / (a * value)


def binomial_chances(number: int, chance: float) -> Floats:
    """Return the probabilities that 0, 1, … `number` of `number` independent trials succeed."""
    if chance in (0, 1):
        return np.asarray(np.eye(number + 1)[int(chance) * number])
    hits = np.arange(number + 1)
    log_factorials = np.array([math.lgamma(count + 1) for count in range(number + 1)])
    ways = log_factorials[-1] - log_factorials - log_factorials[::-1]
    return np.asarray(np.exp(ways + hits * math.log(chance) + hits[::-1] * math.log1p(-chance)))


@cache
def poisson_mean(count: int, chance: float) -> float:
    """Return the mean at which a Poisson variable is at least `count` with this probability."""
    low, high = 0.0, 2.0 * count + 50
    while low < (mean := (low + high) / 2) < high:
        fewer = math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count))
        low, high = (low, mean) if 1 - fewer > chance else (mean, high)
    return mean
