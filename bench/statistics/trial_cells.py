"""Simulates trial runs with interim analyses: false verdicts, power, saved tasks, coverage of intervals, and
errors of the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.special import betaincinv

from bench.statistics.cells import Cell
from callgauge.stats.task_pairs import ENDS, adjust_for_looks, anytime_interval, pair_tasks
from callgauge.trials.results.run_folder import ArmLook, TrialOutcome
from callgauge.trials.verdicts.gate import Margin, judge_gate
from callgauge.trials.verdicts.looks import TrialDesign, look, plan_looks
from callgauge.trials.verdicts.measures import MEASURES, count_tasks

Floats = np.ndarray[Any, np.dtype[np.float64]]
MOST_FALSE = 0.06  # the significance level of 5 %, plus one percentage point
LEAST_COVERED = 0.935
_ALPHA, _REFERENCE = 0.05, "reference"
_RHO = 0.3  # correlation of two calls of one task
_ATTEMPTS = 6


@cache
def _share_with_retries(rate: float) -> float:
    """Return the proportion of invalid calls when each task repeats its call until the call is valid."""
    weight, hardness = 1 / _RHO - 1, (np.arange(20_000) + 0.5) / 20_000
    rates = betaincinv(rate * weight, (1 - rate) * weight, hardness)
    calls: Floats = np.sum([rates**attempt for attempt in range(_ATTEMPTS)], axis=0)
    return float((rates * calls).sum() / calls.sum())


@dataclass(frozen=True, slots=True)
class Truth:
    """The true rates of invalid calls. `rates` has one rate per variant; the reference comes first.

    With `retried`, a trial makes one call and repeats the call until it is valid, at most six times. Tasks
    that fail often then have more calls. Without `retried`, a trial makes one to three calls.

    `grouped` is the number of tasks per group. Each group has its own effects with mean zero. `lost` is the
    proportion of trials without a reply. `look_at` contains the numbers of tasks after which an interim
    analysis takes place; the default is five at equal distances.
    """

    rates: tuple[float, ...]
    tasks: int = 200
    repeats: int = 1
    looks: int = 5
    smallest: float = 0.05
    grouped: int = 0
    lost: float = 0.0
    look_at: tuple[int, ...] = ()
    retried: bool = False

    @property
    def difference(self) -> float:
        return self.shares[1] - self.shares[0]

    @property
    def shares(self) -> tuple[float, ...]:
        """The proportion of invalid calls among all calls of each variant."""
        return tuple(map(_share_with_retries, self.rates)) if self.retried else self.rates

    def describe(self) -> str:
        parts = [" / ".join(f"{rate:.0%}" for rate in self.rates), f"{self.tasks} tasks"]
        parts += [f"{self.repeats} repeats"] * (self.repeats > 1) + [f"groups of {self.grouped}"] * (
            self.grouped > 0
        )
        parts += ["retries"] * self.retried
        parts += [f"{self.lost:.0%} lost"] * (self.lost > 0)
        parts += [f"analyses at {', '.join(map(str, self.look_at))}"] * bool(self.look_at)
        return ", ".join([*parts, *(["one analysis"] * (self.looks == 1))])


@dataclass(slots=True)
class Run:
    """One simulated trial run: the number of trials, the interim analyses, and the variants' outcomes."""

    design: TrialDesign
    looks: list[ArmLook] = field(default_factory=list)
    outcomes: list[TrialOutcome] = field(default_factory=list)
    asked: int = 0  # number of tasks times number of variants

    def last(self, arm: str) -> tuple[ArmLook, list[ArmLook]]:
        looks = [look for look in self.looks if look.arm == arm]
        return looks[-1], looks[:-1]


NULLS = (
    Truth((0.02, 0.02)),
    Truth((0.1, 0.1)),
    Truth((0.3, 0.3), repeats=3),
    Truth((0.1, 0.1, 0.1, 0.1)),
    Truth((0.3, 0.3), grouped=5),
    Truth((0.2, 0.2), look_at=(12, 90, 97, 200)),
    Truth((0.1, 0.1), lost=0.04),
    Truth((0.3, 0.3), tasks=60),
    Truth((0.05, 0.05), retried=True),
    Truth((0.2, 0.2), retried=True),
    Truth((0.2, 0.2), tasks=60, retried=True),
    Truth((0.3, 0.3), grouped=5, retried=True),
)
EFFECTS = (
    Truth((0.1, 0.18)),
    Truth((0.1, 0.2)),
    Truth((0.02, 0.1)),
    Truth((0.1, 0.3)),
    Truth((0.05, 0.5)),
    Truth((0.2, 0.1, 0.2, 0.05)),
    Truth((0.05, 0.2), retried=True),
)


def judge_trials(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the results of all simulations of trial runs. The settings do not depend on `whole`."""
    random = np.random.default_rng(seed)
    yield from count_false_verdicts(random, draws)
    yield from measure_power(random, draws)
    yield from cover_after_looks(random, draws)
    yield from count_wrong_alike(random, draws)
    yield from count_wrong_passes(random, draws)
    yield from cover_at_any_time(random, draws)


def count_false_verdicts(
    random: np.random.Generator, draws: int, truths: Sequence[Truth] = NULLS
) -> Iterator[Cell]:
    """Yield how often any variant is called better or worse in trial runs with equal variants."""
    for truth in truths:
        runs = [simulate_run(random, truth) for _ in range(draws)]
        false = sum(
            any(run.last(arm)[0].decision in ("better", "worse") for arm in run.design.others) for run in runs
        )
        yield Cell("equal variants called better or worse", truth.describe(), false, draws, most=MOST_FALSE)
        yield _asked("tasks needed of those planned, equal variants", truth, runs)


def measure_power(
    random: np.random.Generator, draws: int, truths: Sequence[Truth] = EFFECTS
) -> Iterator[Cell]:
    """Yield the power with and without five interim analyses, and the number of tasks used."""
    for truth in truths:
        looked, fixed = (
            [simulate_run(random, variant) for _ in range(draws)]
            for variant in (truth, replace(truth, looks=1))
        )
        without = _find(truth, fixed)
        yield Cell("real differences found without interim analyses", truth.describe(), without, draws)
        # Interim analyses may cost two points of power, plus the error of both simulations.
        least = max(0.0, without / draws - 0.02)
        yield Cell(
            "real differences found with five interim analyses",
            truth.describe(),
            _find(truth, looked),
            draws,
            least,
        )
        wrong = sum(
            (look.decision == "better") != (truth.rates[int(look.arm)] < truth.rates[0])
            for run in looked
            for look in (run.last(arm)[0] for arm in run.design.others)
            if look.decision in ("better", "worse") and truth.rates[int(look.arm)] != truth.rates[0]
        )
        yield Cell("found with the wrong sign", truth.describe(), wrong, draws, most=0.005)
        yield _asked("tasks needed of those planned, different variants", truth, looked)


def cover_after_looks(random: np.random.Generator, draws: int) -> Iterator[Cell]:
    """Yield how often the intervals at the last analysis contain the true difference.

    Also yield how often the estimate overstates the true difference.
    """
    for truth in (
        Truth((0.1, 0.1), smallest=0.02),
        Truth((0.1, 0.2), smallest=0.02),
        Truth((0.3, 0.45), repeats=3, smallest=0.02),
        Truth((0.4, 0.2), smallest=0.02),
        Truth((0.05, 0.2), smallest=0.02, retried=True),
        Truth((0.2, 0.2), smallest=0.02, retried=True),
        Truth((0.02, 0.05), smallest=0.02, retried=True),
    ):
        repeated = adjusted = above = raw = 0
        for _ in range(draws):
            run = simulate_run(random, truth)
            last, before = run.last("1")
            interval = adjust_for_looks(last, before, _ALPHA)
            assert interval is not None
            assert last.low is not None
            assert last.high is not None
            assert last.estimate is not None
            repeated += last.low <= truth.difference <= last.high
            adjusted += interval.low <= truth.difference <= interval.high
            above += abs(interval.estimate) > abs(truth.difference)
            raw += abs(last.estimate) > abs(truth.difference)
        setting = truth.describe()
        yield Cell("the repeated interval at the last analysis", setting, repeated, draws, LEAST_COVERED)
        yield Cell("the adjusted interval at the last analysis", setting, adjusted, draws, LEAST_COVERED)
        if truth.difference:
            yield Cell("adjusted estimates beyond the truth", setting, above, draws, 0.4, 0.6)
            yield Cell("plain estimates beyond the truth", setting, raw, draws)


def count_wrong_alike(random: np.random.Generator, draws: int) -> Iterator[Cell]:
    """Yield how often the variants of a trial run are called equivalent.

    The variants differ by the margin or are equal.
    """
    for truth in (
        Truth((0.05, 0.1), tasks=400),
        Truth((0.2, 0.1), tasks=200, smallest=0.1),
        Truth((0.3, 0.4), tasks=300, smallest=0.1, repeats=3),
    ):
        wrong = sum(simulate_run(random, truth).last("1")[0].decision == "alike" for _ in range(draws))
        setting = f"{truth.describe()}, equivalent within {truth.smallest:.0%}"
        yield Cell("variants called equivalent that are not", setting, wrong, draws, most=MOST_FALSE)
        same = replace(truth, rates=(truth.rates[0], truth.rates[0]))
        right = sum(simulate_run(random, same).last("1")[0].decision == "alike" for _ in range(draws))
        setting = f"{same.describe()}, equivalent within {same.smallest:.0%}"
        yield Cell("equal variants called equivalent", setting, right, draws)


def count_wrong_passes(random: np.random.Generator, draws: int) -> Iterator[Cell]:
    """Yield how often the gate passes a variant that is worse by exactly the margin, or equal, or better."""
    for truth in (Truth((0.1, 0.15)), Truth((0.02, 0.07)), Truth((0.3, 0.4), smallest=0.1, repeats=3)):
        for rates, topic, most in (
            (truth.rates, "passes of the gate that are wrong", MOST_FALSE),
            ((truth.rates[0], truth.rates[0]), "equal variants that pass the gate", None),
            ((truth.rates[1], truth.rates[0]), "better variants that pass the gate", None),
        ):
            at_margin = replace(truth, rates=rates)
            passed = 0
            for _ in range(draws):
                run = simulate_run(random, at_margin)
                passed += judge_gate(
                    run.design, run.outcomes, run.looks, Margin("refused", at_margin.smallest)
                ).is_passed
            yield Cell(
                topic, f"{at_margin.describe()}, no-worse={at_margin.smallest}", passed, draws, most=most
            )


def cover_at_any_time(random: np.random.Generator, draws: int) -> Iterator[Cell]:
    """Yield how often the anytime interval contains the true difference.

    The interval is checked at every fifth task from the tenth on.
    """
    for truth in (
        Truth((0.1, 0.1)),
        Truth((0.1, 0.2)),
        Truth((0.3, 0.3), repeats=3),
        Truth((0.05, 0.2), retried=True),
    ):
        covered = 0
        for _ in range(draws):
            run = simulate_run(random, replace(truth, looks=1))
            covered += all(low <= truth.difference <= high for low, high in _anytime_intervals(run, truth))
        yield Cell("the anytime interval, at all times", truth.describe(), covered, draws, LEAST_COVERED)


def _anytime_intervals(run: Run, truth: Truth) -> Iterator[tuple[float, float]]:
    measure = MEASURES[run.design.primary]
    counts = count_tasks(run.outcomes, measure)
    for until in range(10, truth.tasks + 1, 5):
        some = {
            arm: {_task(i): task_counts[_task(i)] for i in range(until)}
            for arm, task_counts in counts.items()
        }
        interval = anytime_interval(run.design, pair_tasks(some, measure, "1", _REFERENCE, {}))
        assert interval is not None
        yield interval


def simulate_run(random: np.random.Generator, truth: Truth) -> Run:
    """Simulate a trial run task by task, with the interim analyses of `trial run`.

    A variant with a verdict is dropped from the trial run.
    """
    arms = (_REFERENCE, *(str(place) for place in range(1, len(truth.rates))))
    groups = {_task(i): f"g{i // truth.grouped}" for i in range(truth.tasks)} if truth.grouped else {}
    look_at = truth.look_at or plan_looks(truth.tasks, truth.looks)
    design = TrialDesign(
        "refused", truth.smallest, _REFERENCE, arms, truth.tasks, look_at, _ALPHA, groups=groups
    )
    outcomes = _draw_outcomes(random, truth, arms)
    run, ended, begun = Run(design), set[str](), 0
    for number, until in enumerate(look_at, 1):
        active = [arm for arm in arms if arm not in ended]
        for arm in active:
            run.outcomes += outcomes[arm][begun * truth.repeats : until * truth.repeats]
        run.asked += len(active) * (until - begun)
        begun = until
        now = look(design, run.outcomes, number, run.looks)
        run.looks += now
        ended |= {look.arm for look in now if look.decision in ENDS}
        if len(ended) == len(design.others):
            break
    return run


def _draw_outcomes(
    random: np.random.Generator, truth: Truth, arms: Sequence[str]
) -> dict[str, list[TrialOutcome]]:
    weight, outcomes = 1 / _RHO - 1, {}
    hardness = random.random(truth.tasks)
    for arm, rate in zip(arms, truth.rates, strict=True):
        if truth.grouped:
            hardness = np.repeat(random.random(-(-truth.tasks // truth.grouped)), truth.grouped)[
                : truth.tasks
            ]
        rates: Floats = betaincinv(rate * weight, (1 - rate) * weight, hardness)
        if truth.retried:
            fails = random.random((truth.tasks, truth.repeats, _ATTEMPTS)) < rates[:, None, None]
            refused = np.where(fails.all(axis=2), _ATTEMPTS, fails.argmin(axis=2))
            calls = np.minimum(refused + 1, _ATTEMPTS)
        else:
            calls = random.integers(1, 4, (truth.tasks, truth.repeats))
            refused = random.binomial(calls, rates[:, None])
        lost = random.random(calls.shape) < truth.lost
        outcomes[arm] = [
            TrialOutcome(arm, _task(i), j, "no_reply")
            if lost[i, j]
            else TrialOutcome(arm, _task(i), j, "ok", calls=int(calls[i, j]), refused=int(refused[i, j]))
            for i in range(truth.tasks)
            for j in range(truth.repeats)
        ]
    return outcomes


def _task(place: int) -> str:
    return f"t{place}"


def _find(truth: Truth, runs: Sequence[Run]) -> int:
    wanted = "better" if truth.difference < 0 else "worse"
    return sum(run.last("1")[0].decision == wanted for run in runs)


def _asked(topic: str, truth: Truth, runs: Sequence[Run]) -> Cell:
    planned = truth.tasks * len(truth.rates) * len(runs)
    return Cell(topic, truth.describe(), sum(run.asked for run in runs), planned)
