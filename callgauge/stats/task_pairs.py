"""Compares two variants of a trial run over the tasks that both variants tried.

Differences are variant − reference, in the unit of the measure. `sequential` computes the interim analyses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import Any, Literal, Protocol

import msgspec
from msgspec.structs import replace

from callgauge.stats.corrections import holm
from callgauge.stats.intervals import Z
from callgauge.stats.paired import FEWEST_UNLIKE, PairedMean, measure_paired_amounts, measure_paired_shares
from callgauge.stats.sequential import (
    FARTHEST,
    AdjustedEstimate,
    adjust_estimate,
    anytime_reach,
    find_boundaries,
    normal_quantile,
    observations_needed,
)

Decision = Literal["better", "worse", "alike", "go on", "not decided", "withheld"]
IntervalKind = Literal["adjusted", "alike", "anytime", "fixed"]
ENDS: frozenset[str] = frozenset({"better", "worse", "alike", "not decided"})
"""After one of these decisions, the run makes no more trials of a variant."""
MOST_MISSING = 0.05
"""A variant with a larger share of trials without a reply gets no verdict."""


class ComparedMeasure(Protocol):
    """A measure of trials: a share from 0 to 1, or an amount with a unit."""

    @property
    def is_share(self) -> bool: ...

    @property
    def lower_is_better(self) -> bool: ...


class ComparedRun(Protocol):
    """A trial run: smallest difference of interest, planned tasks, interim analyses, alpha per variant."""

    @property
    def smallest(self) -> float: ...

    @property
    def planned(self) -> int: ...

    @property
    def look_at(self) -> Sequence[int]: ...

    @property
    def arm_alpha(self) -> float: ...


class LookAtArm(Protocol):
    """One interim analysis of a variant: number of tasks, difference with interval, and statistic and
    boundary as z.
    """

    @property
    def look(self) -> int: ...

    @property
    def tasks(self) -> int: ...

    @property
    def estimate(self) -> float | None: ...

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...

    @property
    def statistic(self) -> float | None: ...

    @property
    def boundary(self) -> float | None: ...

    @property
    def decision(self) -> Decision: ...


class TaskCount(msgspec.Struct, frozen=True):
    """The results of one task in one variant: k of n, and the number of trials without a reply.

    `measured` is the number of trials with a k and an n, including trials with 0 of 0 calls.
    """

    k: float = 0.0
    n: float = 0.0
    trials: int = 0
    missing: int = 0
    measured: int = 0

    @property
    def rate(self) -> float | None:
        """k / n, or None if nothing was measured."""
        return self.k / self.n if self.n else None


Counts = Mapping[str, Mapping[str, TaskCount]]


class TaskPair(msgspec.Struct, frozen=True):
    """One task of two variants. The mean of `value` over tasks is Σk / Σn of the first variant.

    `value` = R + (k - R n) / n̄ with R = Σk / Σn and the mean n̄ of n: the linearisation of a ratio (Cochran
    1977, section 6.3). So all calls of a task count, and tasks are still the independent units. If each task
    has the same n, `value` is k / n. `against` is the same for the second variant.

    `gap` is the difference of k / n̄. `weight` is the mean n / n̄ of both variants. `is_unlike` is True when
    the two k / n differ.
    """

    value: float
    against: float
    gap: float
    weight: float
    is_unlike: bool


class PairedTasks(msgspec.Struct, frozen=True):
    """The tasks that two variants both have, for one measure.

    `mean` is the mean difference; it is None with fewer than two tasks (or groups). `unlike` is the number of
    tasks in which the variants differ. `of` and `against` are the means over these tasks. `missing` is the
    number of trials of both variants that have no reply. `most_missing` is the share of such trials, in the
    variant where this share is larger.
    """

    tasks: int
    unlike: int
    of: float | None
    against: float | None
    mean: PairedMean | None
    missing: int = 0
    most_missing: float = 0.0


def pair_tasks(
    counts: Counts, measure: ComparedMeasure, arm: str, reference: str, groups: Mapping[str, str]
) -> PairedTasks:
    """Return the paired differences, variant − reference, over the tasks that both variants have."""
    most_missing = max(share_missing(counts, name) for name in (arm, reference))
    missing = sum(task.missing for name in (arm, reference) for task in counts.get(name, {}).values())
    pairs = pair_values(pair_counts(counts, arm, reference), measure, groups, most_missing)
    return replace(pairs, missing=missing)


def pair_counts(
    counts: Counts, arm: str, reference: str, tasks: Collection[str] | None = None
) -> dict[str, TaskPair]:
    """Return the values of both variants by task, for the `tasks` that were measured in both variants."""
    first, second = counts.get(arm, {}), counts.get(reference, {})
    shared = [
        task
        for task, count in first.items()
        if count.measured and task in second and second[task].measured and (tasks is None or task in tasks)
    ]
    return _pair(shared, [first[task] for task in shared], [second[task] for task in shared])


def value_tasks(tasks: Mapping[str, TaskCount]) -> dict[str, TaskPair]:
    """Return one variant's values by task, each paired with 0.

    The mean of these pairs is the variant's own rate.
    """
    measured = [task for task, count in tasks.items() if count.measured]
    return _pair(measured, [tasks[task] for task in measured], [TaskCount(0.0, 1.0)] * len(measured))


def _pair(
    tasks: Sequence[str], first: Sequence[TaskCount], second: Sequence[TaskCount]
) -> dict[str, TaskPair]:
    if not (any(count.n for count in first) and any(count.n for count in second)):
        return {}
    parts = zip(tasks, first, second, _linearise(first), _linearise(second), strict=True)
    return {
        task: TaskPair(
            value,
            against,
            hits - other_hits,
            (weight + other_weight) / 2,
            (count.rate or 0.0) != (other.rate or 0.0),
        )
        for task, count, other, (value, hits, weight), (against, other_hits, other_weight) in parts
    }


def _linearise(counts: Sequence[TaskCount]) -> list[tuple[float, float, float]]:
    n = sum(count.n for count in counts)
    rate, mean = sum(count.k for count in counts) / n, n / len(counts)
    return [(rate + (count.k - rate * count.n) / mean, count.k / mean, count.n / mean) for count in counts]


def pair_values(
    pairs: Mapping[str, TaskPair],
    measure: ComparedMeasure,
    groups: Mapping[str, str],
    most_missing: float = 0.0,
) -> PairedTasks:
    """Return the paired differences of the values that two variants have in each task."""
    moved, sizes = sum_by_group({task: pair.value - pair.against for task, pair in pairs.items()}, groups)
    if measure.is_share:
        gaps, _ = sum_by_group({task: pair.gap for task, pair in pairs.items()}, groups)
        weights, _ = sum_by_group({task: pair.weight for task, pair in pairs.items()}, groups)
        mean = measure_paired_shares(moved, sizes, gaps, weights)
    else:
        mean = measure_paired_amounts(moved, sizes)
    number = len(pairs)
    return PairedTasks(
        number,
        sum(pair.is_unlike for pair in pairs.values()),
        sum(pair.value for pair in pairs.values()) / number if number else None,
        sum(pair.against for pair in pairs.values()) / number if number else None,
        mean,
        most_missing=most_missing,
    )


def sum_by_group(values: Mapping[str, float], groups: Mapping[str, str]) -> tuple[list[float], list[int]]:
    """Return the sums and sizes of the groups of tasks. A task without a group forms its own group."""
    clusters: dict[tuple[str, str], list[float]] = defaultdict(list)
    for task, value in values.items():
        # A group and a task may have the same name.
        clusters[("group", groups[task]) if task in groups else ("task", task)].append(value)
    return [sum(each) for each in clusters.values()], [len(each) for each in clusters.values()]


def share_missing(counts: Counts, arm: str) -> float:
    """Return the share of a variant's trials that have no reply."""
    tasks = counts.get(arm, {}).values()
    trials = sum(task.trials for task in tasks)
    return sum(task.missing for task in tasks) / trials if trials else 0.0


def bound_missing(counts: Counts, arm: str, reference: str) -> tuple[float, float] | None:
    """Return the smallest and largest difference of shares that any results of the missing trials would give.

    Each missing trial gets the variant's mean n, with no hits or only hits. Return None if no task was tried
    in both variants.
    """
    first, second = counts.get(arm, {}), counts.get(reference, {})
    both = [
        task
        for task in first.keys() & second.keys()
        if all(count.measured or count.missing for count in (first[task], second[task]))
    ]
    ends = [_bound_rate([tasks[task] for task in both]) for tasks in (first, second)]
    if ends[0] is None or ends[1] is None:
        return None
    return ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]


def _bound_rate(counts: Sequence[TaskCount]) -> tuple[float, float] | None:
    k, n = sum(count.k for count in counts), sum(count.n for count in counts)
    measured, missing = sum(count.measured for count in counts), sum(count.missing for count in counts)
    if not n and not missing:
        return None
    unknown = missing * (n / measured if n else 1.0)
    return k / (n + unknown), (k + unknown) / (n + unknown)


def has_enough(measure: ComparedMeasure, pairs: PairedTasks) -> bool:
    """Return True if the variants differ in enough tasks for a verdict.

    Amounts are assumed to differ in every task.
    """
    return (pairs.unlike if measure.is_share else pairs.tasks) >= FEWEST_UNLIKE


def judge_unplanned(measure: ComparedMeasure, pairs: PairedTasks) -> Decision:
    """Return the verdict of an unplanned comparison, by its 95 % interval."""
    if pairs.mean is None:
        return "not decided"
    if pairs.most_missing > MOST_MISSING:
        return "withheld"
    low, high = pairs.mean.interval(Z)
    decides = has_enough(measure, pairs) and (low > 0 or high < 0)
    return name_direction(measure, pairs.mean.estimate) if decides else "not decided"


def name_direction(measure: ComparedMeasure, difference: float) -> Decision:
    """Return whether a difference, variant − reference, means a better or a worse variant."""
    return "better" if (difference < 0) == measure.lower_is_better else "worse"


def reached_information(earlier: Sequence[LookAtArm], tasks: int) -> list[int]:
    """Return the numbers of tasks at a variant's interim analyses, without analyses that had no new tasks."""
    return [*sorted({each.tasks for each in earlier if 0 < each.tasks < tasks}), tasks]


def tasks_more(design: ComparedRun, pairs: PairedTasks) -> int | None:
    """Return how many more tasks would decide with 80 % power, if the true difference equals the observed
    difference.

    The tasks must show a difference or equivalence, whichever needs fewer tasks. The variants must also
    differ in enough tasks. Return None if the number cannot be estimated.
    """
    if pairs.mean is None:
        return None
    size, error = abs(pairs.mean.estimate), pairs.mean.error
    two_sided, one_sided = (
        pairs.mean.reach(normal_quantile(alpha)) for alpha in (design.arm_alpha / 2, design.arm_alpha)
    )
    differing = observations_needed(error, pairs.tasks, size, two_sided)
    alike = observations_needed(error, pairs.tasks, design.smallest - size, one_sided)
    if pairs.mean.moves is not None and differing is not None:  # amounts differ in every task
        differing = max(differing, ceil(pairs.tasks * FEWEST_UNLIKE / pairs.unlike)) if pairs.unlike else None
    numbers = [max(each, FEWEST_UNLIKE) for each in (differing, alike) if each is not None]
    return max(1, min(numbers) - pairs.tasks) if numbers else None


def repeated_interval(
    design: ComparedRun, pairs: PairedTasks, looks: Sequence[LookAtArm], alpha: float
) -> tuple[float, float] | None:
    """Return the (1 - alpha) interval at a variant's last interim analysis, adjusted for all analyses."""
    if pairs.mean is None:
        return None
    reached = reached_information(looks, pairs.tasks)
    is_last = any(look.look >= len(design.look_at) for look in looks)
    planned = max(design.planned, pairs.tasks)
    return pairs.mean.interval(find_boundaries(reached, planned, alpha, is_last=is_last)[-1])


def anytime_interval(design: ComparedRun, pairs: PairedTasks) -> tuple[float, float] | None:
    """Return the interval of the primary measure that is valid at any time, for use between analyses."""
    if pairs.mean is None:
        return None
    return pairs.mean.interval(anytime_reach(pairs.tasks, design.planned / 2, design.arm_alpha))


def adjust_for_looks(look: LookAtArm, earlier: Sequence[LookAtArm], alpha: float) -> AdjustedEstimate | None:
    """Return the estimate and (1 - alpha) interval adjusted for the interim analyses, in the measure's unit.

    The result is median-unbiased; the plain estimate of a variant that was stopped early is biased away from
    0. `earlier` holds the previous interim analyses of the same variant. Return None when there is no
    estimate.
    """
    if (
        look.statistic is None
        or look.estimate is None
        or look.low is None
        or look.high is None
        or not look.boundary
    ):
        return None
    error = look.estimate / look.statistic if look.statistic else (look.high - look.low) / (2 * look.boundary)
    reached = reached_information(earlier, look.tasks)
    adjusted = adjust_estimate(look.statistic, reached, used_boundaries(earlier, reached[:-1]), alpha)
    unit = error * look.tasks**0.5
    return AdjustedEstimate(adjusted.estimate * unit, adjusted.low * unit, adjusted.high * unit)


def used_boundaries(earlier: Sequence[LookAtArm], reached: Sequence[int]) -> list[float]:
    """Return the boundaries that the interim analyses at these numbers of tasks used.

    A missing boundary is FARTHEST.
    """
    by_tasks = {each.tasks: each.boundary for each in earlier}
    return [FARTHEST if (boundary := by_tasks.get(tasks)) is None else boundary for tasks in reached]


class MeasuredDifference(msgspec.Struct, frozen=True):
    """The difference variant − reference, over the tasks that both variants have, in the unit of the measure.

    `kind` names the interval. "adjusted" is adjusted for the interim analyses of a finished run. "alike" is
    the 90 % interval that was compared with the smallest difference. "anytime" is valid at any time, and
    "fixed" is valid for a single analysis. `of` and `against` are the means of the two variants.
    """

    tasks: int
    of: float
    against: float
    estimate: float
    low: float
    high: float
    kind: IntervalKind


def compare_as_planned(
    design: ComparedRun, pairs: PairedTasks, looks: Sequence[LookAtArm]
) -> tuple[MeasuredDifference | None, Decision]:
    """Return the difference and the verdict of the interim analyses.

    Between two analyses, the interval is valid at any time.
    """
    last = looks[-1] if looks else None
    if pairs.mean is None:
        return None, last.decision if last else "go on"
    is_over = last is not None and (last.decision in ENDS or last.look >= len(design.look_at))
    adjusted = adjust_for_looks(last, looks[:-1], design.arm_alpha) if is_over and last else None
    if last is not None and last.decision == "alike":
        ends = repeated_interval(design, pairs, looks, 2 * design.arm_alpha) or (0.0, 0.0)
        return _make_difference(pairs, pairs.mean.estimate, *ends, "alike"), "alike"
    if last is not None and adjusted is not None:
        difference = _make_difference(pairs, adjusted.estimate, adjusted.low, adjusted.high, "adjusted")
        return replace(difference, tasks=last.tasks), last.decision
    low, high = anytime_interval(design, pairs) or (0.0, 0.0)
    decision = last.decision if last is not None and is_over else "go on"
    return _make_difference(pairs, pairs.mean.estimate, low, high, "anytime"), decision


def compare_unplanned(
    measure: ComparedMeasure, pairs: PairedTasks
) -> tuple[MeasuredDifference | None, Decision]:
    """Return the difference with its unadjusted interval, and its verdict."""
    word = judge_unplanned(measure, pairs)
    if pairs.mean is None:
        return None, word
    return _make_difference(pairs, pairs.mean.estimate, *pairs.mean.interval(Z), "fixed"), word


def _make_difference(
    pairs: PairedTasks, estimate: float, low: float, high: float, kind: IntervalKind
) -> MeasuredDifference:
    return MeasuredDifference(pairs.tasks, pairs.of or 0.0, pairs.against or 0.0, estimate, low, high, kind)


# --- settings: variants that differ in one setting only are compared in that setting ---------------------
# A setting is compared over all variants and within each value of the other settings. The intervals are for a
# single analysis, because interim analyses are not planned for settings.

FACTORS = ("model", "prompt", "definitions", "strategy", "compensations", "policy")


class FactorDesign(msgspec.Struct, frozen=True):
    """The plan of a trial run. `groups` holds the group of each task that has a group."""

    measure: ComparedMeasure
    reference: str
    groups: Mapping[str, str]
    alpha: float


class FactorDifference(msgspec.Struct, frozen=True):
    """A difference of the primary measure within the settings `where`, or over all settings if `where` is
    empty.

    `contrast` says by how much the difference exceeds the difference within the remaining settings.
    `contrast_p` is the p-value of the contrast, corrected by Holm's method.
    """

    where: Mapping[str, Any]
    tasks: int
    of: float
    against: float
    estimate: float
    low: float
    high: float
    word: Decision
    contrast: float | None = None
    contrast_p: float | None = None


class FactorComparison(msgspec.Struct, frozen=True):
    """The comparison of one value of a setting with another value: over all other settings, and within each
    of them.

    `interacts` is True when the difference depends on the other settings, at the run's alpha.
    """

    factor: str
    value: Any
    against: Any
    overall: FactorDifference
    within: tuple[FactorDifference, ...]
    interacts: bool


def compare_factors(
    counts: Counts, design: FactorDesign, settings: Mapping[str, Mapping[str, Any]]
) -> tuple[FactorComparison, ...]:
    """Return a comparison for each setting in which two or more pairs of variants differ.

    `counts` holds the counts of the primary measure. `settings` holds the settings of each variant.
    """
    comparisons = []
    for factor in FACTORS:
        base = settings[design.reference][factor]
        values = dict.fromkeys(
            settings_of_arm[factor]
            for settings_of_arm in settings.values()
            if settings_of_arm[factor] != base
        )
        for value in values:
            places = _pair_arms(settings, factor, value, base)
            if len(places) > 1:
                compared = _compare_factor(counts, design, settings, factor, value, base, places)
                comparisons += [compared] if compared else []
    return tuple(comparisons)


def _pair_arms(
    settings: Mapping[str, Mapping[str, Any]], factor: str, value: Any, base: Any
) -> list[tuple[str, str]]:
    """Return the pairs of variants that differ in one setting only.

    One variant has `value`, and the other has `base`.
    """
    rest = {name: {**settings_of_arm, factor: None} for name, settings_of_arm in settings.items()}
    return [
        (arm, other)
        for arm, settings_of_arm in settings.items()
        for other, others in settings.items()
        if settings_of_arm[factor] == value and others[factor] == base and rest[arm] == rest[other]
    ]


def _compare_factor(
    counts: Counts,
    design: FactorDesign,
    settings: Mapping[str, Mapping[str, Any]],
    factor: str,
    value: Any,
    base: Any,
    places: list[tuple[str, str]],
) -> FactorComparison | None:
    measure = design.measure
    by_place = [pair_counts(counts, *place) for place in places]
    shared = set.intersection(*map(set, by_place))
    on_shared = [pair_counts(counts, *place, tasks=shared) for place in places]
    both = {task: _average_pairs([pairs[task] for pairs in on_shared if pairs]) for task in shared}
    missing = [share_missing(counts, arm) for place in places for arm in place]
    overall = _describe_place(measure, pair_values(both, measure, design.groups, max(missing)), {})
    if overall is None:
        return None
    arms = {arm for place in places for arm in place}
    varying = [name for name in FACTORS if name != factor and len({settings[arm][name] for arm in arms}) > 1]
    contrasts = [_contrast_place(on_shared, place, shared, design) for place in range(len(places))]
    contrast_p_values = [p for _, p in contrasts]
    # With two combinations of settings, both contrasts are the same test.
    p_values = holm(contrast_p_values) if len(contrast_p_values) > 2 else contrast_p_values
    within = []
    for (first_arm, other), rates, (contrast, _), p in zip(
        places, by_place, contrasts, p_values, strict=True
    ):
        where = {name: settings[first_arm][name] for name in varying}
        most = max(share_missing(counts, arm) for arm in (first_arm, other))
        judged = _describe_place(
            measure, pair_values(rates, measure, design.groups, most), where, contrast, p
        )
        within += [judged] if judged else []
    return FactorComparison(factor, value, base, overall, tuple(within), min(p_values) <= design.alpha)


def _average_pairs(pairs: Sequence[TaskPair]) -> TaskPair:
    number = len(pairs)
    return TaskPair(
        sum(pair.value for pair in pairs) / number,
        sum(pair.against for pair in pairs) / number,
        sum(pair.gap for pair in pairs) / number,
        sum(pair.weight for pair in pairs) / number,
        any(pair.is_unlike for pair in pairs),
    )


def _describe_place(
    measure: ComparedMeasure,
    pairs: PairedTasks,
    where: Mapping[str, Any],
    contrast: float | None = None,
    p: float | None = None,
) -> FactorDifference | None:
    if pairs.mean is None:
        return None
    rate, against, (low, high) = pairs.of or 0.0, pairs.against or 0.0, pairs.mean.interval(Z)
    word = judge_unplanned(measure, pairs)
    return FactorDifference(
        where, pairs.tasks, rate, against, pairs.mean.estimate, low, high, word, contrast, p
    )


def _contrast_place(
    by_place: Sequence[Mapping[str, TaskPair]], place: int, shared: Collection[str], design: FactorDesign
) -> tuple[float | None, float]:
    """Return by how much the difference at `place` exceeds the mean of the others, and the p-value."""
    moved = {
        task: _exceed([pairs[task].value - pairs[task].against for pairs in by_place], place)
        for task in shared
    }
    gaps = [_exceed([pairs[task].gap for pairs in by_place], place) for task in shared]
    mean = measure_paired_amounts(*sum_by_group(moved, design.groups))
    if mean is None or sum(map(bool, gaps)) < FEWEST_UNLIKE:
        return (mean.estimate if mean else None), 1.0
    return mean.estimate, mean.p


def _exceed(values: Sequence[float], place: int) -> float:
    return values[place] - (sum(values) - values[place]) / (len(values) - 1)
