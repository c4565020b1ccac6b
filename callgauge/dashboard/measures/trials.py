"""Runs of trials: what each arm came to by each measure, and how it stands to the reference."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import pandas as pd

from callgauge.stats import GROUPS, Interval, Share, place_in_groups, ratio_interval
from callgauge.stats.intervals import Floats, Z
from callgauge.stats.paired import PairedMean, measure_paired_amounts, measure_paired_shares
from callgauge.stats.sequential import anytime_reach, normal_quantile, observations_needed

Row = Mapping[Hashable, Any]
State = Literal["done", "going on", "not ended", "not begun"]
ENDS = frozenset(("better", "worse", "alike", "not decided"))
"""The decisions after which an arm is not asked any more."""
MOST_MISSING = 0.05
"""The share of an arm's trials without a reply above which no verdict is given."""
_RECENT = timedelta(minutes=5)  # a run publishes every half minute; a slow model takes a while for a trial


@dataclass(frozen=True, slots=True)
class TrialMeasure:
    """A measure of trials. `parts`: the hits and tries of a trial (k and n); None where it has none.

    `tried`: what n counts, in the singular. `unit`: `share` (0 to 1), `tokens` or `USD`.
    """

    name: str
    title: str
    meaning: str
    tried: str
    parts: Callable[[Trial], tuple[float, float] | None] = field(repr=False)
    unit: Literal["share", "tokens", "USD"] = "share"
    is_good: bool = False

    @property
    def is_share(self) -> bool:
        return self.unit == "share"


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial, a row of the metric `trial_results`. `right`: what the task's check says, None without."""

    arm: str
    task: str
    repeat: str | None
    session: str
    file: int | None
    no_reply: bool
    calls: int
    refused: int
    mended: int
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


def _of_calls(count: int, calls: int) -> tuple[float, float] | None:
    return (count, calls) if calls else None


def _of_trial(value: float | bool | None) -> tuple[float, float] | None:
    return None if value is None else (float(value), 1.0)


MEASURES: Mapping[str, TrialMeasure] = {
    one.name: one
    for one in (
        TrialMeasure(
            "refused",
            "Refused",
            "Share of calls whose arguments are no JSON, or not what the definition asks for",
            "call",
            lambda one: _of_calls(one.refused, one.calls),
        ),
        TrialMeasure(
            "mended",
            "Mended",
            "Share of calls whose arguments had to be converted or repaired",
            "call",
            lambda one: _of_calls(one.mended, one.calls),
        ),
        TrialMeasure(
            "right",
            "Right",
            "Share of trials that the task's own check says are right",
            "trial",
            lambda one: _of_trial(one.right),
            is_good=True,
        ),
        TrialMeasure(
            "turn_ok",
            "Turn ok",
            "Share of trials whose turn ended with an answer, whatever a check says of it",
            "trial",
            lambda one: _of_trial(one.turn_ok),
            is_good=True,
        ),
        TrialMeasure(
            "tokens",
            "Tokens",
            "Tokens read and written, of a trial on average",
            "trial",
            lambda one: _of_trial(one.tokens),
            unit="tokens",
        ),
        TrialMeasure(
            "cost",
            "Cost",
            "What a trial costs on average, in USD",
            "trial",
            lambda one: _of_trial(one.cost),
            unit="USD",
        ),
    )
}
"""Every measure by name, in the order of the page."""


@dataclass(frozen=True, slots=True)
class ArmDecision:
    """What the last look said of an arm."""

    arm: str
    look: int
    tasks: int
    decision: str


@dataclass(frozen=True, slots=True)
class TrialRun:
    """A run, a row of the metric `trial_runs`. `arms`: as planned, the reference among them.

    `smallest`: the smallest difference worth knowing, in the unit of the primary measure. `tasks`: planned;
    `tasks_tried`: with a trial in some arm. `cost` in USD, None where no trial is priced.
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
        """The names of the arms, the reference first."""
        names = [str(arm["name"]) for arm in self.arms]
        return (self.reference, *(name for name in names if name != self.reference))

    @property
    def others(self) -> tuple[str, ...]:
        """The arms that are held against the reference."""
        return self.arm_names[1:]

    @property
    def arm_alpha(self) -> float:
        """The error for which one arm may be stopped: alpha over the number of arms (Bonferroni)."""
        return self.alpha / max(1, len(self.others))

    @property
    def is_decided(self) -> bool:
        """True when every arm is decided, or has had its last look."""
        found = [self.decisions.get(name) for name in self.others]
        return bool(found) and all(
            one and (one.decision in ENDS or one.look >= len(self.look_at)) for one in found
        )

    @property
    def stopped_at(self) -> ArmDecision | None:
        """The look after which no arm was left, where tasks were; None for a run that took all."""
        last = max(self.decisions.values(), key=lambda one: one.look, default=None)
        return last if last and self.is_decided and last.look < len(self.look_at) else None

    def state(self, now: datetime) -> State:
        """Return how far the run is; `now` is naive UTC, as the store keeps times."""
        if self.is_decided or (self.trials and self.trials >= self.tasks * self.repeats * len(self.arms)):
            return "done"
        if not self.trials:
            return "not begun"
        return "going on" if self.last_at and now - self.last_at < _RECENT else "not ended"

    @property
    def spent(self) -> tuple[float, str] | None:
        """The share of the budget that is spent, and of what; None without a budget of cost or tokens."""
        shares = [
            (value / self.budget[name], name)
            for name, value in (("cost", self.cost), ("tokens", self.tokens))
            if value is not None and self.budget.get(name)
        ]
        return max(shares, default=None)


@dataclass(frozen=True, slots=True)
class ArmLook:
    """A row of the metric `trial_looks`: what one look says of an arm, in the unit of the primary measure."""

    look: int
    arm: str
    tasks: int
    planned: int
    estimate: float | None
    low: float | None
    high: float | None
    statistic: float | None
    boundary: float | None
    decision: str
    missing: int

    @property
    def reach(self) -> float | None:
        """How large a difference has to be at this look to be decided: where the boundary is, in its unit."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class ArmTotal:
    """What the trials of an arm came to by one measure: k of n, with a 95 % interval over tasks.

    `unmeasured`: trials that have none of it, of all `trials` that got a reply.
    """

    k: float
    n: float
    trials: int
    unmeasured: int
    share: Share | None
    interval: Interval | None

    @property
    def value(self) -> float | None:
        return self.k / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class PairedTasks:
    """The tasks that two arms both have, for one measure; differences are arm − reference.

    `of`, `against`: the means over these tasks. `mean` is None below two tasks (or groups of tasks).
    """

    tasks: int
    of: float | None
    against: float | None
    mean: PairedMean | None

    def interval(self, z: float = Z) -> tuple[float, float] | None:
        """Return both ends of the interval with the confidence of ±z; None where there is no mean."""
        return self.mean.interval(z) if self.mean else None


class RunResults:
    """The trials of a run by arm and task. What is computed of them is kept."""

    def __init__(self, run: TrialRun, trials: Sequence[Trial]) -> None:
        self.run = run
        self.trials = trials
        self.by_arm: dict[str, dict[str, list[Trial]]] = {name: {} for name in run.arm_names}
        for one in trials:
            self.by_arm.setdefault(one.arm, {}).setdefault(one.task, []).append(one)
        self._rates: dict[tuple[str, str], dict[str, float]] = {}

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Every task that was tried, in the order of the run; those that the plan does not name come last."""
        tried = {task for its in self.by_arm.values() for task in its}
        known = [task for task in self.run.task_order if task in tried]
        return (*known, *sorted(tried - set(known)))

    def count_missing(self, arm: str) -> tuple[int, int]:
        """Return how many trials of an arm have no reply, and how many there are."""
        its = [one for several in self.by_arm.get(arm, {}).values() for one in several]
        return sum(one.no_reply for one in its), len(its)

    def task_rates(self, arm: str, measure: TrialMeasure) -> Mapping[str, float]:
        """Return the measure of each task of an arm that has one: its trials taken together."""
        key = (arm, measure.name)
        if key not in self._rates:
            self._rates[key] = {
                task: k / n
                for task, several in self.by_arm.get(arm, {}).items()
                for k, n in [_sum_parts(several, measure)[:2]]
                if n
            }
        return self._rates[key]

    def total(self, arm: str, measure: TrialMeasure) -> ArmTotal:
        """Return what an arm's trials came to by one measure."""
        parts: dict[str, tuple[float, float]] = {}
        unmeasured = replied = 0
        for task, several in self.by_arm.get(arm, {}).items():
            hits, tries, without = _sum_parts(several, measure)
            parts[task] = (hits, tries)
            unmeasured += without
            replied += sum(not one.no_reply for one in several)
        by_group = self._sum_by_group(parts)
        k, n = (float(each.sum()) for each in by_group)
        if not n:
            return ArmTotal(0, 0, replied, unmeasured, None, None)
        if not measure.is_share:
            return ArmTotal(k, n, replied, unmeasured, None, ratio_interval(by_group[0], by_group[1]))
        share = Share.from_groups(by_group[0], by_group[1], len(self.by_arm[arm]))
        return ArmTotal(k, n, replied, unmeasured, share, share.interval)

    def _sum_by_group(self, parts: Mapping[str, tuple[float, float]]) -> Floats:
        """Return two amounts of each task, summed by group: an array of shape (2, GROUPS)."""
        sums: defaultdict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for number, task in enumerate(self.tasks):
            for place, amount in enumerate(parts.get(task, ())):
                sums[number % GROUPS][place] += amount
        ids = sorted(sums)
        tops, bottoms = ([sums[each][place] for each in ids] for place in (0, 1))
        found: Floats = place_in_groups([ids], [tops], [bottoms])[0]
        return found

    def pair(self, arm: str, measure: TrialMeasure, tasks: Iterable[str] | None = None) -> PairedTasks:
        """Return the paired differences of an arm and the reference; `tasks`: only these."""
        one, other = self.task_rates(arm, measure), self.task_rates(self.run.reference, measure)
        both = [task for task in (self.tasks if tasks is None else tasks) if task in one and task in other]
        return pair_values({task: (one[task], other[task]) for task in both}, measure, self.run.groups)

    def cost_of_success(self, arm: str) -> tuple[ArmTotal, ArmTotal, float | None, Interval | None]:
        """Return cost and successes of an arm, cost per success, and its 95 % interval over tasks.

        A success is a right trial, or one whose turn ended well where no task has a check. Trials that are
        not priced or not judged are in neither sum.
        """
        right = MEASURES["right"]
        judged = right if self.total(arm, right).n else MEASURES["turn_ok"]
        parts: dict[str, tuple[float, float]] = {}
        for task, several in self.by_arm.get(arm, {}).items():
            priced = [
                (one.cost, part[0])
                for one in several
                if not one.no_reply and one.cost is not None and (part := judged.parts(one))
            ]
            parts[task] = (sum(cost for cost, _ in priced), sum(won for _, won in priced))
        both = self._sum_by_group(parts)
        won = float(both[1].sum())
        amount = float(both[0].sum()) / won if won else None
        return (
            self.total(arm, MEASURES["cost"]),
            self.total(arm, judged),
            amount,
            ratio_interval(both[0], both[1]) if won else None,
        )


def pair_values(
    pairs: Mapping[str, tuple[float, float]], measure: TrialMeasure, groups: Mapping[str, str]
) -> PairedTasks:
    """Return the paired differences of ready values by task: of the arm, and of the reference.

    Tasks of one group are one cluster, as their results are alike.
    """
    clusters: dict[tuple[str, str], list[float]] = defaultdict(list)
    for task, (value, against) in pairs.items():
        # A group and a task may have one name.
        clusters[("group", groups[task]) if task in groups else ("task", task)].append(value - against)
    measure_pairs = measure_paired_shares if measure.is_share else measure_paired_amounts
    number = len(pairs)
    return PairedTasks(
        number,
        sum(value for value, _ in pairs.values()) / number if number else None,
        sum(against for _, against in pairs.values()) / number if number else None,
        measure_pairs([sum(each) for each in clusters.values()], [len(each) for each in clusters.values()]),
    )


def _sum_parts(several: Iterable[Trial], measure: TrialMeasure) -> tuple[float, float, int]:
    """Return k, n and the number of trials with a reply of which nothing was measured."""
    parts = [measure.parts(one) for one in several if not one.no_reply]
    known = [part for part in parts if part]
    return sum(k for k, _ in known), sum(n for _, n in known), len(parts) - len(known)


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """The difference of an arm after so many tasks; `low`, `high`: an interval that holds at all times."""

    tasks: int
    estimate: float
    low: float
    high: float


def follow_course(results: RunResults, arm: str, most: int = 120) -> list[CoursePoint]:
    """Return the course of the primary difference of an arm as tasks were completed, at most `most` points.

    The interval is that of a confidence sequence (`stats.sequential.anytime_reach`): it may be looked at at
    any time. It is narrowest near the end of the plan.
    """
    measure, run = results.run.primary, results.run
    one, other = results.task_rates(arm, measure), results.task_rates(run.reference, measure)
    both = [task for task in results.tasks if task in one and task in other]
    step = max(1, -(-len(both) // most))
    numbers = [number for number in range(2, len(both) + 1) if number % step == 0 or number == len(both)]
    points = []
    for number in numbers:
        found = results.pair(arm, measure, both[:number]).mean
        if found is None:
            continue
        reach = anytime_reach(number, max(2, run.tasks), run.arm_alpha) * found.error
        points.append(CoursePoint(number, found.estimate, found.estimate - reach, found.estimate + reach))
    return points


def tasks_to_go(results: RunResults, arm: str) -> int | None:
    """Return how many more tasks would decide a difference of the smallest size; None where not known.

    With 80 % power, at the spread of the tasks so far and the level that this arm has.
    """
    found = results.pair(arm, results.run.primary)
    if found.mean is None:
        return None
    z = normal_quantile(results.run.arm_alpha / 2)
    needed = observations_needed(found.mean.error, found.tasks, results.run.smallest, z)
    return None if needed is None else max(0, needed - found.tasks)


def make_runs(rows: pd.DataFrame) -> list[TrialRun]:
    """Return the runs of the metric `trial_runs`, in the same order."""
    return [_make_run(row) for row in rows.to_dict("records")]


def make_trials(rows: pd.DataFrame) -> list[Trial]:
    """Return the trials of the metric `trial_results`, in the same order."""
    columns = (
        "arm", "task", "repeat_no", "session_id", "file_id", "no_reply", "calls", "refused", "mended",
        "misses", "simulated", "checked", "why", "turn_ok", "status", "tokens", "cost", "resent", "ended_at",
    )  # fmt: skip
    return [Trial(*row) for row in zip(*(rows[name] for name in columns), strict=True)]


def make_looks(rows: pd.DataFrame) -> dict[str, list[ArmLook]]:
    """Return the looks of the metric `trial_looks` by arm, in their order."""
    found: dict[str, list[ArmLook]] = defaultdict(list)
    for row in rows.drop(columns="taken_at").to_dict("records"):
        found[row["arm"]].append(ArmLook(**{str(name): value for name, value in row.items()}))
    return dict(found)


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
        decisions={one["arm"]: ArmDecision(**one) for one in row["decisions"]},
    )


def _read_json(text: str | None, empty: Any) -> Any:
    return json.loads(text) if text else empty
