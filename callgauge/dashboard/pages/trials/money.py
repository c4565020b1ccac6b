"""What a success costs in each arm of a run."""

from __future__ import annotations

import streamlit as st

from callgauge.dashboard import wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.trials import MEASURES, ArmTotal, RunResults, TrialRun
from callgauge.dashboard.pages.trials import words
from callgauge.stats import Interval

_READING = (
    "What all trials cost, divided by those that succeeded: trials that failed are paid for, too. "
    "The interval counts tasks."
)


def draw_money(run: TrialRun, results: RunResults) -> None:
    """Draw the card with a row for each arm."""
    with cards.draw_card("Cost of a success", "trial_results", caption=_READING, height=260):
        found = {name: results.cost_of_success(name) for name in run.arm_names}
        if not any(cost.n for cost, _, _, _ in found.values()):
            st.caption("No trial is priced. Name prices in the plan: price = { input = …, output = … }.")
            return
        is_checked = any(results.total(name, MEASURES["right"]).n for name in run.arm_names)
        columns = [
            Column("Arm", "name"),
            Column("Cost / success", "cell", "USD"),
            Column("Succeeded", "cell", "Right by the task's check" if is_checked else "The turn ended well"),
            Column("Cost / trial", "cell", "USD"),
            Column("Cost", "number", "USD, of the trials that are priced"),
            Column("Tokens / trial", "number"),
        ]
        rows = [
            [Cell(words.name_arm(name), order=name), *_cells(results.total(name, MEASURES["tokens"]), *its)]
            for name, its in found.items()
        ]
        draw_table("cost_of_success", "Cost of a success by arm", columns, rows)


def _cells(
    tokens: ArmTotal, cost: ArmTotal, won: ArmTotal, amount: float | None, bounds: Interval | None
) -> list[Cell]:
    unpriced = f"{cost.unmeasured:,} of {cost.trials:,} unpriced" if cost.unmeasured else None
    return [
        _money_cell(amount, bounds, "none succeeded" if won.n and not won.k else "unpriced"),
        Cell(
            wording.rate(int(won.k), int(won.n)),
            sub=wording.fraction(int(won.k), int(won.n)) if won.n else "unmeasured",
            order=won.value,
        ),
        _money_cell(cost.value, cost.interval, "unpriced"),
        Cell(_money(cost.k) if cost.n else "–", sub=unpriced, order=cost.k),
        Cell(wording.compact(tokens.value), order=tokens.value),
    ]


def _money_cell(amount: float | None, bounds: Interval | None, without: str) -> Cell:
    if amount is None:
        return Cell("–", sub=without, pale=True, values={"": None})
    between = f"{_money(bounds.low)} to {_money(bounds.high)}" if bounds else "no interval: too few tasks"
    ends = {"low": bounds.low if bounds else None, "high": bounds.high if bounds else None}
    return Cell(_money(amount), sub=between, order=amount, values={"": amount} | ends)


def _money(amount: float) -> str:
    return wording.money(amount, "USD", wording.money_places(amount))
