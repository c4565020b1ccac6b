"""What arms are made of: which model, which prompt, which definitions, when arms are a cross product.

Arms that differ in one setting only are compared in that setting: over all of them together, within each
value of the others, and whether the difference is another one there. The intervals are those of one look:
the run was planned to hold arms against the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.stats import holm
from callgauge.stats.intervals import Z
from callgauge.stats.paired import FEWEST_UNLIKE, measure_paired_amounts
from callgauge.stats.task_pairs import (
    Counts,
    PairedTasks,
    judge_unplanned,
    pair_rates,
    pair_values,
    share_missing,
    sum_by_group,
)
from callgauge.trials.results.run_folder import Decision
from callgauge.trials.verdicts.looks import TrialDesign
from callgauge.trials.verdicts.measures import MEASURES, Measure

FACTORS = ("model", "prompt", "definitions", "strategy", "compensations", "policy")


@dataclass(frozen=True, slots=True)
class FactorDifference:
    """A difference of the primary measure: `where` names the settings it is within, empty for all together.

    `contrast`: by how much it exceeds that of the other places, with a p-value corrected by Holm's method.
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


@dataclass(frozen=True, slots=True)
class FactorComparison:
    """One value of a setting against that of the reference, over all places and within each.

    `interacts`: at the run's alpha the difference is not the same everywhere.
    """

    factor: str
    value: Any
    against: Any
    overall: FactorDifference
    within: tuple[FactorDifference, ...]
    interacts: bool


def compare_factors(
    counts: Counts, design: TrialDesign, settings: Mapping[str, Mapping[str, Any]]
) -> tuple[FactorComparison, ...]:
    """Return the comparisons of each setting in which arms differ, where two or more pairs of arms do.

    `counts` are those of the primary measure; `settings` are those of each arm.
    """
    found = []
    for factor in FACTORS:
        base = settings[design.reference][factor]
        values = dict.fromkeys(its[factor] for its in settings.values() if its[factor] != base)
        for value in values:
            places = _pair_arms(settings, factor, value, base)
            if len(places) > 1:
                compared = _compare(counts, design, settings, factor, value, base, places)
                found += [compared] if compared else []
    return tuple(found)


def _pair_arms(
    settings: Mapping[str, Mapping[str, Any]], factor: str, value: Any, base: Any
) -> list[tuple[str, str]]:
    """Return the pairs of arms that differ in one setting only, by having the one and the other value."""
    rest = {name: {**its, factor: None} for name, its in settings.items()}
    return [
        (one, other)
        for one, its in settings.items()
        for other, others in settings.items()
        if its[factor] == value and others[factor] == base and rest[one] == rest[other]
    ]


def _compare(
    counts: Counts,
    design: TrialDesign,
    settings: Mapping[str, Mapping[str, Any]],
    factor: str,
    value: Any,
    base: Any,
    places: list[tuple[str, str]],
) -> FactorComparison | None:
    measure = MEASURES[design.primary]
    by_place = [pair_rates(counts, *place) for place in places]
    shared = set.intersection(*map(set, by_place))
    both = {task: _average([its[task] for its in by_place]) for task in shared}
    missing = [share_missing(counts, arm) for place in places for arm in place]
    overall = _describe(measure, pair_values(both, measure, design.groups, max(missing)), {})
    if overall is None:
        return None
    arms = {arm for place in places for arm in place}
    varying = [name for name in FACTORS if name != factor and len({settings[arm][name] for arm in arms}) > 1]
    contrasts = [_contrast(by_place, place, shared, design) for place in range(len(places))]
    found = [p for _, p in contrasts]
    # Of two places the contrasts are one and the same.
    p_values = holm(found) if len(found) > 2 else found
    within = []
    for (one, other), rates, (contrast, _), p in zip(places, by_place, contrasts, p_values, strict=True):
        where = {name: settings[one][name] for name in varying}
        most = max(share_missing(counts, arm) for arm in (one, other))
        judged = _describe(measure, pair_values(rates, measure, design.groups, most), where, contrast, p)
        within += [judged] if judged else []
    return FactorComparison(factor, value, base, overall, tuple(within), min(p_values) <= design.alpha)


def _average(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return sum(one for one, _ in pairs) / len(pairs), sum(other for _, other in pairs) / len(pairs)


def _describe(
    measure: Measure,
    pairs: PairedTasks,
    where: Mapping[str, Any],
    contrast: float | None = None,
    p: float | None = None,
) -> FactorDifference | None:
    if pairs.mean is None:
        return None
    of, against, (low, high) = pairs.of or 0.0, pairs.against or 0.0, pairs.mean.interval(Z)
    word = judge_unplanned(measure, pairs)
    return FactorDifference(
        where, pairs.tasks, of, against, pairs.mean.estimate, low, high, word, contrast, p
    )


def _contrast(
    by_place: list[dict[str, tuple[float, float]]], place: int, shared: set[str], design: TrialDesign
) -> tuple[float | None, float]:
    """Return by how much a place's difference exceeds the mean of the others', and its two-sided p-value."""
    contrasts = {}
    for task in shared:
        moves = [its[task][0] - its[task][1] for its in by_place]
        others = [*moves[:place], *moves[place + 1 :]]
        contrasts[task] = moves[place] - sum(others) / len(others)
    mean = measure_paired_amounts(*sum_by_group(contrasts, design.groups))
    if mean is None or sum(map(bool, contrasts.values())) < FEWEST_UNLIKE:
        return (mean.estimate if mean else None), 1.0
    return mean.estimate, mean.p
