"""Defines each measure: its value in a trial, its unit, and whether lower is better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from callgauge.stats.task_pairs import Counts, TaskCount
from callgauge.trials.planning.plan import MeasureName
from callgauge.trials.results.run_folder import NO_REPLY, TrialOutcome


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure. `parts` returns the numerator and the denominator (k and n) of a trial, or None if there
    is no data.

    `tried` says in words what n counts. If `is_share` is True, the measure is a share from 0 to 1. Other
    measures are amounts in `unit`.
    """

    name: MeasureName
    parts: Callable[[TrialOutcome], tuple[float, float] | None]
    tried: str
    lower_is_better: bool = True
    is_share: bool = True
    unit: str = ""


def _calls(count: int, calls: int) -> tuple[float, float]:
    return float(count), float(calls)


def _tokens(outcome: TrialOutcome) -> tuple[float, float] | None:
    counts = [each for each in (outcome.input_tokens, outcome.output_tokens) if each is not None]
    return (float(sum(counts)), 1.0) if counts else None


MEASURES: Mapping[MeasureName, Measure] = {
    measure.name: measure
    for measure in (
        Measure("refused", lambda outcome: _calls(outcome.refused, outcome.calls), "calls"),
        Measure(
            "mended",
            lambda outcome: None if outcome.mended is None else _calls(outcome.mended, outcome.calls),
            "calls",
        ),
        Measure(
            "right",
            lambda outcome: None if outcome.right is None else (float(outcome.right), 1.0),
            "trials",
            lower_is_better=False,
        ),
        Measure(
            "turn_ok", lambda outcome: (float(outcome.status == "ok"), 1.0), "trials", lower_is_better=False
        ),
        Measure("tokens", _tokens, "trials", is_share=False, unit="tokens"),
        Measure(
            "cost",
            lambda outcome: None if outcome.cost is None else (outcome.cost, 1.0),
            "trials",
            is_share=False,
            unit="USD",
        ),
    )
}
"""All measures by name, in the order of a report."""


def count_tasks(outcomes: Iterable[TrialOutcome], measure: Measure) -> Counts:
    """Return the counts of each task by variant and task, added up over all repeats of the task."""
    counts: dict[str, dict[str, TaskCount]] = defaultdict(dict)
    for outcome in outcomes:
        before = counts[outcome.arm].get(outcome.task, TaskCount())
        is_missing = outcome.status == NO_REPLY
        parts = None if is_missing else measure.parts(outcome)
        k, n = parts or (0.0, 0.0)
        counts[outcome.arm][outcome.task] = TaskCount(
            before.k + k,
            before.n + n,
            before.trials + 1,
            before.missing + is_missing,
            before.measured + (parts is not None),
        )
    return counts
