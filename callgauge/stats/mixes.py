"""Compares two slices of calls at a common mix of strata, and tells whether the plain rates misled.

Two models that get different work cannot be compared by their plain rates: the model with the harder tools
looks worse (Simpson 1951). Direct standardisation weights the strata of both models by the mix of the two
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from scipy.special import ndtr

from callgauge.stats.differences import Difference
from callgauge.stats.intervals import Share, Z

_COVERED = 0.8  # below this share of the calls the same mix is that of another question


@dataclass(frozen=True, slots=True)
class StandardisedDifference:
    """The `difference` of two slices at a common mix of strata, and their rates `of` and `against` there.

    `covered` is the share of calls whose stratum occurs in both slices. `flips` is True when the plain and
    the adjusted difference point in opposite directions.
    """

    difference: Difference
    of: float
    against: float
    covered: float
    flips: bool

    @property
    def is_representative(self) -> bool:
        """True when the strata that both slices have cover at least 80 % of the calls."""
        return self.covered >= _COVERED


def standardise(strata: Sequence[tuple[Share, Share]]) -> StandardisedDifference | None:
    """Return the difference at the mix of both slices together; None when no stratum occurs in both.

    `strata`: the shares (of, against) of each stratum; only strata with observations in both are compared.
    The variance of each stratum's rate is that of the centre of its Wilson interval, so a stratum without a
    failure is not taken for certain (Agresti & Coull 1998).
    """
    both = [(of, against) for of, against in strata if of.n and against.n]
    total = sum(of.n + against.n for of, against in strata)
    shared = sum(of.n + against.n for of, against in both)
    if not both:
        return None
    weights = [(of.n + against.n) / shared for of, against in both]
    of_rate = sum(w * one.k / one.n for w, (one, _) in zip(weights, both, strict=True))
    against_rate = sum(w * other.k / other.n for w, (_, other) in zip(weights, both, strict=True))
    variance = sum(
        w * w * (_variance(one) + _variance(other)) for w, (one, other) in zip(weights, both, strict=True)
    )
    estimate, error = of_rate - against_rate, sqrt(variance)
    reach = Z * error
    p = 2 * float(ndtr(-abs(estimate) / error))
    method = f"standardised over {len(both):,} strata, 95 %"
    found = Difference(estimate, max(-1.0, estimate - reach), min(1.0, estimate + reach), p, method)
    plain = _rate([one for one, _ in strata]) - _rate([other for _, other in strata])
    return StandardisedDifference(found, of_rate, against_rate, shared / total, plain * estimate < 0)


def _variance(share: Share) -> float:
    n = share.effective_n + Z * Z
    centre = ((share.rate or 0.0) * share.effective_n + Z * Z / 2) / n
    return centre * (1 - centre) / n


def _rate(shares: Sequence[Share]) -> float:
    n = sum(share.n for share in shares)
    return sum(share.k for share in shares) / n if n else 0.0
