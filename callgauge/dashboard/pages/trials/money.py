"""Draws the cost per success for each variant of a trial run."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import MEASURES, RunResults, SuccessCost, TrialRun
from callgauge.analysis.verdicts import trials
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.slice_table import part_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.stats import Interval

_READING = (
    "The cost of all trials, divided by the number that succeeded: failed trials are paid for, too. Trials "
    "without a price or a known result are left out. The interval counts tasks."
)


def draw_money(run: TrialRun, results: RunResults) -> None:
    with cards.draw_card("Cost of a success", "trial_results", caption=_READING, height=260):
        costs = {name: results.cost_of_success(name) for name in run.arm_names}
        if not any(cost.priced for cost in costs.values()):
            st.caption("No trial is priced. Name prices in the plan: price = { input = …, output = … }.")
            return
        about = "Right by the task's check" if results.success.name == "right" else "The turn ended well"
        columns = [
            Column("Variant", "name"),
            Column("Cost / success", "cell", "USD"),
            Column("Succeeded", "cell", f"{about}; of the trials in the sum"),
            Column("Cost / trial", "cell", "USD"),
            Column("Cost", "number", "USD, of the trials that are priced"),
            Column("Tokens / trial", "number"),
        ]
        rows = [
            [Cell(trials.name_arm(name), order=name), *_cells(results, name, cost)]
            for name, cost in costs.items()
        ]
        draw_table("cost_of_success", "Cost of a success by variant", columns, rows)


def _cells(results: RunResults, name: str, success_cost: SuccessCost) -> list[Cell]:
    cost, tokens = (results.total(name, MEASURES[measure_name]) for measure_name in ("cost", "tokens"))
    unpriced = f"{cost.unmeasured:,} of {cost.replied:,} unpriced" if cost.unmeasured else None
    return [
        _money_cell(
            success_cost.amount,
            success_cost.interval,
            "none succeeded" if success_cost.priced else "unpriced",
        ),
        part_cell(success_cost.won, success_cost.priced, counts=True),
        _money_cell(cost.rate, cost.interval, "unpriced"),
        Cell(_money(cost.k) if cost.n else "–", sub=unpriced, order=cost.k),
        Cell("–" if tokens.rate is None else f"{tokens.rate:,.0f}", order=tokens.rate),
    ]


def _money_cell(amount: float | None, bounds: Interval | None, without: str) -> Cell:
    if amount is None:
        return Cell("–", sub=without, pale=True, values={"": None})
    between = f"{_money(bounds.low)} to {_money(bounds.high)}" if bounds else "no interval: too few tasks"
    ends = {"low": bounds.low if bounds else None, "high": bounds.high if bounds else None}
    return Cell(_money(amount), sub=between, order=amount, values={"": amount} | ends)


def _money(amount: float) -> str:
    return wording.money(amount, "USD", wording.money_places(amount))
