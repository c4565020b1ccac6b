"""One rate and its uncertainty, when calls come in sessions and the calls of one session are correlated.

A hash of the session id puts every session into one of 50 groups. Only k (hits) and n (calls) of each group
are needed. The variance comes from computing the rate without one group at a time (delete-a-group jackknife;
Wolter 2007, chapter 4; Kott 2001). The design effect of a rate is this variance divided by the variance of
independent calls. The interval is Wilson's over the effective number of calls, with a quantile of Student's t
(modified Wilson interval; Dean & Pagano 2015; Franco et al. 2019).

A design effect from few sessions with a hit is itself uncertain, so it has few degrees of freedom (Korn &
Graubard 1998). The rates of a table therefore share an estimate of the intra-session correlation, and each
design effect is moved towards the value that this correlation predicts. docs/statistics.md has the simulated
coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, inf, log, nan
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import force_setattr, replace

from callgauge.stats.intervals import Floats, Interval, Z, t_quantile, t_quantiles, wilson_bounds
from callgauge.stats.session_groups import GROUPS, DayCounts, Integers
from callgauge.stats.special_functions import digamma, trigamma

ENOUGH = 30
"""With fewer observations, a rate gets no rank, verdict or alert, and pages show the rate pale."""
ENOUGH_SESSIONS = 10
ENOUGH_TO_COMPARE = 5
"""The minimum number of sessions on each side of a judged difference, chosen by simulation."""
_ENOUGH_GROUPS = 8  # with probability 1 / 2,000, ten sessions fall into fewer than 8 of the 50 groups
_GROUPS_TO_COMPARE = 4  # with probability 1 / 60, five sessions fall into fewer than 4 groups
_LEAST_EFFECT = 0.8  # the smallest design effect: values below 1 are mostly chance
_CAUTION = 0.8  # factor for the degrees of freedom, because hits in sessions are skewed
_LENT, _DOUBT = 6.0, 100.0  # prior degrees of freedom that the table gives a rate, and their weight
_LEAST_LENT, _MOST_LENT = 2.0, 30.0
OF_SESSIONS = 0.8  # the table gives a rate at most this factor times (sessions - 1) degrees of freedom
_NOTHING = (0.0, 0.0, 1.0, 1.0)  # the values of a rate that has no degrees of freedom
LEAST_FREEDOM = 4.0  # the table may always give a rate this many degrees of freedom
# maximum design effect of an interval, divided by the design effect of equal observations per session; from
# simulations
_UTMOST = 2.0


class Spread(msgspec.Struct, frozen=True):
    """How much a rate moves when one group of sessions is left out.

    `effect` is the variance divided by the variance of independent observations. `effect` is 0 if it is
    unknown (all observations are hits, none is a hit, or all are in one group). `freedom` holds the degrees
    of freedom of `effect`, or 0 if `effect` is unknown. `base` is 1 / the number of independent observations
    with the same precision. `squares` is the sum of the squared weights of the sessions. For a plain rate,
    `base` is 1/n and `squares` is the sum of n² of the sessions divided by the square of the total n.
    `groups` is the number of groups with an observation. `moves` says how much the rate falls when each group
    is left out.
    """

    effect: float
    freedom: float
    base: float
    squares: float
    groups: int
    moves: Floats

    @property
    def of_whole_sessions(self) -> float:
        """The design effect if all observations of a session were equal."""
        return max(1.0, self.squares / self.base)

    def effect_at(self, correlation: float) -> float:
        """Return the design effect for an intra-session correlation (Kish 1965, for unequal sizes)."""
        return 1 + correlation * (self.of_whole_sessions - 1)


class Likeness(msgspec.Struct, frozen=True):
    """The correlation of the observations of a session, estimated from the other rates of the table.

    `correlation` is the intra-session correlation, 0 to 1. `freedom` holds the degrees of freedom of this
    estimate.
    """

    correlation: float
    freedom: float


class Estimate(msgspec.Struct, frozen=True):
    """A rate with its uncertainty: `effective_n` independent observations, and `freedom` degrees of freedom.

    `own_freedom` holds the degrees of freedom from this rate's own data, without the other rates of the
    table. `moves` says how much the rate falls when each group of sessions is left out. `moves` is None if
    all observations are independent.
    """

    rate: float
    effective_n: float
    freedom: float
    own_freedom: float
    moves: Floats | None = None

    @property
    def interval(self) -> Interval:
        """The Wilson score interval over the effective number of observations."""
        return _find_interval(self.rate, self.effective_n, self.freedom)


@lru_cache(maxsize=10_000)  # a page needs the same estimates again after every click
def _find_interval(rate: float, effective_n: float, freedom: float) -> Interval:
    low, high = wilson_bounds(np.array(rate), np.array(effective_n), np.array(t_quantile(freedom)))
    return Interval(float(low), float(high))


class Share(msgspec.Struct, frozen=True, eq=False):
    """A share: `k` hits of `n` observations. Raises ValueError unless 0 <= k <= n.

    `sessions` is the number of sessions with these observations, if known. A session with several days,
    models or prompts is counted once for each. `by_group` holds k and n of each random group of sessions, of
    shape (2, GROUPS). `by_group` is None when all observations are independent. `by_day` holds k and n of
    each day, if known. `likeness` is the intra-session correlation from the other rates of the table.
    """

    k: int
    n: int
    sessions: int | None = None
    by_group: Floats | None = None
    by_day: DayCounts | None = None
    likeness: Likeness | None = None
    _spread: Spread | None = None
    _estimate: Estimate | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.k <= self.n:
            raise ValueError(f"{self.k} of {self.n} is not a share")
        # `replace` copies this field, but a new `likeness` changes the estimate.
        force_setattr(self, "_estimate", None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Share) and self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    @property
    def _numbers(self) -> tuple[int, int, int | None]:
        return self.k, self.n, self.sessions

    def __add__(self, other: Share) -> Share:
        """Return the sum of both shares. A session in both shares is counted as one session."""
        return Share.sum_up([self, other])

    @classmethod
    def sum_up(cls, several: Sequence[Share]) -> Share:
        """Return the sum of at least one share. A session in several shares is counted as one session."""
        if len(several) == 1:
            return several[0]
        sessions = [share.sessions for share in several if share.sessions is not None]
        groups = [share.by_group for share in several if share.by_group is not None]
        days = [share.by_day for share in several if share.by_day is not None]
        return cls(
            sum(share.k for share in several),
            sum(share.n for share in several),
            sum(sessions) if len(sessions) == len(several) else None,
            np.sum(groups, axis=0) if len(groups) == len(several) else None,
            DayCounts.sum_up(days) if len(days) == len(several) else None,
            next((share.likeness for share in several if share.likeness), None),
        )

    @classmethod
    def from_groups(cls, k: Floats, n: Floats, sessions: int | None = None) -> Share:
        """Return the share of k hits of n observations. `k` and `n` are arrays by group."""
        return cls(int(k.sum()), int(n.sum()), sessions, np.stack([k, n]))

    @property
    def rate(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def complement(self) -> Share:
        """The share of the observations that are not hits, with the mirrored interval."""
        groups = self.by_group
        if groups is not None:
            groups = np.stack([groups[1] - groups[0], groups[1]])
        return Share(self.n - self.k, self.n, self.sessions, groups, likeness=self.likeness)

    @property
    def is_clustered(self) -> bool:
        return self.by_group is not None and self.n > 0

    @property
    def spread(self) -> Spread | None:
        """How the rate varies between sessions, or None if observations are independent."""
        if self._spread is None and self.by_group is not None and self.n:
            force_setattr(self, "_spread", measure_spreads(self.by_group[None, :, None])[0])
        return self._spread

    @property
    def has_enough(self) -> bool:
        """True if there is enough data for a rank or an alert: 30 observations and 10 sessions."""
        return self._has_enough(ENOUGH_SESSIONS, _ENOUGH_GROUPS)

    @property
    def has_enough_to_compare(self) -> bool:
        """True if there is enough data for one side of a difference: 30 observations and 5 sessions."""
        return self._has_enough(ENOUGH_TO_COMPARE, _GROUPS_TO_COMPARE)

    def _has_enough(self, sessions: int, groups: int) -> bool:
        if self.n < ENOUGH:
            return False
        if self.spread is None:
            return True
        if self.sessions is None:
            return self.spread.groups >= sessions
        return self.sessions >= sessions and self.spread.groups >= groups

    @property
    def estimate(self) -> Estimate | None:
        """The rate with its uncertainty, or None when there are no observations."""
        if self._estimate is None and self.n:
            rate = self.k / self.n
            estimate = (
                estimate_rate(rate, self.spread, self.likeness)
                if self.spread
                else Estimate(rate, self.n, inf, inf)
            )
            force_setattr(self, "_estimate", estimate)
        return self._estimate

    @property
    def effective_n(self) -> float:
        """The number of independent observations that would give as much information."""
        estimate = self.estimate
        return estimate.effective_n if estimate else 0.0

    @property
    def design_effect(self) -> float:
        """The variance divided by the variance of independent observations."""
        return self.n / self.effective_n if self.n else 1.0

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the rate, or None when there are no observations."""
        estimate = self.estimate
        return estimate.interval if estimate else None

    @property
    def method_name(self) -> str:
        """The displayed name of the interval's method."""
        if not self.is_clustered:
            return "Wilson, 95 %"
        return f"Wilson over sessions, 95 % (design effect {self.design_effect:.1f})"


def relate_shares(shares: Sequence[Share], tables: Sequence[object] | None = None) -> list[Share]:
    """Return the shares, each with the intra-session correlation from the other shares of its table.

    All shares must have counts by group. `tables` holds the number of each share's table, if there are
    several tables.
    """
    if not shares:
        return []
    counts = np.stack([share.by_group for share in shares if share.by_group is not None])
    spreads = measure_spreads(counts[:, :, None])
    for share, spread in zip(shares, spreads, strict=True):
        force_setattr(share, "_spread", spread)
    places: dict[object, list[int]] = {}
    for place, table in enumerate(tables if tables is not None else [None] * len(shares)):
        places.setdefault(table, []).append(place)
    related = list(shares)
    for group_places in places.values():
        likenesses = lend_likeness([shares[place] for place in group_places])
        for place, likeness in zip(group_places, likenesses, strict=True):
            related[place] = replace(shares[place], likeness=likeness)
    return related


def measure_spreads(counts: Floats, weights: Floats | None = None) -> list[Spread]:
    """Return the spread of each rate.

    `counts` holds k and n, an array of shape (rates, 2, strata, GROUPS). A rate is the sum over strata of
    weight × k/n. `weights` has the shape (rates, strata), and each row adds up to 1. Without `weights`, there
    is one stratum. A stratum of weight 0 may be empty.
    """
    spreads = _measure(counts, weights)
    numbers = (spreads.effect, spreads.freedom, spreads.base, spreads.squares, spreads.groups)
    return [Spread(*row) for row in zip(*(column.tolist() for column in numbers), spreads.moves, strict=True)]


class _Spreads(msgspec.Struct, frozen=True):
    """Many `Spread`s, with one array for each field. `rate` holds the rates."""

    rate: Floats
    effect: Floats
    freedom: Floats
    base: Floats
    squares: Floats
    groups: Floats
    moves: Floats


def _measure(counts: Floats, weights: Floats | None = None) -> _Spreads:
    k, n = counts[:, 0], counts[:, 1]
    hits, totals = k.sum(-1), n.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # `each` is the weight of one observation.
        each = np.where(totals > 0, (1.0 if weights is None else weights) / totals, 0.0)
        rates = np.where(totals > 0, hits / totals, 0.0)
        rest = 1 - n / np.maximum(totals, 1)[..., None]
        # This is the exact change of a stratum's rate when one group is left out.
        lost = np.where(rest > 1e-12, (k - rates[..., None] * n) / rest, 0.0)
        moves = (each[..., None] * lost).sum(1)
        groups = (n.sum(1) > 0).sum(-1)
        variance = (groups - 1) / np.maximum(groups, 1) * (moves * moves).sum(-1)
        rate = (each * hits).sum(-1)
        base = (each * each * totals).sum(-1)
        effect = variance / (rate * (1 - rate) * base)
        freedom = _CAUTION * np.minimum(
            np.minimum(
                _count_evenly((each[..., None] * k).sum(1)), _count_evenly((each[..., None] * (n - k)).sum(1))
            ),
            groups - 1,
        )
        shares = (each[..., None] * n).sum(1)
        # The sum also contains products of different sessions in one group; their expected sum is subtracted.
        squares = ((shares * shares).sum(-1) - shares.sum(-1) ** 2 / GROUPS) / (1 - 1 / GROUPS)
    is_usable = np.isfinite(effect) & np.isfinite(freedom) & (effect > 0) & (groups > 1)
    effect, freedom = np.where(is_usable, effect, 0.0), np.where(is_usable, freedom, 0.0)
    return _Spreads(rate, effect, freedom, base, np.maximum(squares, base), groups, moves)


def _count_evenly(amounts: Floats) -> Floats:
    """Return the effective number of groups (Kish): as many equal groups would have the same variance."""
    return np.asarray(amounts.sum(-1) ** 2 / (amounts * amounts).sum(-1))


def lend_likeness(shares: Sequence[Share]) -> list[Likeness | None]:
    """Return for each share of a table the intra-session correlation from the other shares, or None.

    The correlation is a ratio of sums over the table's rates. It has more degrees of freedom if it predicts
    the design effects of the rates well (empirical Bayes; Morris 1983), but never more than the other rates
    together.
    """
    spreads = [share.spread for share in shares]
    figures = np.array(
        [
            (spread.effect, spread.freedom, spread.base, spread.of_whole_sessions)
            if spread and spread.freedom
            else _NOTHING
            for spread in spreads
        ],
        dtype=float,
    ).reshape(len(spreads), 4)
    rates = np.array([share.rate or 0.0 for share in shares])
    effect, freedom, base, whole = figures.T
    nowhere = np.zeros(len(shares), dtype=int)
    correlation, lent = _lend(rates, effect, freedom, base, whole, nowhere)
    return [
        Likeness(float(each), float(lends)) if lends > 0 else None
        for each, lends in zip(correlation, lent, strict=True)
    ]


def _lend(
    rate: Floats, effect: Floats, freedom: Floats, base: Floats, whole: Floats, table: Integers
) -> tuple[Floats, Floats]:
    """Return for each rate the correlation of its table, and the degrees of freedom of this correlation.

    `whole` holds the design effects if all observations of a session were equal. `table` is the number of
    each rate's table. A rate without degrees of freedom does not contribute to the correlation of its table.
    """
    tables = int(table.max(initial=-1)) + 1

    def sum_up(values: Floats) -> Floats:
        return np.asarray(np.bincount(table, np.where(freedom > 0, values, 0.0), tables), dtype=float)

    unit = rate * (1 - rate) / base
    beyond, most = sum_up((effect - 1) * unit), sum_up((whole - 1) * unit)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.where(most > 0, np.clip(beyond / most, 0.0, 1.0), 0.0)[table]
    # If the intra-session correlation differs between rates, the log design effects vary more than by chance.
    # The degrees of freedom are those of a log chi-squared variable with exactly this extra variance.
    half = np.where(freedom > 0, freedom, 1.0) / 2
    chance = trigamma(half)
    apart = np.log(np.maximum(effect, 0.1) / (1 + correlation * (whole - 1)))
    more = (apart - (digamma(half) - np.log(half))) ** 2 - chance
    weights = 1 / chance**2
    spread_out = (sum_up(more * weights) + _DOUBT * 2 / _LENT) / (sum_up(weights) + _DOUBT)
    agreed = np.clip(2 / np.maximum(spread_out, 1e-9), _LEAST_LENT, _MOST_LENT)
    others = sum_up(freedom)[table] - freedom
    return correlation, np.where(others > 1e-9, np.minimum(agreed[table], others), 0.0)


class EstimateArrays(msgspec.Struct, frozen=True):
    """Many `Estimate`s, with one array of shape (rates,) for each field.

    The shape of `moves` is (rates, GROUPS). `moves` is NaN for rates of independent observations.
    """

    rate: Floats
    effective_n: Floats
    freedom: Floats
    own_freedom: Floats
    moves: Floats

    @classmethod
    def stack(cls, estimates: Sequence[Estimate]) -> EstimateArrays:
        numbers = [(each.rate, each.effective_n, each.freedom, each.own_freedom) for each in estimates]
        rate, effective_n, freedom, own_freedom = np.array(numbers).T
        unknown = np.full(GROUPS, nan)
        moves = np.array([unknown if each.moves is None else each.moves for each in estimates])
        return cls(rate, effective_n, freedom, own_freedom, moves)

    def take(self, rows: Integers) -> EstimateArrays:
        """Return the estimates of some rows."""
        columns = (self.rate, self.effective_n, self.freedom, self.own_freedom, self.moves)
        return EstimateArrays(*(column[rows] for column in columns))

    def make_estimate(self, row: int) -> Estimate:
        numbers = (self.rate, self.effective_n, self.freedom, self.own_freedom)
        rate, effective_n, freedom, own = (float(column[row]) for column in numbers)
        return Estimate(rate, effective_n, freedom, own, self.moves[row])


class RateArrays(EstimateArrays, frozen=True):
    """Many estimates with the number of observations `n` of each rate. `Share` explains `has_enough`."""

    n: Floats
    has_enough: np.ndarray[Any, np.dtype[np.bool_]]


def estimate_rates(counts: Floats, sessions: Floats, table: Integers) -> RateArrays:
    """Return the estimates that `relate_shares` would give, for thousands of rates in one step.

    `counts` holds k and n, an array of shape (rates, 2, GROUPS). `sessions` is the number of sessions of each
    rate. `table` is the number of each rate's table. Every rate must have an observation.
    """
    spreads = _measure(counts[:, :, None])
    n = counts[:, 1].sum(-1)
    enough = (n >= ENOUGH) & (sessions >= ENOUGH_SESSIONS) & (spreads.groups >= _ENOUGH_GROUPS)
    whole = np.maximum(1.0, spreads.squares / spreads.base)
    correlation, lent = _lend(spreads.rate, spreads.effect, spreads.freedom, spreads.base, whole, table)
    both = spreads.freedom + lent
    own = np.log(np.maximum(spreads.effect, _LEAST_EFFECT))
    logs = spreads.freedom * own + lent * np.log(1 + correlation * (whole - 1))
    effect = np.maximum(np.exp(logs / np.maximum(both, 1e-12)), _LEAST_EFFECT)
    with np.errstate(divide="ignore"):
        most = np.maximum(np.maximum(spreads.freedom, LEAST_FREEDOM), OF_SESSIONS * (1 / spreads.squares - 1))
    freedom = np.maximum(1.0, np.minimum(both, most))
    is_wider = t_quantiles(freedom) ** 2 * effect > Z**2 * _UTMOST * whole
    effect = np.where(both > 0, np.where(is_wider, _UTMOST * whole, effect), whole)
    freedom = np.where((both > 0) & ~is_wider, freedom, inf)
    return RateArrays(
        spreads.rate, 1 / (spreads.base * effect), freedom, spreads.freedom, spreads.moves, n, enough
    )


def estimate_rate(rate: float, spread: Spread, likeness: Likeness | None = None) -> Estimate:
    """Return a rate with its uncertainty, from its own design effect and the correlation of the table.

    The interval is at most as wide as with twice the design effect that equal observations in each session
    would give.
    """
    own, lent = spread.freedom, likeness.freedom if likeness else 0.0
    whole = spread.base * spread.of_whole_sessions
    if own + lent <= 0:
        # The intra-session correlation is unknown, so each session counts as one observation.
        return Estimate(rate, 1 / whole, inf, 0.0, spread.moves)
    logs = 0.0
    if own:
        logs += own * log(max(spread.effect, _LEAST_EFFECT))
    if likeness and lent:
        logs += lent * log(spread.effect_at(likeness.correlation))
    effect = max(exp(logs / (own + lent)), _LEAST_EFFECT)
    # Data from the table cannot replace sessions, because a rate over few sessions stays skewed.
    freedom = min(own + lent, max(own, LEAST_FREEDOM, OF_SESSIONS * (1 / spread.squares - 1)))
    estimate = Estimate(rate, 1 / (spread.base * effect), max(1.0, freedom), own, spread.moves)
    utmost = Estimate(rate, 1 / (_UTMOST * whole), inf, own, spread.moves)
    return min(
        estimate, utmost, key=lambda candidate: t_quantile(candidate.freedom) ** 2 / candidate.effective_n
    )
