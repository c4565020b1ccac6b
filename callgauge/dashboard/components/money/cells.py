"""Builds table cells with costs.

Each cell shows how many calls have no price. An unknown cost is never shown as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import Cost, MeanCost
from callgauge.analysis.measures.measurability import describe_reported
from callgauge.dashboard.components.table import Cell, Column
from callgauge.stats import ENOUGH, Interval

MakeCell = Callable[[Cost, int], Cell]


def make_cells(costs: Sequence[Cost], make: MakeCell) -> list[Cell]:
    """Return the cells of a cost column, all with the same number of decimals.

    Columns of mean costs show the smallest well-measured mean with two significant digits. Other columns show
    the largest amount with three significant digits.
    """
    cells = [make(cost, 2) for cost in costs]
    amounts = [(float(cell.order), cell.pale) for cell in cells if cell.order is not None]
    solid = [amount for amount, pale in amounts if amount and not pale]
    if solid and make in (per_turn_cell, per_completed_cell):
        places = wording.money_places(min(solid))
    else:
        places = wording.money_places(max((amount for amount, _ in amounts), default=0.0), 3)
    return [make(cost, places) for cost in costs]


def per_turn_cell(cost: Cost, places: int) -> Cell:
    priced = _turns(cost.per_turn)
    base = f"{priced:,} priced {'turn' if priced == 1 else 'turns'} of {cost.turns:,}"
    return _mean_cell(cost, cost.per_turn, places, base, base)


def per_completed_cell(cost: Cost, places: int) -> Cell:
    how = describe_reported(cost.reported, cost.judged)
    if cost.judged and not cost.per_completed and cost.is_priced_enough:
        return Cell("none succeeded", pale=True, title=f"0 / {cost.judged} priced turns succeeded; {how}")
    succeeded = wording.fraction(_turns(cost.per_completed), cost.judged)
    return _mean_cell(cost, cost.per_completed, places, f"{succeeded} priced turns succeeded; {how}")


def retries_cell(cost: Cost, places: int) -> Cell:
    if not cost.retry_calls:
        return Cell("none", pale=True, title="No attempt was made again")
    if cost.retries is None:
        return _unpriced_cell(cost.retry_calls)
    unpriced = cost.retry_calls - cost.retry_priced
    share = wording.percent(cost.retries / cost.total, 2) if cost.total else None
    return Cell(
        wording.money(cost.retries, cost.currency, places),
        sub="\n".join(
            filter(None, [share and f"{share} of the cost", _tell_unpriced(unpriced, cost.retry_calls)])
        ),
        order=cost.retries,
        title=f"{cost.retry_calls:,} model calls were attempts after the first",
        values={"": cost.retries, "unpriced calls": unpriced, "calls": cost.retry_calls},
    )


def total_cell(cost: Cost, places: int) -> Cell:
    if cost.total is None:
        return _unpriced_cell(cost.calls)
    return Cell(
        wording.money(cost.total, cost.currency, places),
        sub=_tell_unpriced(cost.unpriced_calls, cost.calls),
        order=cost.total,
        pale=not cost.is_priced_enough,
        title=describe_unpriced(cost),
        values={"": cost.total, "unpriced calls": cost.unpriced_calls, "calls": cost.calls},
    )


def describe_unpriced(cost: Cost) -> str:
    """Return why calls have no price: the log has no token counts, or the model had no price on the day of
    the call.
    """
    if not cost.unpriced_calls:
        return f"All {wording.plural(cost.calls, 'model call')} are priced"
    untold, without = cost.calls - cost.told_calls, cost.told_calls - cost.priced_calls
    reasons = [f"{untold:,} without tokens in the log"] if untold else []
    reasons += [f"{without:,} without a price on their day"] if without else []
    return f"Unpriced of {wording.plural(cost.calls, 'model call')}: {', '.join(reasons)}"


def _tell_unpriced(unpriced: int, calls: int) -> str | None:
    return f"unpriced {unpriced:,} of {calls:,} model calls" if unpriced else None


def _unpriced_cell(calls: int) -> Cell:
    return Cell(
        "–",
        sub=_tell_unpriced(calls, calls),
        pale=True,
        values={"": None, "unpriced calls": calls, "calls": calls},
    )


def _turns(mean: MeanCost | None) -> int:
    return mean.turns if mean else 0


def _mean_cell(cost: Cost, mean: MeanCost | None, places: int, basis: str, base: str | None = None) -> Cell:
    """Return a cell with a mean cost.

    `basis` is the text of the tooltip. `base` is the text of the small lines.
    """
    if mean is None:
        return Cell("–", pale=True, title=describe_unpriced(cost), values={"": None})
    if not cost.is_priced_enough:
        return Cell("–", sub="too few priced", pale=True, title=describe_unpriced(cost), values={"": None})
    bounds = mean.interval
    between = _write_interval(bounds, cost.currency, places) if bounds else "no interval"
    return Cell(
        wording.money(mean.amount, cost.currency, places),
        sub=f"{between}\n{base}" if base and mean.turns < cost.turns else between,
        order=mean.amount,
        pale=mean.turns < ENOUGH or bounds is None,
        title=basis if bounds else f"{basis}; too few sessions for an interval",
        values={
            "": mean.amount,
            "low": bounds.low if bounds else None,
            "high": bounds.high if bounds else None,
            "turns": mean.turns,
        },
    )


def _write_interval(bounds: Interval, currency: str, places: int) -> str:
    least = bounds.low or bounds.high
    places = max(places, wording.money_places(least, 1))
    return f"{wording.money(bounds.low, currency, places)}–{bounds.high:,.{places}f}"


MONEY_COLUMNS: Mapping[str, tuple[Column, MakeCell]] = {
    "cost_per_completed": (
        Column(
            "Cost / success",
            "cell",
            "What all turns cost, divided by the turns that succeeded: failed turns are paid for, too",
        ),
        per_completed_cell,
    ),
    "cost_per_turn": (
        Column("Cost / turn", "cell", "Mean over the turns whose model calls are all priced"),
        per_turn_cell,
    ),
    "cost": (
        Column("Cost", "cell", "Of the model calls that are priced; the others are counted below it"),
        total_cell,
    ),
    "cost_of_retries": (
        Column("Of retries", "cell", "What the attempts after the first cost, and their share of the cost"),
        retries_cell,
    ),
}
"""The cost columns by their name in the URL, in the order in which a table shows them."""


def make_money_columns(costs: Sequence[Cost]) -> tuple[list[Column], list[tuple[Cell, ...]]]:
    """Return the headers of all cost columns, and the cells of each cost in the same order."""
    columns = [make_cells(costs, make) for _, make in MONEY_COLUMNS.values()]
    return [head for head, _ in MONEY_COLUMNS.values()], list(zip(*columns, strict=True))
