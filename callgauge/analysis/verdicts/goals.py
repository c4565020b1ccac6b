"""Decides whether a rate meets the team's goal, and describes the result."""

from __future__ import annotations

from enum import Enum

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.alerts import AttentionItem
from callgauge.memory.records import Goal
from callgauge.stats import Share


class GoalState(Enum):
    """The state of a goal.

    The interval of the rate is completely better than the goal, completely worse, or contains the goal.
    """

    MET = "met"
    MISSED = "missed"
    OPEN = "not enough data to tell"


def judge_goal(rate: RateDefinition, share: Share, goal: Goal) -> GoalState | None:
    """Return the state of a rate's goal. Return None when the rate has no interval."""
    bounds = share.interval
    if bounds is None:
        return None
    inside, outside = bounds.high <= goal.goal, bounds.low > goal.goal
    if rate.is_good:
        inside, outside = bounds.low >= goal.goal, bounds.high < goal.goal
    return GoalState.MET if inside else GoalState.MISSED if outside else GoalState.OPEN


def format_goal(rate: RateDefinition, goal: Goal) -> str:
    """Write a goal as "goal ≤ 5%", or as "goal ≥ 90%" if a high rate is better."""
    return f"goal {'≥' if rate.is_good else '≤'} {100 * goal.goal:g}%"


def describe_goal(rate: RateDefinition, share: Share, goal: Goal) -> str:
    """Write a goal and whether the rate meets the goal, such as "goal ≤ 5%: missed"."""
    state = judge_goal(rate, share, goal)
    return format_goal(rate, goal) + (f": {state.value}" if state else "")


def describe_missed_goal(whole: Slice, goal: Goal) -> AttentionItem | None:
    """Return the attention item for a missed goal. Return None if the goal is not missed."""
    rate, share = whole.rate, whole.share
    if judge_goal(rate, share, goal) is not GoalState.MISSED:
        return None
    return AttentionItem(
        key=f"goal:{rate.name}:{goal.goal}",
        sign="▲",
        colour="red",
        subject=f"Goal missed: {rate.title.lower()}",
        rest=f"{wording.rate(share.k, share.n)}, {format_goal(rate, goal)}",
        counts=f"{wording.fraction(share.k, share.n)} {rate.noun}s, {wording.interval(share.interval)}",
        page="models",
        query={"rate": rate.name},
    )
