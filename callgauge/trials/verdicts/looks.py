"""Makes the interim analyses of a trial run, and ends variants that have a verdict.

An analysis compares a variant with the reference over the tasks that the two have finished. It uses the mean
difference per task, over all repeats of the task. The boundaries of `stats.sequential` keep the planned error
rate. They depend on the real number of tasks at each analysis. Verdicts depend only on the primary measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf

from callgauge.stats import holm
from callgauge.stats.paired import FEWEST_UNLIKE, PairedMean
from callgauge.stats.sequential import (
    chance_at_end,
    find_boundaries,
    stagewise_p,
)
from callgauge.stats.task_pairs import (
    ENDS,
    MOST_MISSING,
    PairedTasks,
    has_enough,
    name_direction,
    pair_tasks,
    reached_information,
    used_boundaries,
)
from callgauge.trials.planning.plan import MeasureName, Plan
from callgauge.trials.planning.task import Task
from callgauge.trials.results.run_folder import ArmLook, Decision, TrialOutcome
from callgauge.trials.verdicts.measures import MEASURES, count_tasks

_LEAST_CHANCE = 0.1  # Below this probability of a verdict at the end, the variant stops.
_OPTIMISM = 1.2816  # The z value of an 80 % interval.


@dataclass(frozen=True, slots=True)
class TrialDesign:
    """The design of a trial run, from which verdicts are computed.

    `arms` holds the names of all variants, including the reference. `planned` is the number of tasks.
    `look_at` holds the numbers of finished tasks at which the interim analyses happen. `groups` maps a task
    to its group.
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
        """The variants that are compared with the reference."""
        return tuple(name for name in self.arms if name != self.reference)

    @property
    def arm_alpha(self) -> float:
        """The error rate for stopping one variant: alpha divided by the number of tests (Bonferroni)."""
        return self.alpha / max(1, len(self.others))


def plan_looks(planned: int, looks: int) -> tuple[int, ...]:
    """Return the numbers of finished tasks at which a trial run is analysed.

    They are evenly spaced, and the last analysis is after all tasks.
    """
    return tuple(sorted({ceil(planned * each / looks) for each in range(1, looks + 1)})) if planned else ()


def make_design(plan: Plan, tasks: Sequence[Task]) -> TrialDesign:
    """Return the design of a trial run from the plan and the tasks."""
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
    """Return the boundary of each analysis in units of z, if every task is finished."""
    if not design.look_at:
        return ()
    return find_boundaries(design.look_at, design.planned, design.arm_alpha, is_last=True)


def look(
    design: TrialDesign,
    outcomes: Iterable[TrialOutcome],
    number: int,
    earlier: Sequence[ArmLook] = (),
    *,
    at: str = "",
) -> tuple[ArmLook, ...]:
    """Return the results of analysis `number` (from 1) for every variant that no earlier analysis has ended.

    `outcomes` holds the outcomes of all finished trials. `earlier` holds the results of all earlier analyses.
    The last analysis has the number `len(design.look_at)`. It uses the remaining alpha, and Holm's correction
    for several variants. It never returns "go on".
    """
    measure = MEASURES[design.primary]
    counts = count_tasks(outcomes, measure)
    is_last = number >= len(design.look_at)
    ended = {before.arm: before.decision for before in earlier if before.decision in ENDS}
    looks, p_values = [], {}
    for arm in design.others:
        if arm in ended:
            # In Holm's correction, variants that ended as better or worse have p = 0, others p = 1.
            p_values[arm] = float(ended[arm] not in ("better", "worse"))
            continue
        pairs = pair_tasks(counts, measure, arm, design.reference, design.groups)
        looks_before = [before for before in earlier if before.arm == arm]
        looks.append(
            _look_at_arm(design, pairs, looks_before, _open_look(design, number, arm, at), is_last=is_last)
        )
        is_judged = has_enough(measure, pairs) and looks[-1].decision != "withheld"
        p_values[arm] = _find_p(looks[-1], looks_before) if is_judged else 1.0
    return tuple(_correct_for_arms(design, looks, p_values) if is_last else looks)


def _open_look(design: TrialDesign, number: int, arm: str, at: str) -> ArmLook:
    return ArmLook(number, arm, 0, design.planned, None, None, None, None, None, "go on", 0, at)


def _look_at_arm(
    design: TrialDesign, pairs: PairedTasks, earlier: Sequence[ArmLook], empty: ArmLook, *, is_last: bool
) -> ArmLook:
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
    # Variants may be equivalent although few tasks differ, so this does not need `can_decide`.
    if pairs.tasks >= FEWEST_UNLIKE and -design.smallest < low and high < design.smallest:
        return "alike"
    if is_last:
        return "not decided"
    return "not decided" if can_decide and _is_futile(design, pairs.tasks, mean) else "go on"


def _is_futile(design: TrialDesign, tasks: int, mean: PairedMean) -> bool:
    """Return True when the chance of a verdict at the end of the trial run is below a tenth.

    The chance of *alike* assumes no difference. The chances of better and worse assume the larger of the
    difference `smallest` and the end of the 80 % interval. The rule is non-binding: the boundaries stay valid
    if the trial run continues.
    """
    share = tasks / design.planned
    if share >= 1 or not mean.error:
        return False
    error = mean.error * share**0.5  # The standard error that is expected at the end of the run.
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


def _find_p(arm_look: ArmLook, earlier: Sequence[ArmLook]) -> float:
    if arm_look.statistic is None:
        return 1.0
    reached = reached_information(earlier, arm_look.tasks)
    return stagewise_p(arm_look.statistic, reached, used_boundaries(earlier, reached[:-1]))


def _correct_for_arms(
    design: TrialDesign, looks: Sequence[ArmLook], p_values: Mapping[str, float]
) -> list[ArmLook]:
    """Return the last analysis with Holm's correction, which may give more variants a verdict than
    Bonferroni's.
    """
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    measure = MEASURES[design.primary]
    return [
        replace(each, decision=name_direction(measure, each.statistic))
        if each.decision == "not decided" and each.statistic and adjusted[each.arm] <= design.alpha
        else each
        for each in looks
    ]
