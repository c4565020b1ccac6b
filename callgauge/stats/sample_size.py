"""Computes how many more sessions show a difference of two rates, and which difference the present sessions
can show.
"""

from __future__ import annotations

from math import ceil, inf

from callgauge.stats.differences import Difference
from callgauge.stats.paired import FEWEST_UNLIKE
from callgauge.stats.rates import Share
from callgauge.stats.sequential import chance_above, find_boundaries
from callgauge.stats.special_functions import binomial_chances, ndtri, poisson_mean

POWER = 0.8  # the chance that a real difference is found
_MOST = 10_000_000  # if a comparison needs more sessions, `sessions_needed` returns None


def sessions_needed(share: Share, against: Share, difference: float, comparisons: int = 1) -> int | None:
    """Return how many more sessions each variant needs to show a `difference` with 80 % power.

    `difference` is a share: 0.02 is two points. The true rates are assumed to be `difference` apart, around
    the mean of the present rates. Each of `comparisons` comparisons is tested at 5 % / `comparisons`. The
    variance comes from the unpooled two-sample formula (Fleiss, Levin & Paik 2003, 4.2), with the present
    design effects and observations per session. Return 0 if the present sessions are enough. Return None if a
    variant has no session, or if ten million more sessions are not enough.
    """
    arms = [arm for arm in (share, against) if arm.n and arm.sessions]
    if len(arms) < 2 or not difference:
        return None
    unit = _mean_variance(sum(arm.rate or 0.0 for arm in arms) / 2, difference)
    allowed = _allowed_variance(difference, comparisons)
    # These are the numbers of independent observations per session.
    worth = [arm.effective_n / (arm.sessions or 1) for arm in arms]

    def variance(more: float) -> float:
        return sum(
            unit / (each * ((arm.sessions or 0) + more)) if each else inf
            for arm, each in zip(arms, worth, strict=True)
        )

    if variance(0) <= allowed:
        return 0
    least, most = 0.0, float(_MOST)
    if variance(most) > allowed:
        return None
    while most - least > 0.5:
        middle_number = (least + most) / 2
        least, most = (least, middle_number) if variance(middle_number) <= allowed else (middle_number, most)
    return ceil(most)


def smallest_shown(comparison: Difference, comparisons: int = 1) -> float:
    """Return the smallest true difference that the present sessions would show with 80 % power.

    The difference is a share, calculated from the width of the 95 % interval. `comparisons` is the number of
    comparisons.
    """
    half = (comparison.high - comparison.low) / 2
    z = -float(ndtri(0.025 / comparisons)) + float(ndtri(POWER))
    return half * z / -float(ndtri(0.025))


def tasks_needed_at(
    rate: float,
    difference: float,
    comparisons: int = 1,
    *,
    worth: float = 1.0,
    alpha: float = 0.05,
    correlation: float = 0.0,
    repeats: int = 1,
) -> int | None:
    """Return how many tasks two variants must both try to show a `difference` of a share with 80 % power.

    The formula is the formula of `sessions_needed`, but without earlier data. The two rates are `difference`
    apart around `rate`. A trial is worth `worth` independent observations. `comparisons` is the number of
    variants that are compared with the reference, each at `alpha` / `comparisons`. `correlation` is the
    correlation of two trials of one task, in the same variant or in different variants. The result is large
    enough that the variants differ in `FEWEST_UNLIKE` tasks with the same power. Return None if `difference`
    is 0.
    """
    if not difference or worth <= 0:
        return None
    unit = 2 * _mean_variance(rate, difference) / worth
    enough = _pairs_needed(unit, difference, comparisons, alpha, correlation, repeats)
    unlike = poisson_mean(FEWEST_UNLIKE, POWER)
    chance = _chance_to_differ(rate, difference, max(1, round(worth * repeats))) * (1 - correlation)
    return max(enough, ceil(unlike / chance)) if chance > 0 else None


def tasks_needed_for_amount(
    deviation: float,
    difference: float,
    comparisons: int = 1,
    *,
    alpha: float = 0.05,
    correlation: float = 0.0,
    repeats: int = 1,
) -> int | None:
    """Return the number of tasks that show a difference of an amount, such as tokens.

    `deviation` is the standard deviation over trials.
    """
    if not difference:
        return None
    return _pairs_needed(2 * deviation**2, difference, comparisons, alpha, correlation, repeats)


def trial_worth(history: Share, calls: float) -> float:
    """Return how many independent calls have as much information as the calls of one trial.

    `calls` is the mean number of calls in a trial. These calls are assumed to be as correlated as the calls
    of a session (Kish 1965: the design effect is 1 + correlation · (size - 1)).
    """
    if not history.n or not history.sessions or not history.effective_n:
        return max(1.0, calls)
    size, effect = history.n / history.sessions, history.n / history.effective_n
    correlation = min(1.0, max(0.0, (effect - 1) / (size - 1))) if size > 1 else 0.0
    return calls / (1 + correlation * (calls - 1)) if calls > 1 else 1.0


def _pairs_needed(
    unit: float, difference: float, comparisons: int, alpha: float, correlation: float, repeats: int
) -> int:
    """Return the number of tasks that a comparison needs.

    `unit` is the variance of the difference of two independent trials. Trials of one task share the task's
    difficulty, which cancels between the variants. Repeated trials reduce the remaining variance.
    """
    variance = unit * (1 - correlation) / repeats
    return max(2, ceil(variance / _allowed_variance(difference, comparisons, alpha)))


def look_factor(looks: int, alpha: float = 0.05) -> float:
    """Return the factor by which up to `looks` evenly spaced interim analyses raise the number of tasks.

    The factor applies to the largest number of tasks. With this factor, the analyses keep the 80 % power of
    one analysis at the end. The boundaries are of O'Brien & Fleming's type (Jennison & Turnbull 2000, section
    2.4: the factor R_B).
    """
    information = [(number + 1) / looks for number in range(looks)]
    boundaries = find_boundaries(information, 1.0, alpha, is_last=True)
    least, most = 1.0, 10.0  # limits of the drift
    while most - least > 1e-6:
        drift = (least + most) / 2
        power = chance_above(boundaries[-1], information, boundaries[:-1], drift)
        least, most = (drift, most) if power < POWER else (least, drift)
    return max(1.0, (most / (-float(ndtri(alpha / 2)) + float(ndtri(POWER)))) ** 2)


def _mean_variance(middle: float, difference: float) -> float:
    return sum(end * (1 - end) for end in _ends(middle, difference)) / 2


def _chance_to_differ(middle: float, difference: float, number: int) -> float:
    """Return the chance that the counts of two variants differ in a task with `number` observations each."""
    first, other = (binomial_chances(number, end) for end in _ends(middle, difference))
    return 1 - float(first @ other)


def _ends(middle: float, difference: float) -> tuple[float, float]:
    """Return two rates that are `difference` apart.

    Near 0 and 1, `rate` is not exactly between the two rates.
    """
    half = min(abs(difference), 1.0) / 2
    centre = min(1 - half, max(half, middle))
    return centre - half, centre + half


def _allowed_variance(difference: float, comparisons: int, alpha: float = 0.05) -> float:
    z = -float(ndtri(alpha / 2 / comparisons)) + float(ndtri(POWER))
    return (difference / z) ** 2
