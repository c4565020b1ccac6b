"""Trial runs: the result of each variant by each measure, compared with the reference."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import pandas as pd

from callgauge.stats.intervals import Interval, Z
from callgauge.stats.session_groups import GROUPS, place_in_groups, ratio_interval
from callgauge.stats.task_pairs import (
    ENDS,
    FACTORS,
    Counts,
    Decision,
    FactorComparison,
    FactorDesign,
    MeasuredDifference,
    PairedTasks,
    TaskCount,
    anytime_interval,
    bound_missing,
    compare_as_planned,
    compare_factors,
    compare_unplanned,
    pair_counts,
    pair_tasks,
    pair_values,
    tasks_more,
    value_tasks,
)

Row = Mapping[Hashable, Any]
State = Literal["done", "going on", "not ended", "not begun"]
# A run publishes every half minute, but a trial of a slow model may take longer.
_RECENT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class TrialMeasure:
    """A measure of trials. `parts` returns k and n of a trial, or None if the trial has no such result.

    `tried` is the noun for what n counts, in the singular. `unit` is `share` (0 to 1), `tokens` or `USD`.
    """

    name: str
    title: str
    meaning: str
    tried: str
    parts: Callable[[TriedTask], tuple[float, float] | None] = field(repr=False)
    unit: Literal["share", "tokens", "USD"] = "share"
    is_good: bool = False

    @property
    def is_share(self) -> bool:
        return self.unit == "share"

    @property
    def lower_is_better(self) -> bool:
        return not self.is_good


@dataclass(frozen=True, slots=True)
class TriedTask:
    """One trial, a row of the metric `trial_results`.

    `right` is the result of the task's check, or None if the task has no check. `mended` is the number of
    calls that were converted or repaired, or None if the server may have rewritten the arguments.
    """

    arm: str
    task: str
    repeat: str | None
    session: str
    file: int | None
    no_reply: bool
    calls: int
    refused: int
    mended: int | None
    misses: int
    simulated: int
    right: bool | None
    why: str | None
    turn_ok: bool | None
    status: str | None
    tokens: int | None
    cost: float | None
    resent: int
    ended_at: datetime | None


def _of_calls(count: int, calls: int) -> tuple[float, float]:
    return count, calls


def _of_trial(value: float | bool | None) -> tuple[float, float] | None:
    return None if value is None else (float(value), 1.0)


MEASURES: Mapping[str, TrialMeasure] = {
    unit.name: unit
    for unit in (
        TrialMeasure(
            "refused",
            "Invalid calls",
            "Share of calls whose arguments are not JSON or do not fit the definition",
            "call",
            lambda trial: _of_calls(trial.refused, trial.calls),
        ),
        TrialMeasure(
            "mended",
            "Repaired calls",
            "Share of calls whose arguments had to be converted or repaired",
            "call",
            lambda trial: None if trial.mended is None else _of_calls(trial.mended, trial.calls),
        ),
        TrialMeasure(
            "right",
            "Right",
            "Share of trials that pass the check of their task",
            "trial",
            lambda trial: _of_trial(trial.right),
            is_good=True,
        ),
        TrialMeasure(
            "turn_ok",
            "Turn success",
            "Share of trials whose turn ended with an answer, checked or not",
            "trial",
            lambda trial: _of_trial(trial.turn_ok),
            is_good=True,
        ),
        TrialMeasure(
            "tokens",
            "Tokens",
            "Tokens read and written, of a trial on average",
            "trial",
            lambda trial: _of_trial(trial.tokens),
            unit="tokens",
        ),
        TrialMeasure(
            "cost",
            "Cost",
            "What a trial costs on average, in USD",
            "trial",
            lambda trial: _of_trial(trial.cost),
            unit="USD",
        ),
    )
}
"""Every measure by name, in the order of the page."""


@dataclass(frozen=True, slots=True)
class ArmDecision:
    """The verdict of the latest interim analysis of one variant."""

    arm: str
    look: int
    tasks: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class TrialRun:
    """A trial run, a row of the metric `trial_runs`.

    `arms` are the planned variants and the reference. `smallest` is the smallest difference of interest, in
    the unit of the primary measure. `tasks` is the number of planned tasks. `tasks_tried` is the number of
    tasks with a trial of any variant. `cost` is in USD, or None if no trial has a price.
    """

    run: str
    name: str
    question: str
    created_at: datetime | None
    primary: TrialMeasure
    smallest: float
    alpha: float
    reference: str
    looks: int
    arms: tuple[Mapping[str, Any], ...]
    tasks: int
    task_order: tuple[str, ...]
    groups: Mapping[str, str]
    repeats: int
    look_at: tuple[int, ...]
    boundaries: tuple[float, ...]
    budget: Mapping[str, float]
    endpoints: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, Any]
    seed: int | None
    max_steps: int | None
    trials: int
    tasks_tried: int
    no_reply: int
    cost: float | None
    unpriced: int
    tokens: int | None
    last_at: datetime | None
    decisions: Mapping[str, ArmDecision]

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The names of the variants, the reference first."""
        names = [str(arm["name"]) for arm in self.arms]
        return (self.reference, *(name for name in names if name != self.reference))

    @property
    def planned(self) -> int:
        """The number of planned tasks."""
        return self.tasks

    @property
    def others(self) -> tuple[str, ...]:
        """The variants that are compared with the reference."""
        return self.arm_names[1:]

    @property
    def arm_alpha(self) -> float:
        """The significance level for stopping one variant: alpha divided by the number of variants
        (Bonferroni).
        """
        return self.alpha / max(1, len(self.others))

    @property
    def is_decided(self) -> bool:
        """True when every variant is decided, or had its last interim analysis."""
        decisions = [self.decisions.get(name) for name in self.others]
        return bool(decisions) and all(
            decision and (decision.decision in ENDS or decision.look >= len(self.look_at))
            for decision in decisions
        )

    @property
    def stopped_at(self) -> ArmDecision | None:
        """The interim analysis that ended the trial run before all tasks, or None for a complete run."""
        last = max(self.decisions.values(), key=lambda decision: decision.look, default=None)
        return last if last and self.is_decided and last.look < len(self.look_at) else None

    @property
    def days(self) -> tuple[date, date] | None:
        """The first and the last day of the trial run, or None if the days are unknown."""
        first = self.created_at or self.last_at
        return (first.date(), (self.last_at or first).date()) if first else None

    def state(self, now: datetime) -> State:
        """Return the progress of the trial run at the time `now`, which is naive UTC as in the store."""
        if self.is_decided or (self.trials and self.trials >= self.tasks * self.repeats * len(self.arms)):
            return "done"
        if not self.trials:
            return "not begun"
        return "going on" if self.last_at and now - self.last_at < _RECENT else "not ended"

    @property
    def spent(self) -> tuple[float, str] | None:
        """The spent share of the budget and the unit of the budget, or None if the plan limits neither cost
        nor tokens.
        """
        shares = [
            (value / self.budget[name], name)
            for name, value in (("cost", self.cost), ("tokens", self.tokens))
            if value is not None and self.budget.get(name)
        ]
        return max(shares, default=None)


@dataclass(frozen=True, slots=True)
class StoredLook:
    """An interim analysis of a variant (a row of the metric `trial_looks`).

    Differences are in the primary measure's unit.
    """

    look: int
    arm: str
    tasks: int
    planned: int
    estimate: float | None
    low: float | None
    high: float | None
    statistic: float | None
    boundary: float | None
    decision: Decision
    missing: int

    @property
    def reach(self) -> float | None:
        """The smallest difference that decides at this interim analysis, in the unit of the measure."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class ArmTotal:
    """The result of a variant's trials by one measure.

    For a share, `k` counts the hits of `n`. For an amount, `k` is the sum over `n` trials. `rate` is k / n
    with the 95 % interval over the independent `tasks`. `unmeasured` is the number of `replied` trials
    without a value of this measure.
    """

    k: float
    n: float
    tasks: int
    rate: float | None
    interval: Interval | None
    replied: int
    unmeasured: int


@dataclass(frozen=True, slots=True)
class SuccessCost:
    """A variant's cost per success in USD, with its 95 % interval over tasks.

    `cost` is the cost of the `priced` trials whose success is known. `won` is the number of these trials that
    succeeded. `amount` is None when no trial succeeded.
    """

    cost: float
    priced: int
    won: int
    amount: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """The difference of a variant after `tasks` tasks.

    The interval from `low` to `high` is valid at any time.
    """

    tasks: int
    estimate: float
    low: float
    high: float


class RunResults:
    """The trials of a trial run by variant and task. Computed results are cached."""

    def __init__(self, run: TrialRun, trials: Sequence[TriedTask]) -> None:
        self.run = run
        self.trials = trials
        self.by_arm: dict[str, dict[str, list[TriedTask]]] = {name: {} for name in run.arm_names}
        for trial in trials:
            self.by_arm.setdefault(trial.arm, {}).setdefault(trial.task, []).append(trial)
        self._counts: dict[str, Counts] = {}

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Every tried task, in the order of the trial run. Tasks that are not in the plan come last."""
        tried = {task for by_task in self.by_arm.values() for task in by_task}
        in_order = [task for task in self.run.task_order if task in tried]
        return (*in_order, *sorted(tried - set(in_order)))

    def count_missing(self, arm: str) -> tuple[int, int]:
        """Return how many trials of a variant have no reply, and how many trials the variant has."""
        arm_trials = [trial for several in self.by_arm.get(arm, {}).values() for trial in several]
        return sum(trial.no_reply for trial in arm_trials), len(arm_trials)

    def counts(self, measure: TrialMeasure) -> Counts:
        """Return k and n of each task of each variant, summed over the trials of the task."""
        if measure.name not in self._counts:
            self._counts[measure.name] = {
                arm: {task: _count(several, measure) for task, several in by_task.items()}
                for arm, by_task in self.by_arm.items()
            }
        return self._counts[measure.name]

    def total(self, arm: str, measure: TrialMeasure) -> ArmTotal:
        """Return the result of a variant's trials by one measure."""
        tasks = self.counts(measure).get(arm, {})
        alone = pair_values(value_tasks(tasks), measure, self.run.groups)
        arm_trials = [
            trial for several in self.by_arm.get(arm, {}).values() for trial in several if not trial.no_reply
        ]
        return ArmTotal(
            sum(count.k for count in tasks.values()),
            sum(count.n for count in tasks.values()),
            alone.tasks,
            alone.of,
            _bound(alone, measure),
            len(arm_trials),
            sum(not (measure.parts(trial) or (0, 0))[1] for trial in arm_trials),
        )

    def pair(self, arm: str, measure: TrialMeasure) -> PairedTasks:
        """Return the paired differences of a variant and the reference over the tasks that both tried."""
        return pair_tasks(self.counts(measure), measure, arm, self.run.reference, self.run.groups)

    def bound_missing(self, arm: str) -> tuple[float, float] | None:
        """Return the range of the primary difference over all possible results of the missing trials."""
        return bound_missing(self.counts(self.run.primary), arm, self.run.reference)

    def compare(
        self, arm: str, measure: TrialMeasure, looks: Sequence[StoredLook]
    ) -> tuple[MeasuredDifference | None, Decision]:
        """Return the difference of a variant with the interval to report, and the verdict."""
        if measure is self.run.primary:
            return compare_as_planned(self.run, self.pair(arm, measure), looks)
        return compare_unplanned(measure, self.pair(arm, measure))

    def tasks_to_go(self, arm: str) -> int | None:
        """Return how many more tasks a verdict on the primary measure needs, if the difference stays."""
        return tasks_more(self.run, self.pair(arm, self.run.primary))

    def compare_factors(self) -> tuple[FactorComparison, ...]:
        """Return the comparisons of each setting in which two or more pairs of variants differ, by the
        primary measure.
        """
        run = self.run
        settings = {str(arm["name"]): {factor: arm.get(factor) for factor in FACTORS} for arm in run.arms}
        design = FactorDesign(run.primary, run.reference, run.groups, run.alpha)
        return compare_factors(self.counts(run.primary), design, settings)

    @property
    def success(self) -> TrialMeasure:
        """The measure of success: a correct answer or, if no task has a check, a successful turn."""
        is_checked = any(trial.right is not None for trial in self.trials)
        return MEASURES["right" if is_checked else "turn_ok"]

    def cost_of_success(self, arm: str) -> SuccessCost:
        """Return a variant's cost per success.

        Trials without a price, or with unknown success, are left out.
        """
        judged = self.success
        sums: defaultdict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        priced = 0
        for number, task in enumerate(self.tasks):
            for trial in self.by_arm.get(arm, {}).get(task, ()):
                part = None if trial.no_reply else judged.parts(trial)
                if part and trial.cost is not None:
                    priced += 1
                    sums[number % GROUPS][0] += trial.cost
                    sums[number % GROUPS][1] += part[0]
        ids = sorted(sums)
        spent, won = place_in_groups([ids], *([[sums[group][place] for group in ids]] for place in (0, 1)))[0]
        cost, successes = float(spent.sum()), int(won.sum())
        if not successes:
            return SuccessCost(cost, priced, 0, None, None)
        return SuccessCost(cost, priced, successes, cost / successes, ratio_interval(spent, won))

    def follow_course(self, arm: str, most: int = 120) -> list[CoursePoint]:
        """Return the primary difference of a variant over the completed tasks, in at most `most` points.

        The interval is valid at any time.
        """
        measure, run = self.run.primary, self.run
        counts = self.counts(measure)
        paired = pair_counts(counts, arm, run.reference)
        both = [task for task in self.tasks if task in paired]
        step = max(1, -(-len(both) // most))
        points = []
        for number in range(2, len(both) + 1):
            if number % step and number != len(both):
                continue
            pairs = pair_values(
                pair_counts(counts, arm, run.reference, set(both[:number])), measure, run.groups
            )
            ends = anytime_interval(run, pairs)
            if pairs.mean and ends:
                points.append(CoursePoint(number, pairs.mean.estimate, *ends))
        return points


def _bound(alone: PairedTasks, measure: TrialMeasure) -> Interval | None:
    if alone.mean is None:
        return None
    low, high = alone.mean.interval(Z)
    return Interval(max(0.0, low), min(1.0, high) if measure.is_share else high)


def _count(several: Sequence[TriedTask], measure: TrialMeasure) -> TaskCount:
    parts = [part for trial in several if not trial.no_reply and (part := measure.parts(trial))]
    missing = sum(trial.no_reply for trial in several)
    return TaskCount(sum(k for k, _ in parts), sum(n for _, n in parts), len(several), missing, len(parts))


def make_runs(rows: pd.DataFrame) -> list[TrialRun]:
    """Return the trial runs from the rows of the metric `trial_runs`, in the same order."""
    return [_make_run(row) for row in rows.to_dict("records")]


def make_trials(rows: pd.DataFrame) -> list[TriedTask]:
    """Return the trials of the metric `trial_results`, in the same order."""
    columns = (
        "arm", "task", "repeat_no", "session_id", "file_id", "no_reply", "calls", "refused", "mended",
        "misses", "simulated", "checked", "why", "turn_ok", "status", "tokens", "cost", "resent", "ended_at",
    )  # fmt: skip
    return [TriedTask(*row) for row in zip(*(rows[name] for name in columns), strict=True)]


def make_looks(rows: pd.DataFrame) -> dict[str, list[StoredLook]]:
    """Return the interim analyses of the metric `trial_looks` by variant, in their order."""
    by_arm: dict[str, list[StoredLook]] = defaultdict(list)
    for row in rows.drop(columns="taken_at").to_dict("records"):
        by_arm[row["arm"]].append(StoredLook(**{str(name): value for name, value in row.items()}))
    return dict(by_arm)


def _make_run(row: Row) -> TrialRun:
    arms = tuple(_read_json(row["arms"], []))
    budget = {name: row[f"budget_{name}"] for name in ("cost", "tokens", "minutes")}
    return TrialRun(
        run=row["run"],
        name=row["name"] or row["run"],
        question=row["question"] or "",
        created_at=row["created_at"],
        primary=MEASURES.get(row["primary_measure"], MEASURES["refused"]),
        smallest=row["smallest"] or 0.0,
        alpha=row["alpha"] or 0.05,
        reference=row["reference"],
        looks=row["looks"] or 1,
        arms=arms,
        tasks=row["tasks"] or 0,
        task_order=tuple(_read_json(row["task_order"], [])),
        groups=_read_json(row["task_groups"], {}),
        repeats=row["repeats"] or 1,
        look_at=tuple(row["look_at"] or ()),
        boundaries=tuple(row["boundaries"] or ()),
        budget={name: value for name, value in budget.items() if value},
        endpoints=_read_json(row["endpoints"], {}),
        versions=_read_json(row["versions"], {}),
        seed=row["seed"],
        max_steps=row["max_steps"],
        trials=row["trials"],
        tasks_tried=row["tasks_tried"],
        no_reply=row["no_reply"],
        cost=row["cost"],
        unpriced=row["unpriced"],
        tokens=row["tokens"],
        last_at=row["last_at"],
        decisions={decision["arm"]: ArmDecision(**decision) for decision in row["decisions"]},
    )


def _read_json(text: str | None, empty: Any) -> Any:
    return json.loads(text) if text else empty
