"""Looks at a run that is still going on: which arms are decided, at the error that the plan states.

A look holds each arm against the reference over the tasks that both have: the mean over tasks of the
difference, trials of a task taken together. It decides by the boundary of `stats.sequential`, for which the
tasks that were really reached count. Only the primary measure decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf

from callgauge.stats import holm
from callgauge.stats.intervals import Z
from callgauge.stats.paired import PairedMean, measure_paired_amounts, measure_paired_shares
from callgauge.stats.sequential import (
    FARTHEST,
    AdjustedEstimate,
    adjust_estimate,
    anytime_reach,
    chance_at_end,
    find_boundaries,
    normal_quantile,
    observations_needed,
    stagewise_p,
)
from callgauge.trials.planning.plan import MeasureName, Plan
from callgauge.trials.planning.task import Task
from callgauge.trials.results.run_folder import ArmLook, Decision, TrialOutcome
from callgauge.trials.verdicts.measures import MEASURES, Counts, Measure, TaskCount, count_tasks

ENDS: frozenset[Decision] = frozenset({"better", "worse", "alike", "not decided"})
"""The decisions after which an arm is not asked any more."""
MOST_MISSING = 0.05
"""The share of an arm's trials without a reply above which no verdict is given."""
FEWEST_UNLIKE = 10
"""Tasks in which the arms differ, at least, before a look may decide (for amounts: tasks)."""
_LEAST_CHANCE = 0.1  # of a verdict at the end; below it going on is of no use
_OPTIMISM = 1.2816  # the z of an 80 % interval


@dataclass(frozen=True, slots=True)
class TrialDesign:
    """What a run was planned for, as the verdicts need it; the lock keeps it.

    `arms`: all names, with the reference. `planned` tasks; `look_at`: the numbers of completed tasks at which
    the run looks. `groups`: the group of each task that has one.
    """

    primary: MeasureName
    smallest: float
    reference: str
    arms: tuple[str, ...]
    planned: int
    look_at: tuple[int, ...]
    alpha: float = 0.05
    secondary: tuple[MeasureName, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def others(self) -> tuple[str, ...]:
        """The arms that are held against the reference."""
        return tuple(name for name in self.arms if name != self.reference)

    @property
    def arm_alpha(self) -> float:
        """The error for which one arm may be stopped: alpha over the number of arms (Bonferroni)."""
        return self.alpha / max(1, len(self.others))


def plan_looks(planned: int, looks: int) -> tuple[int, ...]:
    """Return the numbers of completed tasks at which a run looks, evenly, the last at the end."""
    return tuple(sorted({ceil(planned * each / looks) for each in range(1, looks + 1)})) if planned else ()


def make_design(plan: Plan, tasks: Sequence[Task]) -> TrialDesign:
    """Return what the verdicts need of a plan and its tasks."""
    return TrialDesign(
        plan.measure.primary,
        plan.measure.smallest,
        plan.reference.name,
        tuple(arm.name for arm in plan.arms),
        len(tasks),
        plan_looks(len(tasks), plan.measure.looks),
        plan.measure.alpha,
        plan.measure.secondary,
        {task.id: task.group for task in tasks if task.group is not None},
    )


def planned_boundaries(design: TrialDesign) -> tuple[float, ...]:
    """Return the boundary of each look if every task is reached, in units of z: what the lock states."""
    if not design.look_at:
        return ()
    return find_boundaries(design.look_at, design.planned, design.arm_alpha, is_last=True)


@dataclass(frozen=True, slots=True)
class PairedTasks:
    """The tasks that two arms both have, for one measure. `mean` is None below two tasks (or groups).

    `unlike`: tasks in which they differ. `of`, `against`: the mean over these tasks. `missing` trials without
    a reply, of both; `most_missing`: the share of the arm that lacks more of them.
    """

    tasks: int
    unlike: int
    of: float | None
    against: float | None
    mean: PairedMean | None
    missing: int = 0
    most_missing: float = 0.0


def pair_tasks(
    counts: Counts, measure: Measure, arm: str, reference: str, groups: Mapping[str, str]
) -> PairedTasks:
    """Return the paired differences of two arms, arm − reference, over the tasks that both have."""
    missing = [share_missing(counts, name) for name in (arm, reference)]
    found = pair_values(pair_rates(counts, arm, reference), measure, groups, max(missing))
    lost = sum(its.missing for name in (arm, reference) for its in counts.get(name, {}).values())
    return replace(found, missing=lost)


def pair_rates(counts: Counts, arm: str, reference: str) -> dict[str, tuple[float, float]]:
    """Return the values of both arms by task, of the tasks in which both were measured."""
    others = counts.get(reference, {})
    return {
        task: (value, against)
        for task, its in counts.get(arm, {}).items()
        if task in others and (value := its.rate) is not None and (against := others[task].rate) is not None
    }


def pair_values(
    pairs: Mapping[str, tuple[float, float]],
    measure: Measure,
    groups: Mapping[str, str],
    most_missing: float = 0.0,
) -> PairedTasks:
    """Return the paired differences of ready values, by task."""
    moved, sizes = sum_by_group({task: one - other for task, (one, other) in pairs.items()}, groups)
    measure_pairs = measure_paired_shares if measure.is_share else measure_paired_amounts
    number = len(pairs)
    return PairedTasks(
        number,
        sum(value != against for value, against in pairs.values()),
        sum(value for value, _ in pairs.values()) / number if number else None,
        sum(against for _, against in pairs.values()) / number if number else None,
        measure_pairs(moved, sizes),
        most_missing=most_missing,
    )


def sum_by_group(values: Mapping[str, float], groups: Mapping[str, str]) -> tuple[list[float], list[int]]:
    """Return the sums and sizes of the groups of tasks; a task without a group is one of its own."""
    clusters: dict[tuple[str, str], list[float]] = defaultdict(list)
    for task, value in values.items():
        # A group and a task may have one name.
        clusters[("group", groups[task]) if task in groups else ("task", task)].append(value)
    return [sum(each) for each in clusters.values()], [len(each) for each in clusters.values()]


def share_missing(counts: Counts, arm: str) -> float:
    """Return the share of an arm's trials that have no reply."""
    tasks = counts.get(arm, {}).values()
    trials = sum(its.trials for its in tasks)
    return sum(its.missing for its in tasks) / trials if trials else 0.0


def bound_missing(counts: Counts, arm: str, reference: str) -> tuple[float, float] | None:
    """Return between which values a difference of shares lies, whatever the missing trials had been.

    Each missing trial counts as one that had 0 or 1. None where no task was tried in both arms.
    """
    one, other = counts.get(arm, {}), counts.get(reference, {})
    both = [
        (its, others)
        for task in one.keys() & other.keys()
        if (its := _bound_task(one[task])) and (others := _bound_task(other[task]))
    ]
    if not both:
        return None
    lows, highs = zip(*((its[0] - others[1], its[1] - others[0]) for its, others in both), strict=True)
    return sum(lows) / len(both), sum(highs) / len(both)


def _bound_task(its: TaskCount) -> tuple[float, float] | None:
    """Return the least and the most that the value of a task can be; None where all replies tell nothing."""
    if its.rate is None and its.missing < its.trials:
        return None
    lost = its.missing / its.trials
    known = (its.rate or 0.0) * (1 - lost)
    return known, known + lost


def look(
    design: TrialDesign,
    outcomes: Iterable[TrialOutcome],
    number: int,
    earlier: Sequence[ArmLook] = (),
    *,
    at: str = "",
) -> tuple[ArmLook, ...]:
    """Return what look `number` (from 1) says of every arm that no earlier look has ended.

    `outcomes` of all trials that have ended, also of earlier looks; `earlier`: what the looks before this one
    returned, all arms. The last look, `len(design.look_at)`, spends what is left of alpha and corrects for
    several arms by Holm's method: it never says "go on".
    """
    measure = MEASURES[design.primary]
    counts = count_tasks(outcomes, measure)
    is_last = number >= len(design.look_at)
    ended = {before.arm: before.decision for before in earlier if before.decision in ENDS}
    found, p_values = [], {}
    for arm in design.others:
        if arm in ended:
            # An arm that an earlier look decided counts as decided, one that it ended otherwise as not.
            p_values[arm] = float(ended[arm] not in ("better", "worse"))
            continue
        pairs = pair_tasks(counts, measure, arm, design.reference, design.groups)
        its = [before for before in earlier if before.arm == arm]
        found.append(_look_at_arm(design, pairs, its, _open_look(design, number, arm, at), is_last=is_last))
        is_judged = has_enough(measure, pairs) and found[-1].decision != "withheld"
        p_values[arm] = _find_p(found[-1], its) if is_judged else 1.0
    return tuple(_correct_for_arms(design, found, p_values) if is_last else found)


def reached_information(earlier: Sequence[ArmLook], tasks: int) -> list[int]:
    """Return the tasks at each look of an arm, rising: a look that nothing was added for is none."""
    return [*sorted({each.tasks for each in earlier if 0 < each.tasks < tasks}), tasks]


def _open_look(design: TrialDesign, number: int, arm: str, at: str) -> ArmLook:
    return ArmLook(number, arm, 0, design.planned, None, None, None, None, None, "go on", 0, at)


def has_enough(measure: Measure, pairs: PairedTasks) -> bool:
    """Return True where the arms differ in enough tasks for a verdict; amounts differ in every task."""
    return (pairs.unlike if measure.is_share else pairs.tasks) >= FEWEST_UNLIKE


def _look_at_arm(
    design: TrialDesign, pairs: PairedTasks, earlier: Sequence[ArmLook], empty: ArmLook, *, is_last: bool
) -> ArmLook:
    """Return the look at one arm, decided by its own share of alpha."""
    mean = pairs.mean
    if mean is None:
        decision: Decision = "not decided" if is_last else "go on"
        return replace(empty, tasks=pairs.tasks, missing=pairs.missing, decision=decision)
    reached = reached_information(earlier, pairs.tasks)
    boundary, alike = (
        find_boundaries(reached, max(design.planned, pairs.tasks), alpha, is_last=is_last)[-1]
        for alpha in (design.arm_alpha, 2 * design.arm_alpha)
    )
    low, high = mean.interval(boundary)
    return replace(
        empty,
        tasks=pairs.tasks,
        estimate=mean.estimate,
        low=low,
        high=high,
        statistic=mean.z,
        boundary=boundary,
        missing=pairs.missing,
        decision=_decide(design, pairs, mean, boundary, alike, is_last=is_last),
    )


def _decide(
    design: TrialDesign,
    pairs: PairedTasks,
    mean: PairedMean,
    boundary: float,
    alike: float,
    *,
    is_last: bool,
) -> Decision:
    measure = MEASURES[design.primary]
    if pairs.most_missing > MOST_MISSING:
        return "withheld"
    can_decide = has_enough(measure, pairs)
    if can_decide and abs(mean.z) >= boundary:
        return name_direction(measure, mean.z)
    low, high = mean.interval(alike)
    # Arms that never differ are alike, however few tasks they differ in.
    if pairs.tasks >= FEWEST_UNLIKE and -design.smallest < low and high < design.smallest:
        return "alike"
    if is_last:
        return "not decided"
    return "not decided" if can_decide and _is_futile(design, pairs.tasks, mean) else "go on"


def judge_unplanned(measure: Measure, pairs: PairedTasks) -> Decision:
    """Return the verdict of a comparison that was not planned, by the 95 % interval of one look."""
    if pairs.mean is None:
        return "not decided"
    if pairs.most_missing > MOST_MISSING:
        return "withheld"
    low, high = pairs.mean.interval(Z)
    decides = has_enough(measure, pairs) and (low > 0 or high < 0)
    return name_direction(measure, pairs.mean.estimate) if decides else "not decided"


def name_direction(measure: Measure, difference: float) -> Decision:
    """Return whether a difference, arm − reference, is for the better."""
    return "better" if (difference < 0) == measure.lower_is_better else "worse"


def _is_futile(design: TrialDesign, tasks: int, mean: PairedMean) -> bool:
    """Return True where going on has no chance of a tenth to end with a verdict.

    That is asked of *alike* without a difference, and of better and worse with one of `smallest`, or with the
    end of the 80 % interval where that is larger: an early look knows too little to end what it underrates.
    Non-binding: the boundaries do not count on it, so that a run may go on all the same.
    """
    share = tasks / design.planned
    if share >= 1 or not mean.error:
        return False
    error = mean.error * share**0.5  # at the end
    decisive, within = (
        find_boundaries((tasks, design.planned), design.planned, alpha, is_last=True)[-1]
        for alpha in (design.arm_alpha, 2 * design.arm_alpha)
    )
    low, high = mean.interval(_OPTIMISM)
    best, room = max(design.smallest, high) / error, design.smallest / error - within
    chances = (
        chance_at_end(mean.z, share, best, decisive, inf),
        chance_at_end(mean.z, share, min(-design.smallest, low) / error, -inf, -decisive),
        chance_at_end(mean.z, share, 0.0, -room, room),
    )
    return max(chances) < _LEAST_CHANCE


def _find_p(of: ArmLook, earlier: Sequence[ArmLook]) -> float:
    """Return the two-sided p-value of an arm at a look, which allows for the looks at it before."""
    if of.statistic is None:
        return 1.0
    reached = reached_information(earlier, of.tasks)
    return stagewise_p(of.statistic, reached, _used_boundaries(earlier, reached[:-1]))


def tasks_more(design: TrialDesign, pairs: PairedTasks) -> int | None:
    """Return how many tasks more would decide with 80 % power, if the difference is the one seen.

    By showing a difference, or that the arms are alike, whichever takes fewer. None where nothing is known.
    """
    if pairs.mean is None:
        return None
    size, error = abs(pairs.mean.estimate), pairs.mean.error
    ways = (
        observations_needed(error, pairs.tasks, size, normal_quantile(design.arm_alpha / 2)),
        observations_needed(error, pairs.tasks, design.smallest - size, normal_quantile(design.arm_alpha)),
    )
    known = [each for each in ways if each is not None]
    return max(1, min(known) - pairs.tasks) if known else None


def repeated_interval(
    design: TrialDesign, pairs: PairedTasks, looks: Sequence[ArmLook], alpha: float
) -> tuple[float, float] | None:
    """Return the (1 - alpha) interval at the last of the looks at an arm, which allows for all of them."""
    if pairs.mean is None:
        return None
    reached = reached_information(looks, pairs.tasks)
    is_last = any(one.look >= len(design.look_at) for one in looks)
    planned = max(design.planned, pairs.tasks)
    return pairs.mean.interval(find_boundaries(reached, planned, alpha, is_last=is_last)[-1])


def anytime_interval(design: TrialDesign, pairs: PairedTasks) -> tuple[float, float] | None:
    """Return the interval of the primary measure that holds whenever one looks: for in between the looks."""
    if pairs.mean is None:
        return None
    return pairs.mean.interval(anytime_reach(pairs.tasks, design.planned / 2, design.arm_alpha))


def adjust_for_looks(of: ArmLook, earlier: Sequence[ArmLook], alpha: float) -> AdjustedEstimate | None:
    """Return the estimate and (1 - alpha) interval that allow for the looks, in the unit of the measure.

    An arm that was stopped early looks better or worse than it is: the median-unbiased estimate of the
    stage-wise order takes that back. `earlier`: the looks at the same arm before. None without an estimate.
    """
    if of.statistic is None or of.estimate is None or of.low is None or of.high is None or not of.boundary:
        return None
    error = of.estimate / of.statistic if of.statistic else (of.high - of.low) / (2 * of.boundary)
    reached = reached_information(earlier, of.tasks)
    found = adjust_estimate(of.statistic, reached, _used_boundaries(earlier, reached[:-1]), alpha)
    unit = error * of.tasks**0.5
    return AdjustedEstimate(found.estimate * unit, found.low * unit, found.high * unit)


def _used_boundaries(earlier: Sequence[ArmLook], reached: Sequence[int]) -> list[float]:
    """Return the boundaries of the looks at these numbers of tasks; where a look had none, an endless one."""
    by_tasks = {each.tasks: each.boundary for each in earlier}
    return [FARTHEST if (its := by_tasks.get(tasks)) is None else its for tasks in reached]


def _correct_for_arms(
    design: TrialDesign, found: Sequence[ArmLook], p_values: Mapping[str, float]
) -> list[ArmLook]:
    """Return the last look with Holm's correction: arms that are left may use what decided ones leave."""
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    measure = MEASURES[design.primary]
    return [
        replace(each, decision=name_direction(measure, each.statistic))
        if each.decision == "not decided" and each.statistic and adjusted[each.arm] <= design.alpha
        else each
        for each in found
    ]
