"""The gate of a trial run: an exit code for CI that says whether a variant is worse than the reference.

`no-worse=0.02` tests the primary measure with a margin of 2 points. `no-worse:right=0.02` tests the measure
`right`. A variant passes when its confidence interval excludes a loss of the margin or more
(non-inferiority). It fails when the whole interval is worse than the reference. Otherwise there is not enough
data. The intervals are valid even if the trial run stopped early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt

from callgauge.stats.gate_syntax import EXIT_CODES, GateSyntaxError, Verdict, choose_worst, read_gate_text
from callgauge.stats.intervals import Z
from callgauge.stats.paired import FEWEST_UNLIKE
from callgauge.stats.sequential import normal_quantile, observations_needed
from callgauge.stats.task_pairs import (
    MOST_MISSING,
    Counts,
    PairedTasks,
    has_enough,
    pair_counts,
    pair_tasks,
    pair_values,
    repeated_interval,
    value_tasks,
)
from callgauge.trials.planning.plan import MeasureName
from callgauge.trials.results.run_folder import ArmLook, FolderError, TrialOutcome
from callgauge.trials.verdicts.looks import TrialDesign
from callgauge.trials.verdicts.measures import MEASURES, Measure, count_tasks
from callgauge.trials.verdicts.run_record import RunRecord

_STORE_RATES = {"parse_error": "refused", "schema_error": "refused", "turn_success": "turn_ok"}
"""The measure of a trial run that is closest to a rate of a store."""


@dataclass(frozen=True, slots=True)
class Margin:
    """How much worse a variant may be. The margin is a share for rates, and an amount for other measures.

    `measure` is None for the primary measure.
    """

    measure: MeasureName | None
    size: float


@dataclass(frozen=True, slots=True)
class ArmSide:
    """A measure of one variant, over the tasks that the variant and the reference both have.

    `k` is the number of hits and `n` the number of tries. For tokens and cost, `k` is the total and `n` the
    number of trials. `rate` is k / n. `low` and `high` are its 95 % interval, in which tasks are the
    independent units.
    """

    name: str
    k: float
    n: float
    rate: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class TaskChanges:
    """The tasks that both variants have: how many, and in which the variant is worse, the worst first."""

    tasks: int = 0
    worse: tuple[str, ...] = ()
    better: int = 0


@dataclass(frozen=True, slots=True)
class ArmGate:
    """The gate's verdict on one variant.

    `low` and `high` are the interval of variant − reference from which the verdict follows. `more` is the
    number of additional tasks that a verdict needs, or None when this number is unknown. `slice` and
    `baseline` are the measured values of the variant and of the reference.
    """

    arm: str
    verdict: Verdict
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    more: int | None = None
    why: str | None = None
    slice: ArmSide | None = None
    baseline: ArmSide | None = None
    changes: TaskChanges = field(default_factory=TaskChanges)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The gate's verdict on a trial run, which is the worst verdict of the run's variants."""

    measure: MeasureName
    margin: float
    arms: tuple[ArmGate, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the variants. It is "cannot be told" if there are no variants."""
        return choose_worst(arm.verdict for arm in self.arms)

    @property
    def is_passed(self) -> bool:
        """True when every variant passed the gate."""
        return self.verdict == "not worse"

    @property
    def exit_code(self) -> int:
        """The exit code: 0 for not worse, 5 for worse, 6 for not enough data."""
        return EXIT_CODES[self.verdict]


def read_gate(text: str) -> Margin:
    """Return the margin of a gate such as `no-worse=0.02`, `no-worse=2%` or `no-worse:right=0.02`.

    Raises GateSyntaxError.
    """
    try:
        name, size = read_gate_text(text, MEASURES, "measure", "right")
    except GateSyntaxError as problem:
        raise GateSyntaxError(f"{problem}{_advise_measure(text)}") from None
    return Margin(next((measure for measure in MEASURES if measure == name), None), size)


def _advise_measure(text: str) -> str:
    """Return which measure of a trial run replaces the rate of a store that a gate names, or ""."""
    for rate, measure in _STORE_RATES.items():
        if f":{rate}" in text.partition("=")[0].replace(" ", ""):
            return f". {rate} is a rate of a store; the closest measure of a trial run is {measure}"
    return ""


def judge_gates(record: RunRecord, texts: Sequence[str]) -> list[GateResult]:
    """Return the verdicts of gates such as `no-worse=0.02` on a trial run.

    Raises GateSyntaxError, and FolderError if the trial run has one variant.
    """
    margins = [read_gate(text) for text in texts]
    if margins and not record.design.others:
        raise FolderError(
            f"the trial run {record.lock['run']} has one variant, so a gate has nothing to compare. Add the "
            "new variant to [arms] of the plan, and start a new run with `callgauge trial run`"
        )
    return [judge_gate(record.design, record.outcomes, record.looks, margin) for margin in margins]


def judge_gate(
    design: TrialDesign, outcomes: Sequence[TrialOutcome], looks: Sequence[ArmLook], margin: Margin
) -> GateResult:
    """Return the gate's verdict on every variant of a trial run, which may be unfinished.

    `looks` holds the interim analyses. For each variant, the probability of a false pass is alpha. For all
    variants together, the probability of a false "worse" is alpha.
    """
    name = margin.measure or design.primary
    counts = count_tasks(outcomes, MEASURES[name])
    arms = tuple(
        _add_figures(
            _judge_arm(
                design,
                name,
                margin.size,
                arm,
                pair_tasks(counts, MEASURES[name], arm, design.reference, design.groups),
                [arm_look for arm_look in looks if arm_look.arm == arm],
            ),
            design,
            counts,
            MEASURES[name],
        )
        for arm in design.others
    )
    return GateResult(name, margin.size, arms)


def choose_exit_code(gates: Sequence[GateResult]) -> int:
    """Return the exit code for several gates: 5 if a gate fails, else 6 if a gate lacks data, else 0."""
    return EXIT_CODES[choose_worst(gate.verdict for gate in gates)]


def _add_figures(judged: ArmGate, design: TrialDesign, counts: Counts, measure: Measure) -> ArmGate:
    """Return the verdict with the values of both variants, and with the tasks in which they differ."""
    shared = pair_counts(counts, judged.arm, design.reference)
    of, against = (
        {task: counts[name][task] for task in shared} if shared else {}
        for name in (judged.arm, design.reference)
    )
    sign = 1 if measure.lower_is_better else -1
    changes = {task: sign * ((of[task].rate or 0.0) - (against[task].rate or 0.0)) for task in shared}
    worse = sorted((task for task in changes if changes[task] > 0), key=lambda task: (-changes[task], task))
    sides = []
    for name, tasks in ((judged.arm, of), (design.reference, against)):
        alone = pair_values(value_tasks(tasks), measure, design.groups)
        low, high = alone.mean.interval(Z) if alone.mean else (None, None)
        if low is not None and high is not None:
            low, high = max(0.0, low), min(1.0, high) if measure.is_share else high
        k, n = sum(count.k for count in tasks.values()), sum(count.n for count in tasks.values())
        sides.append(ArmSide(name, k, n, k / n if n else None, low, high))
    better = sum(change < 0 for change in changes.values())
    return replace(
        judged, slice=sides[0], baseline=sides[1], changes=TaskChanges(len(shared), tuple(worse), better)
    )


def _judge_arm(
    design: TrialDesign,
    name: MeasureName,
    margin: float,
    arm: str,
    pairs: PairedTasks,
    looks: Sequence[ArmLook],
) -> ArmGate:
    mean, measure = pairs.mean, MEASURES[name]
    if mean is None:
        return ArmGate(arm, "cannot be told", why="fewer than two tasks of both variants")
    is_last = any(arm_look.look >= len(design.look_at) for arm_look in looks)
    passing = repeated_interval(design, pairs, looks, 2 * design.alpha) or (0.0, 0.0)
    failing = repeated_interval(design, pairs, looks, design.arm_alpha) or (0.0, 0.0)
    # From here on, larger values are worse.
    sign = 1 if measure.lower_is_better else -1
    low, high = passing
    most = max(sign * low, sign * high)
    surely = min(sign * end for end in failing)
    needed = _find_needed(sign * mean.estimate, mean.error, pairs.tasks, margin, design)
    if needed is not None and not is_last and needed < design.planned:
        # An early analysis has a higher boundary, so a verdict needs more tasks than at the end.
        needed = ceil(sqrt(needed * design.planned))
    more = None if needed is None else max(1, needed - pairs.tasks)
    if pairs.most_missing > MOST_MISSING:
        why = f"{pairs.most_missing:.1%} of a variant's trials have no reply"
        return ArmGate(arm, "cannot be told", mean.estimate, low, high, None, why)
    if pairs.tasks >= FEWEST_UNLIKE and most < margin:
        return ArmGate(arm, "not worse", mean.estimate, low, high)
    if has_enough(measure, pairs) and surely > 0:
        return ArmGate(arm, "worse", mean.estimate, *failing)
    return ArmGate(arm, "cannot be told", mean.estimate, low, high, more)


def _find_needed(worse_by: float, error: float, tasks: int, margin: float, design: TrialDesign) -> int | None:
    """Return the total number of tasks that one analysis needs for a verdict.

    This assumes that the true difference equals the observed difference.
    """
    ways = (
        observations_needed(error, tasks, margin - worse_by, normal_quantile(design.alpha)),
        observations_needed(error, tasks, worse_by, normal_quantile(design.arm_alpha / 2)),
    )
    numbers = [each for each in ways if each is not None]
    return min(numbers, default=None)
