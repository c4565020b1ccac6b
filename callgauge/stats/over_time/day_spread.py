"""How far the difference of two spans of days may be off because days differ by themselves.

The rates of two spans differ by chance, through their sessions, and because each day is a good or a bad one.
The first is known from the sessions. What days differ beyond that is estimated by moments from the rates of
the days around the mean of their own span (the ratio estimator with days as clusters; Cochran 1977, chapter
6), both spans together, and enters the variance of either mean. Neighbouring days may be alike, which makes
the mean of many days less sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from callgauge.stats.intervals import t_quantile
from callgauge.stats.rates import Share

_ALIKE = 0.6  # the correlation of neighbouring days that is allowed for; by simulation it holds up to 0.5
_LEAST_FREEDOM = 4.0  # of the t quantile, where few days show how much they differ


@dataclass(frozen=True, slots=True)
class _Span:
    """One span of days. `sampling`: the variance of its rate through its sessions; `seen`: by its days.

    `weights`: the sum of the squared weights of its days; `freedom`: one less than there are days.
    """

    sampling: float
    seen: float
    weights: float
    freedom: int


def reach_of_days(
    whole: tuple[Share, Share], days: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
) -> float:
    """Return how far a 95 % interval of the difference of two spans reaches to either side.

    `whole`: the rate of each span; `days`: (k, n) of each of its days.
    """
    spans = [_measure_span(one, its) for one, its in zip(whole, days, strict=True)]
    freedom = sum(span.freedom for span in spans)
    sampling = sum(span.sampling for span in spans)
    if not freedom:
        return inf
    beyond = sum(span.freedom * (span.seen - span.sampling) / span.weights for span in spans if span.freedom)
    between = max(0.0, beyond / freedom) * (1 + _ALIKE) / (1 - _ALIKE) * sum(span.weights for span in spans)
    variance = sampling + between
    if not variance:
        return 0.0
    # Satterthwaite 1946: only the variance between days is estimated.
    known = variance**2 * freedom / between**2 if between else inf
    return t_quantile(max(_LEAST_FREEDOM, known)) * sqrt(variance)


def _measure_span(whole: Share, days: Sequence[tuple[int, int]]) -> _Span:
    known = [(k, n) for k, n in days if n]
    total = sum(n for _, n in known)
    rate = sum(k for k, _ in known) / total if total else 0.0
    several = len(known)
    spread = sum((k - rate * n) ** 2 for k, n in known) / total**2 if total else 0.0
    return _Span(
        sampling=rate * (1 - rate) / whole.effective_n if whole.effective_n else 0.0,
        seen=spread * several / (several - 1) if several > 1 else 0.0,
        weights=sum(n * n for _, n in known) / total**2 if total else 1.0,
        freedom=max(0, several - 1),
    )
