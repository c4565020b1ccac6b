"""Finds for each prompt or tool the cheapest model that is proven to be not worse than the current model.

The current model is the model with most calls in the newest seven days. A candidate is suggested only if
three things are proven: its parse errors and its turn success are worse by less than the smallest difference
of interest, and its cost per successful turn is lower. All differences are mix-adjusted. If several
candidates may be cheaper, each interval gets a higher confidence (Bonferroni), so that a wrong suggestion for
a prompt or tool has a probability of at most 5 %.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import reduce
from operator import add
from typing import Any

import pandas as pd

from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.measures.alerts import Alert, read_alerts
from callgauge.analysis.measures.comparisons import SMALLEST
from callgauge.analysis.measures.concentration import find_concentrated
from callgauge.analysis.measures.costs import MeanCost, match_models, write_parameter
from callgauge.analysis.measures.measurability import compare_by, rates_to_compare
from callgauge.analysis.measures.rates import LEADING, RATES, RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, make_strata
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice, make_slices
from callgauge.analysis.verdicts.model_choices import (
    Candidate,
    ModelChoice,
    ModelChoices,
    ModelUse,
    Obstacle,
    RateCheck,
    find_missing,
    find_reason,
)
from callgauge.prices import PriceList, PriceMatch
from callgauge.stats import (
    ENOUGH,
    MixedRatio,
    Share,
    compare_mixed_ratios,
    compare_shares,
    place_in_groups,
    ratio_interval,
    sum_savings,
)
from callgauge.stats.day_spread import measure_excesses
from callgauge.stats.intervals import LEVEL, Floats, Interval
from callgauge.stats.standardisation import REPRESENTATIVE
from ingest.time_ranges import Days

DIMENSIONS = ("prompt", "tool")
"""The dimensions for whose values models are chosen."""
PROVEN = ("parse_error", "turn_success")
"""The rates by which a suggested model must not be worse."""
MOST = 60
"""The maximum number of prompts or tools; the most used are judged."""
_CALLS = "emission"  # measured on every call, so its slices count all calls
_CURRENT_DAYS, _RECENT_DAYS = 7, 30
_FALSE = 0.05  # highest probability of a wrong suggestion for a prompt or tool
_PARAMETERS = {"prompt": "prompts", "tool": "tools"}
_COSTS = {"prompt": ("prompt_costs", ("source",)), "tool": ("tool_costs", ("source", "prompt"))}
_OF_CALLS = ("tool", "strategy", "prompt")
_OF_TURNS = {"prompt": ("source", "prompt"), "tool": ("tool", "source", "prompt")}
# The reasons for keeping a model, the reason to report first.
_FIRST = (
    Obstacle.ALERT, Obstacle.WORSE, Obstacle.UNPROVEN, Obstacle.COST_UNPROVEN, Obstacle.MEASURED_APART,
    Obstacle.OTHER_WORK, Obstacle.OTHER_DAYS, Obstacle.TOO_LITTLE, Obstacle.UNPRICED, Obstacle.NOT_CHEAPER,
)  # fmt: skip
SlicesByModel = Mapping[str, Mapping[str, Slice]]
"""By model, then by rate name: the slice of the model at one prompt or tool."""


@dataclass(frozen=True, slots=True)
class ModelCost:
    """The cost of a model at one prompt or tool.

    `strata` holds by stratum the amounts and the numbers of successful turns by session group.
    """

    strata: Mapping[tuple[str, ...], Floats]
    turns: int
    priced: int
    judged: int
    amount: float

    @property
    def mean(self) -> MeanCost | None:
        """The cost per successful turn, or None if it is unknown."""
        if not self.strata or self.priced < MEASURED_ENOUGH * self.turns:
            return None
        amounts, completed = reduce(add, self.strata.values())
        succeeded = int(completed.sum())
        if not succeeded:
            return None
        mean = float(amounts.sum()) / succeeded
        return MeanCost(mean, succeeded, ratio_interval(amounts, completed), (amounts, completed))


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """What is known about the models at one prompt or tool.

    `strata` holds the strata of each rate in PROVEN. `prices` holds the list prices of each model.
    `alerts` holds the open alert of a model.
    """

    slices: SlicesByModel
    strata: Mapping[str, ArmStrata]
    costs: Mapping[str, ModelCost]
    prices: Mapping[str, PriceMatch | None]
    alerts: Mapping[str, Alert]

    def read_use(self, model: str) -> ModelUse:
        cost = self.costs.get(model)
        rates = {name: slice_ for name, slice_ in self.slices[model].items() if name in PROVEN}
        if cost is None:
            return ModelUse(model, rates, None, 0, 0, 0)
        return ModelUse(model, rates, cost.mean, cost.turns, cost.turns - cost.priced, cost.judged)

    def compare_costs(self, model: str, current: str, level: float = LEVEL) -> MixedRatio | None:
        """Return the cost per successful turn of `model`, divided by the cost of `current`."""
        first, second = self.costs.get(current), self.costs.get(model)
        return compare_mixed_ratios(first.strata, second.strata, level) if first and second else None

    def has_same_prices(self, model: str, other: str) -> bool:
        matches = self.prices.get(model), self.prices.get(other)
        if matches[0] is None or matches[1] is None:
            return False
        first, second = (
            [(price.input, price.output, price.cached_input, price.cache_write) for price in match.prices]
            for match in matches
            if match
        )
        return first == second


def choose_models(
    ask: Ask,
    prices: PriceList,
    by: str,
    chosen: Mapping[str, Any],
    smallest: float = SMALLEST,
) -> ModelChoices:
    """Return for each prompt or tool which model to use.

    `by` is one of DIMENSIONS. `chosen` holds the filters. `smallest` is the smallest difference of interest,
    as a share. Raises MetricError.
    """
    names = tuple(dict.fromkeys([_CALLS, *(each for rate in PROVEN for each in rates_to_compare(rate))]))
    slices = make_slices(ask("slices", rates=names, by=by, also="model", **chosen))
    matches = match_models(ask, prices)
    empty = ModelChoices(by, prices.currency, smallest, (), leaves_prices_out=prices.leaves_ours_out)
    observed, used = _count_use(slices)
    newest = observed[1] if observed else None
    has_unnamed = any(not slice_.is_named or slice_.also == "unknown" for slice_ in slices)
    recent = (newest - timedelta(_RECENT_DAYS - 1), newest) if newest else None
    if recent and chosen.get("from_day"):
        recent = (max(recent[0], chosen["from_day"]), newest or recent[1])
    rows = [name for name, models in used.items() if any(use.recent for use in models.values())]
    order = sorted(rows, key=lambda name: (-sum(use.calls for use in used[name].values()), name))
    evidence = _read_evidence(ask, by, order[:MOST], slices, matches, chosen)
    days = {"from_day": recent[0], "to_day": recent[1]} if recent else {}
    spent = _read_costs(ask, by, matches, {**chosen, **days})
    choices = []
    for name in order[:MOST]:
        current = max(used[name], key=lambda model: (used[name][model].sort_key, model))
        choice = judge_choice(by, name, evidence[name], current, smallest)
        cost = spent.get((name, current))
        choices.append(_add_saving(choice, evidence[name], cost.amount if cost and cost.priced else None))
    return replace(
        empty,
        rows=choices,
        days=_find_days(chosen, observed),
        recent=recent,
        total=_sum_up(choices, evidence) if by == "prompt" else None,
        unused=len(used) - len(rows),
        left_out=max(0, len(order) - MOST),
        has_unnamed=has_unnamed,
        hosts=_read_hosts(ask, chosen),
    )


@dataclass(slots=True)
class _Use:
    """The calls of a model: all, in the newest seven days, and in the recent days."""

    calls: int = 0
    newest: int = 0
    recent: int = 0

    @property
    def sort_key(self) -> tuple[int, int]:
        return self.newest, self.calls


def _find_days(chosen: Mapping[str, Any], observed: Days | None) -> Days | None:
    """Return the days of the filter. Without a filter, return the first and the last day with calls."""
    first, last = chosen.get("from_day"), chosen.get("to_day")
    return (first, last) if first and last else observed


def _count_use(slices: Sequence[Slice]) -> tuple[Days | None, dict[str, dict[str, _Use]]]:
    """Return the first and the newest day, and the calls of each named model by prompt or tool."""
    counted = [slice_ for slice_ in slices if slice_.rate.name == _CALLS]
    named = [slice_ for slice_ in counted if slice_.is_named and slice_.also != "unknown"]
    days = [slice_.share.by_day for slice_ in named]
    dated = [each.days for each in days if each and len(each.days)]
    newest = max((int(each.max()) for each in dated), default=None)
    oldest = min((int(each.min()) for each in dated), default=None)
    used: dict[str, dict[str, _Use]] = defaultdict(lambda: defaultdict(_Use))
    for slice_, by_day in zip(named, days, strict=True):
        use = used[slice_.name][slice_.also]
        use.calls += slice_.total
        if newest is None or by_day is None:
            use.recent += slice_.total
            continue
        ages = newest - by_day.days
        use.newest += int(by_day.n[ages < _CURRENT_DAYS].sum())
        use.recent += int(by_day.n[ages < _RECENT_DAYS].sum())
    if newest is None or oldest is None:
        return None, used
    return (_read_day(oldest), _read_day(newest)), used


def _read_day(number: int) -> date:
    # The metrics count days from 1970-01-01.
    return date(1970, 1, 1) + timedelta(number)


def _read_evidence(
    ask: Ask,
    by: str,
    rows: Sequence[str],
    slices: Sequence[Slice],
    matches: Mapping[str, PriceMatch | None],
    chosen: Mapping[str, Any],
) -> dict[str, ModelEvidence]:
    by_row: dict[str, dict[str, dict[str, Slice]]] = {name: defaultdict(dict) for name in rows}
    for slice_ in slices:
        if slice_.name in by_row and slice_.also != "unknown":
            by_row[slice_.name][slice_.also][slice_.rate.name] = replace(
                slice_, name=slice_.also, also=slice_.name
            )
    strata = {rate: _read_strata(ask, RATES[rate], by, chosen) for rate in PROVEN} if rows else {}
    costs = _read_costs(ask, by, matches, chosen) if rows else {}
    night = read_alerts(ask) if rows else None
    evidence = {}
    for name, models in by_row.items():
        narrowed = {**chosen, _PARAMETERS[by]: (name,)}
        evidence[name] = ModelEvidence(
            _mark_concentrated(ask, _complete(models), narrowed),
            {rate: each.within(by, name) for rate, each in strata.items()},
            {model: costs[name, model] for model in models if (name, model) in costs},
            matches,
            _find_alerts(night.alerts if night else (), narrowed, models),
        )
    return evidence


def _complete(models: Mapping[str, Mapping[str, Slice]]) -> dict[str, dict[str, Slice]]:
    """Return the slices with an empty slice for each rate that a model does not have."""
    complete = {}
    for model, rates in models.items():
        from_one = next(iter(rates.values()))
        nothing = Share(0, 0, 0, likeness=from_one.share.likeness)
        complete[model] = {
            **{name: replace(from_one, rate=RATES[name], share=nothing, total=0) for name in PROVEN},
            **rates,
        }
    return complete


def _mark_concentrated(
    ask: Ask, models: Mapping[str, Mapping[str, Slice]], chosen: Mapping[str, Any]
) -> dict[str, dict[str, Slice]]:
    several = [rates["parse_error"] for rates in models.values()]
    reasons = find_concentrated(ask, several, "model", chosen)
    return {
        model: {name: replace(slice_, concentration=reasons.get(model, "")) for name, slice_ in rates.items()}
        for model, rates in models.items()
    }


def _read_strata(ask: Ask, rate: RateDefinition, by: str, chosen: Mapping[str, Any]) -> ArmStrata:
    dimensions = _OF_TURNS[by] if rate.noun == "turn" else _OF_CALLS
    names = dict(zip(("first", "second", "third"), dimensions, strict=False))
    return make_strata(ask("strata", rates=(rate.name,), by="model", **names, **chosen), dimensions)


def _read_costs(
    ask: Ask, by: str, matches: Mapping[str, PriceMatch | None], chosen: Mapping[str, Any]
) -> dict[tuple[str, str], ModelCost]:
    metric, dimensions = _COSTS[by]
    frame = ask(metric, prices=write_parameter(matches.values()), **chosen)
    return make_costs(frame, dimensions)


def make_costs(frame: pd.DataFrame, dimensions: Sequence[str]) -> dict[tuple[str, str], ModelCost]:
    """Return the costs by prompt or tool and model, from the rows of the metric `prompt_costs` or
    `tool_costs`.
    """
    groups = place_in_groups(frame["group_ids"], frame["group_judged_amount"], frame["group_completed"])
    costs: dict[tuple[str, str], ModelCost] = {}
    for row, counts in zip(frame.to_dict("records"), groups, strict=True):
        key = (row["slice"], row["model"])
        stratum = tuple(str(row[name]) for name in dimensions)
        present = costs.get(key, ModelCost({}, 0, 0, 0, 0.0))
        costs[key] = ModelCost(
            {**present.strata, stratum: present.strata.get(stratum, 0.0) + counts},
            present.turns + row["turns"],
            present.priced + row["priced"],
            present.judged + row["judged"],
            present.amount + row["amount"],
        )
    return costs


def _find_alerts(
    alerts: Sequence[Alert], narrowed: Mapping[str, Any], models: Iterable[str]
) -> dict[str, Alert]:
    """Return the open alert of each model that got worse, at the prompt or tool of the filters."""
    return {
        model: alert
        for model in models
        for alert in reversed(alerts)
        if alert.is_open
        and alert.is_worse
        and alert.rate.name in LEADING
        and alert.values.get("model") == model
        and alert.agrees_with({**narrowed, "models": (model,)})
    }


def _read_hosts(ask: Ask, chosen: Mapping[str, Any]) -> dict[str, list[str]]:
    hosts: dict[str, list[str]] = {}
    rows = ask("slices", rates=(_CALLS,), by="model", also="provider", **chosen)
    for slice_ in make_slices(rows, related=False):
        if slice_.also != "unknown":
            hosts.setdefault(slice_.name, []).append(slice_.also)
    return hosts


# --- the verdict on one prompt or tool ----------------------------------------------------------


def judge_choice(
    by: str, name: str, evidence: ModelEvidence, current: str, smallest: float = SMALLEST
) -> ModelChoice:
    """Return which model to use for the prompt or tool `name`."""
    use = evidence.read_use(current)
    others = [evidence.read_use(model) for model in evidence.slices if model != current]
    if not others:
        return ModelChoice(by, name, use, (), obstacle=Obstacle.ONLY_MODEL)
    if not _has_enough(use):
        thin = [Candidate(other, Obstacle.TOO_LITTLE) for other in others]
        return ModelChoice(by, name, use, thin, obstacle=Obstacle.TOO_LITTLE)
    if use.cost is None or use.judged < ENOUGH:
        unpriced = [Candidate(other, Obstacle.UNPRICED) for other in others]
        return ModelChoice(by, name, use, unpriced, obstacle=Obstacle.UNPRICED)
    candidates = [_screen(other, use, evidence) for other in others]
    # A model that only looks more expensive also counts: otherwise, chance would choose the confidence.
    rivals = sum(each.obstacle is None or _may_be_cheaper(each) for each in candidates)
    judged = [each if each.obstacle else _test(each, use, evidence, rivals, smallest) for each in candidates]
    proven = [each for each in judged if each.obstacle is None]
    if proven:
        cheapest = min(proven, key=lambda each: (each.ratio.estimate if each.ratio else 1.0, each.use.model))
        return ModelChoice(by, name, use, judged, cheapest)
    blocked = min(judged, key=_order_obstacles)
    is_dear = blocked.obstacle is Obstacle.NOT_CHEAPER
    return ModelChoice(by, name, use, judged, obstacle=blocked.obstacle, blocked=None if is_dear else blocked)


def _order_obstacles(candidate: Candidate) -> tuple[int, float, str]:
    place = _FIRST.index(candidate.obstacle) if candidate.obstacle in _FIRST else len(_FIRST)
    cost = candidate.use.cost.amount if candidate.use.cost else float("inf")
    return place, cost, candidate.use.model


def _may_be_cheaper(candidate: Candidate) -> bool:
    """Return True if a model with enough data looks more expensive, but its interval includes lower costs."""
    ratio = candidate.ratio
    return bool(ratio and ratio.interval.low < 1 and _has_enough(candidate.use))


def _has_enough(use: ModelUse) -> bool:
    return all(use.rates[name].is_solid for name in PROVEN)


def _screen(other: ModelUse, current: ModelUse, evidence: ModelEvidence) -> Candidate:
    """Return the candidate, with an obstacle if it is not worth a test."""
    if other.cost is None and other.unpriced:
        return Candidate(other, Obstacle.UNPRICED)
    ratio = evidence.compare_costs(other.model, current.model)
    plain = other.cost.amount / current.cost.amount if other.cost and current.cost else None
    estimate = ratio.estimate if ratio else plain
    if estimate is not None and estimate >= 1:
        return Candidate(other, Obstacle.NOT_CHEAPER, ratio=ratio)
    if not _has_enough(other):
        missing, reason = find_missing(other), find_reason(other)
        return Candidate(other, Obstacle.TOO_LITTLE, missing=missing, reason=reason)
    if other.cost is None or other.judged < ENOUGH:
        return Candidate(other, Obstacle.UNPRICED)
    return Candidate(other, None, ratio=ratio)


def _test(
    candidate: Candidate, current: ModelUse, evidence: ModelEvidence, rivals: int, smallest: float
) -> Candidate:
    """Return the candidate with its evidence, and an obstacle if it is not proven cheaper and not worse."""
    model = candidate.use.model
    level = 1 - min(1 - LEVEL, 2 * _FALSE / rivals)
    checks = [check_rate(evidence, RATES[name], model, current.model, level) for name in PROVEN]
    tested = replace(
        candidate,
        checks=checks,
        ratio=evidence.compare_costs(model, current.model, level),
        level=level,
        rivals=rivals,
        has_same_prices=evidence.has_same_prices(model, current.model),
        alert=evidence.alerts.get(model),
    )
    reasons = [check.reason for check in checks if check.reason]
    if reasons:
        return replace(tested, obstacle=Obstacle.MEASURED_APART, reason=reasons[0])
    if any(check.has_too_few_days for check in checks):
        return replace(tested, obstacle=Obstacle.OTHER_DAYS)
    ratio = tested.ratio
    is_shared = all(check.mix and check.mix.found.is_representative for check in checks)
    if not is_shared or (ratio and ratio.covered < REPRESENTATIVE):
        return replace(tested, obstacle=Obstacle.OTHER_WORK)
    if any(check.worst >= smallest for check in checks):
        is_worse = any(check.is_worse and check.worst >= smallest for check in checks)
        return replace(tested, obstacle=Obstacle.WORSE if is_worse else Obstacle.UNPROVEN)
    if ratio is None or ratio.interval.high >= 1:
        return replace(tested, obstacle=Obstacle.COST_UNPROVEN)
    return replace(tested, obstacle=Obstacle.ALERT) if tested.alert else tested


def check_rate(
    evidence: ModelEvidence, rate: RateDefinition, model: str, current: str, level: float
) -> RateCheck:
    """Return the mix-adjusted difference of a rate, `model` minus `current`.

    `level` is the confidence of the interval.
    """
    both = [
        evidence.slices[each][name]
        for each in (model, current)
        for name in rates_to_compare(rate.name)
        if name in evidence.slices[each]
    ]
    basis = compare_by(rate.name, both)
    if basis.rate != rate.name:
        reason = basis.reason.partition(": ")[2] or basis.reason
        return RateCheck(rate, None, reason=f"not comparable by {rate.phrase}: {reason}")
    slices = evidence.slices[model][rate.name], evidence.slices[current][rate.name]
    shares = slices[0].share, slices[1].share
    excesses = measure_excesses([shares])
    (mix,) = evidence.strata[rate.name].compare([((model, slices[0]), (current, slices[1]))], level)
    difference = mix.found.difference if mix else compare_shares([shares], excesses, level)[0]
    return RateCheck(rate, difference, mix, has_too_few_days=excesses[0].has_too_few)


def _add_saving(choice: ModelChoice, evidence: ModelEvidence, spent: float | None) -> ModelChoice:
    """Return the choice with what the current model cost in the recent days, and what would be saved."""
    if choice.suggestion is None or not spent:
        return replace(choice, spent=spent)
    ratio = evidence.compare_costs(choice.suggestion.use.model, choice.current.model)
    return replace(choice, spent=spent, saving=measure_saving(spent, ratio) if ratio else None)


def measure_saving(spent: float, ratio: MixedRatio) -> tuple[float, Interval]:
    """Return what a cheaper model saves of the amount `spent`, with its 95 % interval.

    `ratio` must have an interval of 95 %.
    """
    bounds = Interval(spent * (1 - ratio.interval.high), spent * (1 - ratio.interval.low))
    return spent * (1 - ratio.estimate), bounds


def _sum_up(
    choices: Sequence[ModelChoice], evidence: Mapping[str, ModelEvidence]
) -> tuple[float, Interval] | None:
    saving = [choice for choice in choices if choice.saving and choice.spent and choice.suggestion]
    if len(saving) == 1:
        return saving[0].saving
    amounts, ratios = [], []
    for choice in saving:
        if choice.suggestion and choice.spent:
            ratio = evidence[choice.name].compare_costs(choice.suggestion.use.model, choice.current.model)
            if ratio:
                amounts.append(choice.spent)
                ratios.append(ratio)
    return sum_savings(amounts, ratios) if ratios else None
