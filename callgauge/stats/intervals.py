"""The 95 % interval of one rate, widened when calls come in sessions.

Calls of one session are alike: the same model, task and prompt. An interval that counts them as independent
is too narrow, often by half (Miller 2024, arXiv 2411.00640). So the number of calls is divided by the design
effect, estimated from the sessions, and the Wilson interval is taken over that effective number of calls.
Where only about ten sessions have a hit, the design effect is underestimated: the interval covers some 88 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

from scipy.special import ndtri, stdtrit

ENOUGH = 30  # below this many observations a rate is shown pale: its interval spans most of the scale
LEVEL = 0.95
Z = float(ndtri(0.5 + LEVEL / 2))


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a share, both ends within 0 to 1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Share:
    """A share: `k` hits of `n` observations, with sums over sessions for the design effect.

    `sessions` is the number of sessions that the n observations come from; None when all observations are
    independent. `kk`, `kn` and `nn` are the sums over the sessions of k², k·n and n². The design effect needs
    no more than these sums, and they can be added up over days. Raises ValueError unless 0 <= k <= n.
    """

    k: int
    n: int
    sessions: int | None = None
    kk: float = 0.0
    kn: float = 0.0
    nn: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.k <= self.n:
            raise ValueError(f"{self.k} of {self.n} is no share")

    def __add__(self, other: Share) -> Share:
        """Return the share of both together. A session that occurs in both counts twice."""
        apart = self.sessions is None and other.sessions is None
        return Share(
            self.k + other.k,
            self.n + other.n,
            None if apart else (self.sessions or 0) + (other.sessions or 0),
            self.kk + other.kk,
            self.kn + other.kn,
            self.nn + other.nn,
        )

    @property
    def rate(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def is_clustered(self) -> bool:
        return self.sessions is not None and self.sessions < self.n

    @property
    def design_effect(self) -> float:
        """The variance relative to that of independent calls; at least 1.

        This is the linearised variance of the ratio k/n over sessions (Cochran 1977, 6.13), divided by
        p(1-p)/n. Where all calls or none are hits, or there is one session, the sessions show no spread; each
        session then counts as one observation.
        """
        if not self.is_clustered or self.sessions is None:
            return 1.0
        p = self.k / self.n
        if self.k in (0, self.n) or self.sessions < 2:
            return self.n / self.sessions
        spread = self.kk - 2 * p * self.kn + p * p * self.nn
        variance = self.sessions / (self.sessions - 1) * spread / self.n**2
        return max(1.0, variance / (p * (1 - p) / self.n))

    @property
    def effective_n(self) -> float:
        """The number of independent calls that would give as much information.

        With few sessions the number is reduced further (Korn & Graubard 1998).
        """
        if not self.is_clustered or self.sessions is None:
            return float(self.n)
        n = self.n / self.design_effect
        if self.sessions < 2:
            return n
        few = t_quantile(self.n - 1) / t_quantile(self.sessions - 1)
        return n * few**2

    @property
    def interval(self) -> Interval | None:
        """The Wilson score interval over the effective number; None when nothing was observed."""
        return None if self.rate is None else _wilson(self.rate, self.effective_n)

    @property
    def method_name(self) -> str:
        """The name of the interval's method, for people."""
        if not self.is_clustered:
            return "Wilson, 95 %"
        return f"Wilson over sessions, 95 % (design effect {self.design_effect:.1f})"


def t_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t for `freedom` degrees of freedom.

    scipy.stats would take a hundred times as long.
    """
    return float(stdtrit(freedom, 0.5 + LEVEL / 2))


def _wilson(p: float, n: float) -> Interval:
    """Return the Wilson score interval (Wilson 1927) of a rate `p`; `n` need not be a whole number."""
    centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    # The ends of a rate of 0 or 1 are exact; arithmetic leaves them a hair beside it.
    return Interval(0.0 if p == 0 else low, 1.0 if p == 1 else high) if isfinite(half) else Interval(0.0, 1.0)
