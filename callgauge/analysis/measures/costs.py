"""Computes the cost of turns, successful turns and retries, at the price of each model on each day."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from callgauge.analysis.measures.slices import MEASURED_ENOUGH, sum_groups
from callgauge.memory.records import ModelPrice
from callgauge.prices import PriceList, PriceMatch
from callgauge.stats import Interval, compare_ratios, ratio_interval
from callgauge.stats.intervals import Floats

Ask = Callable[..., pd.DataFrame]
Row = Mapping[Hashable, Any]
DIMENSIONS = ("model", "provider", "source")
"""The dimensions whose value is known for each turn."""
COMMAND = "callgauge prices FILE --store DIR"
"""The command that loads a team's prices."""


@dataclass(frozen=True, slots=True)
class MeanCost:
    """The mean cost of `turns` turns, with its 95 % interval over sessions.

    `interval` is None with fewer than eight groups of sessions. `by_group` holds the cost and the number of
    turns in each random group of sessions.
    """

    amount: float
    turns: int
    interval: Interval | None
    by_group: tuple[Floats, Floats] = field(compare=False, repr=False)

    def compare_with(self, other: MeanCost) -> Interval | None:
        """Return the 95 % interval of this mean cost divided by the mean cost `other`.

        Return None if the interval is unknown.
        """
        return compare_ratios(other.by_group, self.by_group)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one slice's turns, in `currency`. None means an unknown cost, never 0.

    `calls` is the number of model calls. `told_calls` is the number of these calls with token counts in the
    log. `priced_calls` is the number of these calls that also have a price on their day. `per_turn` is the
    mean cost of turns in which every call is priced. `per_completed` is the cost of the `judged` turns, whose
    success is known, divided by the number of successful turns. `reported` is the number of judged turns
    whose success or failure is in the log. `retries` is the cost of the model calls for retries.
    `retry_priced` is the number of `retry_calls` with a price.
    """

    slice: str
    currency: str
    turns: int
    calls: int
    told_calls: int
    priced_calls: int
    total: float | None
    per_turn: MeanCost | None
    per_completed: MeanCost | None
    judged: int
    reported: int
    retry_calls: int
    retry_priced: int
    retries: float | None

    @property
    def unpriced_calls(self) -> int:
        return self.calls - self.priced_calls

    @property
    def is_priced_enough(self) -> bool:
        """True when at least 20 % of the slice's calls have a price, which is enough for a mean cost."""
        return self.priced_calls >= MEASURED_ENOUGH * self.calls


@dataclass(frozen=True, slots=True)
class CostSummary:
    """The cost of the chosen turns by model, the most expensive model first, on the chosen days and on the
    days before them. The cost of retries is not read.
    """

    overall: Cost | None
    by_model: tuple[Cost, ...]
    before: Cost | None

    @property
    def change(self) -> float | None:
        """The change of the cost per successful turn.

        A change of 0.1 means 10 % more. The change is None if a cost is unknown.
        """
        now, before = (cost and cost.per_completed for cost in (self.overall, self.before))
        return now.amount / before.amount - 1 if now and before and before.amount else None


def match_models(ask: Ask, prices: PriceList) -> dict[str, PriceMatch | None]:
    """Return the prices of each model in the store, or None for a model without a price."""
    choices = ask("choices")
    names = choices[choices.dimension == "model"].value
    return {name: prices.match(name) for name in names if name != "unknown"}


def write_parameter(matches: Iterable[PriceMatch | None]) -> str:
    """Return prices as JSON for the parameter `$prices` of the metric `costs`.

    `to_day` in the JSON is the first day on which a price no longer applies.
    """
    return json.dumps([period for match in matches if match for period in _write_periods(match)])


def _write_periods(match: PriceMatch) -> Iterable[dict[str, Any]]:
    for price, end in match.periods():
        yield {
            "model": match.model,
            "from_day": price.from_day.isoformat(),
            "to_day": end.isoformat() if end else None,
            "input": price.input,
            "cached_input": _or_input(price.cached_input, price),
            "cache_write": _or_input(price.cache_write, price),
            "output": price.output,
        }


def _or_input(amount: float | None, price: ModelPrice) -> float:
    return price.input if amount is None else amount


def cost_parameters(ask: Ask, prices: PriceList, by: str | None, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the metric `costs` for a dimension and filters. Raises MetricError."""
    parameter = write_parameter(match_models(ask, prices).values())
    return {**chosen, "by": by, "prices": parameter}


def find_costs(ask: Ask, prices: PriceList, by: str | None = None, **chosen: Any) -> list[Cost]:
    """Return the cost of each slice of a dimension, the most expensive first.

    If `by` is None, return the cost of all turns. `ask` returns the rows of a metric. `by` is model,
    provider, prompt, prompt_name, source or day. `chosen` holds the filters. Raises MetricError.
    """
    return [make_cost(row, prices.currency) for row in _ask_rows(ask, prices, by, chosen)]


def summarise_costs(
    ask: Ask, prices: PriceList, chosen: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> CostSummary:
    """Return the cost of the chosen turns, in total and by model, and the total cost of the baseline.

    `chosen` and `before` (the baseline) are metric parameters. Raises MetricError.
    """
    rows = _ask_rows(ask, prices, "model", {**chosen, "retries": False})
    return CostSummary(
        _add_up(rows, prices.currency, "all") if rows else None,
        tuple(make_cost(row, prices.currency) for row in rows),
        next(iter(find_costs(ask, prices, **before, retries=False)), None) if before else None,
    )


def _ask_rows(ask: Ask, prices: PriceList, by: str | None, chosen: Mapping[str, Any]) -> list[Row]:
    return list(ask("costs", **cost_parameters(ask, prices, by, chosen)).to_dict("records"))


def find_ranked_costs(
    ask: Ask, prices: Iterable[ModelPrice], by: str, chosen: Mapping[str, Any]
) -> list[Cost]:
    """Return the cost of each value of a dimension. The result is empty if turns have no such dimension.

    `prices` holds the team's prices. Raises MetricError.
    """
    return find_costs(ask, PriceList(tuple(prices)), by, **chosen) if by in DIMENSIONS else []


def make_cost(row: Row, currency: str) -> Cost:
    """Return the cost of a row of the metric `costs`."""
    return _add_up([row], currency, row["slice"])


def _add_up(rows: Sequence[Row], currency: str, name: str) -> Cost:
    """Return the cost of all rows together, as the slice `name`."""
    groups = sum_groups(rows, "priced_turns", "turns_amount", "completed", "judged_amount")
    priced_turns, turns_amount, completed, judged_amount = groups

    def count(column: str) -> int:
        return sum(row[column] for row in rows)

    def add_amounts(column: str) -> float | None:
        amounts = [row[column] for row in rows if row[column] is not None]
        return sum(amounts) if amounts else None

    return Cost(
        slice=name,
        currency=currency,
        turns=count("turns"),
        calls=count("calls"),
        told_calls=count("told_calls"),
        priced_calls=count("priced_calls"),
        total=add_amounts("amount"),
        per_turn=_make_mean(turns_amount, priced_turns),
        per_completed=_make_mean(judged_amount, completed),
        judged=count("judged"),
        reported=count("reported"),
        retry_calls=count("retry_calls"),
        retry_priced=count("retry_priced"),
        retries=add_amounts("retry_amount"),
    )


def _make_mean(amounts: Floats, turns: Floats) -> MeanCost | None:
    priced_turns = int(turns.sum())
    if not priced_turns:
        return None
    return MeanCost(
        float(amounts.sum()) / priced_turns, priced_turns, ratio_interval(amounts, turns), (amounts, turns)
    )


def cost_per_turn(amount: float, turns: int) -> float | None:
    """Return the mean cost of a turn. Return None when there are no turns."""
    return amount / turns if turns else None


def format_amount(value: float) -> str:
    """Write an amount with three significant digits.

    For example, 12,345.6 becomes 12,300, and 3.456 becomes 3.46.
    """
    if value >= 100:
        magnitude = 10 ** (len(str(int(value))) - 3)
        return f"{magnitude * round(value / magnitude):,}"
    return f"{value:.3g}"
