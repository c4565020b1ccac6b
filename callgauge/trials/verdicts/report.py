"""The report of a trial run as data: the results of every variant, the comparisons, and what is unknown.

Only the primary measure has a planned verdict. During the run, the interval of the primary measure is valid
at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from callgauge.stats.intervals import Z
from callgauge.stats.task_pairs import (
    ENDS,
    MOST_MISSING,
    Counts,
    FactorComparison,
    FactorDesign,
    MeasuredDifference,
    bound_missing,
    compare_as_planned,
    compare_factors,
    compare_unplanned,
    pair_tasks,
    pair_values,
    tasks_more,
    value_tasks,
)
from callgauge.trials.planning.plan import MeasureName
from callgauge.trials.results.run_folder import NO_REPLY, ArmLook, Decision, TrialOutcome
from callgauge.trials.verdicts.measures import MEASURES, count_tasks
from callgauge.trials.verdicts.run_record import RunRecord, count_whole_tasks, open_arms

MOST_MISSES = 0.05
"""The report warns when a larger share of a variant's calls has no recorded answer."""
RunState = Literal["over", "not over"]


@dataclass(frozen=True, slots=True)
class ArmMeasure:
    """One measure of one variant. `k` is the number of hits and `n` the number of tries, over all tasks. For
    a measure in tokens or USD, `k` is the total and `n` the number of trials.

    `rate` is k / n with a 95 % interval, in which tasks are the independent units. It is None if there is no
    data. `word` is the verdict: better, worse, alike, not decided or withheld. It is empty for the reference.
    `is_planned` is False for measures that are not in the plan. `more` is the number of additional tasks that
    a verdict needs.
    """

    measure: MeasureName
    k: float
    n: float
    tasks: int
    rate: float | None
    low: float | None
    high: float | None
    difference: MeasuredDifference | None = None
    word: Decision | Literal[""] = ""
    is_planned: bool = True
    more: int | None = None


@dataclass(frozen=True, slots=True)
class ArmReport:
    """The results of one variant. `look` is the analysis that ended the variant, or else the last analysis.

    `bounds` holds the smallest and largest difference that any results of the missing trials would give. It
    is set only for a withheld verdict. `per_right` is the cost in USD per successful trial, and `per_ok` per
    completed trial.
    """

    name: str
    is_reference: bool
    settings: Mapping[str, Any]
    trials: int
    missing: int
    calls: int
    misses: int
    cost: float | None
    tokens: int | None
    per_right: float | None
    per_ok: float | None
    measures: tuple[ArmMeasure, ...]
    look: int | None = None
    stopped_at: int | None = None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a trial run. `whole_tasks` counts the tasks whose trials have ended in all variants that
    are still active.

    `next_look` is the value of `whole_tasks` at the next interim analysis, or None at the end of the trial
    run. `spent` and `caps` hold the known costs (USD), tokens and minutes, and their limits. `held` holds the
    settings that all variants share, and `differing` the other settings. `unknown` contains a sentence for
    each thing that the trial run cannot measure.
    """

    run: str
    name: str
    question: str
    state: RunState
    primary: MeasureName
    smallest: float
    reference: str
    alpha: float
    planned_tasks: int
    whole_tasks: int
    looks_planned: int
    looks_made: int
    next_look: int | None
    secondary: tuple[MeasureName, ...]
    spent: Mapping[str, float]
    caps: Mapping[str, float]
    arms: tuple[ArmReport, ...]
    factors: tuple[FactorComparison, ...]
    looks: tuple[ArmLook, ...]
    held: Mapping[str, Any]
    differing: Mapping[str, Any]
    warnings: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def budget_share(self) -> float | None:
        """The largest used share of all limits, or None when the budget has no limits."""
        shares = [self.spent[name] / cap for name, cap in self.caps.items() if cap and name in self.spent]
        return max(shares, default=None)

    def to_data(self) -> dict[str, Any]:
        """Return the object of `report.json`."""
        return {"callgauge_report": 1, **msgspec.to_builtins(self), "budget_share": self.budget_share}


def make_report(record: RunRecord) -> Report:
    """Return the report of a trial run, which may be unfinished."""
    design, lock = record.design, record.lock
    names = [design.primary, *(name for name in MEASURES if name != design.primary)]
    counts = {name: count_tasks(record.outcomes, MEASURES[name]) for name in names}
    settings = {str(arm["name"]): {key: arm.get(key) for key in _SETTINGS} for arm in lock["arms"]}
    arms = tuple(_report_arm(record, counts, arm, settings[arm]) for arm in design.arms)
    shared, differing = _sort_settings(settings)
    run_plan = lock.get("run_plan") or {}
    return Report(
        str(lock.get("run", "")),
        str(lock.get("name", "")),
        str(lock.get("question") or ""),
        "over" if record.is_over else "not over",
        design.primary,
        design.smallest,
        design.reference,
        design.alpha,
        design.planned,
        count_whole_tasks(
            record.tasks,
            record.repeats,
            [design.reference, *open_arms(design, record.looks)],
            record.outcomes,
        ),
        len(design.look_at),
        (made := max((arm_look.look for arm_look in record.looks), default=0)),
        None if record.is_over else design.look_at[made],
        design.secondary,
        _sum_spent(record.outcomes),
        {name: cap for name, cap in msgspec.structs.asdict(record.budget).items() if cap is not None},
        arms,
        compare_factors(
            counts[design.primary],
            FactorDesign(MEASURES[design.primary], design.reference, design.groups, design.alpha),
            settings,
        ),
        record.looks,
        {
            **shared,
            "tasks": design.planned,
            **{key: run_plan.get(key) for key in ("repeats", "seed", "max_steps")},
        },
        differing,
        tuple(_warn(record, arms)),
        tuple(_name_unknown(record, counts)),
    )


_SETTINGS = ("model", "prompt", "definitions", "strategy", "compensations", "policy", "adds_template")


def _report_arm(
    record: RunRecord, counts: Mapping[MeasureName, Counts], arm: str, settings: Mapping[str, Any]
) -> ArmReport:
    design = record.design
    outcomes = [outcome for outcome in record.outcomes if outcome.arm == arm]
    replies = [outcome for outcome in outcomes if outcome.status != NO_REPLY]
    looks = [arm_look for arm_look in record.looks if arm_look.arm == arm]
    costs = [outcome.cost for outcome in replies if outcome.cost is not None]
    # A partial cost would make the variant look cheap.
    cost = sum(costs) if costs and len(costs) == len(replies) else None
    tokens = [sum(map(int, token_counts)) for outcome in replies if (token_counts := _known_tokens(outcome))]
    ended = next((arm_look for arm_look in looks if arm_look.decision in ENDS), None)
    is_withheld = bool(looks) and looks[-1].decision == "withheld"
    measure = MEASURES[design.primary]
    return ArmReport(
        arm,
        arm == design.reference,
        settings,
        len(outcomes),
        len(outcomes) - len(replies),
        sum(outcome.calls for outcome in outcomes),
        sum(outcome.misses for outcome in outcomes),
        cost,
        sum(tokens) if tokens else None,
        _divide(cost, sum(outcome.right is True for outcome in replies)),
        _divide(cost, sum(outcome.status == "ok" for outcome in replies)),
        tuple(
            _measure_arm(record, name, its_counts, arm, looks)
            for name, its_counts in counts.items()
            if name in (design.primary, *design.secondary) or _is_known(its_counts)
        ),
        looks[-1].look if looks else None,
        ended.look if ended and ended.look < len(design.look_at) else None,
        bound_missing(counts[design.primary], arm, design.reference)
        if is_withheld and measure.is_share
        else None,
    )


def _measure_arm(
    record: RunRecord, name: MeasureName, counts: Counts, arm: str, looks: Sequence[ArmLook]
) -> ArmMeasure:
    design, measure, tasks = record.design, MEASURES[name], counts.get(arm, {})
    alone = pair_values(value_tasks(tasks), measure, design.groups)
    low, high = alone.mean.interval(Z) if alone.mean else (None, None)
    if low is not None and high is not None:
        low, high = max(0.0, low), min(1.0, high) if measure.is_share else high
    plain = ArmMeasure(
        name, sum(count.k for count in tasks.values()), sum(count.n for count in tasks.values()), alone.tasks,
        alone.of, low, high, is_planned=name == design.primary,
    )  # fmt: skip
    if arm == design.reference:
        return plain
    pairs = pair_tasks(counts, measure, arm, design.reference, design.groups)
    if name == design.primary:
        difference, word = compare_as_planned(design, pairs, looks)
    else:
        difference, word = compare_unplanned(measure, pairs)
    more = tasks_more(design, pairs) if word == "not decided" and name == design.primary else None
    return ArmMeasure(
        name, plain.k, plain.n, plain.tasks, plain.rate, low, high, difference, word, plain.is_planned, more
    )


def _sort_settings(
    settings: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    shared: dict[str, Any] = {}
    differing: dict[str, Any] = {}
    for key in _SETTINGS:
        values = list(dict.fromkeys(arm_settings[key] for arm_settings in settings.values()))
        if len(values) == 1:
            shared[key] = values[0]
        else:
            differing[key] = values
    return shared, differing


def _sum_spent(outcomes: Sequence[TrialOutcome]) -> dict[str, float]:
    spent: dict[str, float] = {}
    costs = [outcome.cost for outcome in outcomes if outcome.cost is not None]
    tokens = [sum(token_counts) for outcome in outcomes if (token_counts := _known_tokens(outcome))]
    if costs:
        spent["cost"] = sum(costs)
    if tokens:
        spent["tokens"] = sum(tokens)
    return spent


def _known_tokens(outcome: TrialOutcome) -> list[int]:
    return [each for each in (outcome.input_tokens, outcome.output_tokens) if each is not None]


def _divide(amount: float | None, number: int) -> float | None:
    return amount / number if amount is not None and number else None


def _is_known(counts: Counts) -> bool:
    return any(count.n for tasks in counts.values() for count in tasks.values())


def _warn(record: RunRecord, arms: Sequence[ArmReport]) -> list[str]:
    warnings = []
    if record.unread:
        warnings.append(
            f"{record.unread:,} lines of ledger.jsonl are not outcomes of a trial (a killed process leaves "
            "half a line); `callgauge trial run` restores them from the session logs"
        )
    if record.repeated:
        warnings.append(f"{record.repeated:,} trials are in ledger.jsonl twice: the later line is used")
    for arm in arms:
        if arm.trials and arm.missing > MOST_MISSING * arm.trials:
            warnings.append(
                f"{arm.name}: {arm.missing:,} of {arm.trials:,} trials have no reply. Above "
                f"{MOST_MISSING:.0%} there is no verdict"
            )
        if arm.calls and arm.misses > MOST_MISSES * arm.calls:
            warnings.append(
                f"{arm.name}: for {arm.misses:,} of {arm.calls:,} calls there was no recorded answer, and "
                "the model continued with an error that is not its own"
            )
    return warnings


def _name_unknown(record: RunRecord, counts: Mapping[MeasureName, Counts]) -> list[str]:
    design = record.design
    sentences = []
    if not record.outcomes:
        sentences.append("No trial has finished yet")
    for name in (design.primary, *design.secondary):
        lacking = {
            arm: number
            for arm in design.arms
            if (number := sum(not count.n for count in counts[name].get(arm, {}).values()))
        }
        if lacking:
            counts_by_arm = ", ".join(f"{arm} {number:,}" for arm, number in lacking.items())
            sentences.append(
                f"{name}: tasks without a measurement ({_WHY[name]}), by variant: {counts_by_arm}"
            )
    endpoints = record.lock.get("endpoints") or {}
    sentences += [
        f"The server software of the endpoint {name} is not named"
        for name, endpoint in endpoints.items()
        if not endpoint.get("server")
    ]
    return sentences


_WHY: Mapping[MeasureName, str] = {
    "refused": "no call was made, or no reply came",
    "mended": "no call was made, the server may have rewritten the arguments, or no reply came",
    "right": "nothing is expected, or no reply came",
    "turn_ok": "no reply came",
    "tokens": "the endpoint counts none, or no reply came",
    "cost": "the model has no price, or no reply came",
}
