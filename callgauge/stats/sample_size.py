"""How many more sessions it would take to decide between two rates."""

from __future__ import annotations

from math import ceil, inf

from scipy.special import ndtri

from callgauge.stats.rates import Share

POWER = 0.8  # the chance with which a real difference should then show
_MOST = 10_000_000  # sessions; beyond this the answer is "never"


def sessions_needed(of: Share, against: Share, difference: float, comparisons: int = 1) -> int | None:
    """Return how many more sessions each arm needs for a `difference` to be decisive with 80 % power.

    `difference` is a share: 0.02 is two points. The rates are taken to lie that far apart around their
    present mean. `comparisons`: how many are looked at together (each then counts at 5 % over that number).
    The variance is that of the unpooled two-sample formula (Fleiss, Levin & Paik 2003, 4.2) times the present
    design effects, at the present number of observations a session. 0: the present sessions are enough. None
    when an arm has no session, or when ten million more would not do.
    """
    arms = [arm for arm in (of, against) if arm.n and arm.sessions]
    if len(arms) < 2 or not difference:
        return None
    unit = _mean_variance(sum(arm.rate or 0.0 for arm in arms) / 2, difference)
    allowed = _allowed_variance(difference, comparisons)
    # What a session is worth in independent observations.
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


def tasks_needed(history: Share, difference: float, comparisons: int = 1) -> int | None:
    """Return how many tasks two arms must both try to show a `difference` of a share with 80 % power.

    `history`: the rate so far, in sessions like those of a trial, one session a task; None where it has no
    sessions. The formula is that of `sessions_needed`, from nothing. It takes the arms as independent: tasks
    that are hard for both make pairs, so that a run needs rather fewer. `comparisons`: how many arms are held
    against the reference.
    """
    if not history.n or not history.sessions or not difference or not history.effective_n:
        return None
    unit = _mean_variance(history.rate or 0.0, difference)
    worth = history.effective_n / history.sessions
    return ceil(2 * unit / (worth * _allowed_variance(difference, comparisons)))


def _mean_variance(middle: float, difference: float) -> float:
    """Return the mean variance of an observation of two rates that lie `difference` apart around a rate."""
    half = min(abs(difference), 1.0) / 2
    # Beside 0 and 1 the two lie as far apart as asked, not around their mean.
    centre = min(1 - half, max(half, middle))
    return sum(end * (1 - end) for end in (centre - half, centre + half)) / 2


def _allowed_variance(difference: float, comparisons: int) -> float:
    """Return the variance of a difference with which its test has 80 % power."""
    z = -float(ndtri(0.025 / comparisons)) + float(ndtri(POWER))
    return (difference / z) ** 2
