"""Draws how often repeated trials of two slices succeed (pass^k), and what both slices cost."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.sides import CompareSide
from callgauge.analysis.measures.costs import Cost, cost_per_turn, format_amount
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import MEASURED_ENOUGH
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.money.cells import make_money_columns
from callgauge.dashboard.components.money.page_costs import ask_costs
from callgauge.dashboard.components.money.price_table import draw_no_price
from callgauge.dashboard.components.slice_table import part_cell
from callgauge.dashboard.components.table import Cell, Column, Percentages, draw_table
from callgauge.stats import ENOUGH, pass_k

Row = Mapping[Hashable, Any]
_MOST = 4  # largest k of pass^k, as in tau-bench
_VERDICTS = ("turn_success", "recorded_ok", "derived_ok")


def draw_pass_k(a: CompareSide, b: CompareSide) -> None:
    """Draw pass^1 to pass^4 of both slices.

    Each pass^k covers the tasks with at least k trials.
    """

    def verdict_choice() -> str:
        return choose_one("Success", "success", _VERDICTS, "turn_success", lambda name: RATES[name].title)

    with cards.draw_card("Same tasks: pass^k", "pass_k", height=200):
        measure = verdict_choice()
        split = sorted({*a.arm.split_by_call(), *b.arm.split_by_call()})
        if split:
            st.caption(
                f"Not for these slices: a task is tried by a whole session, which has no one {split[0]}."
            )
            return
        cells = [(side, _build_pass_row(side, measure)) for side in (a, b)]
        if not any(cell.order is not None for _, row in cells for cell in row):
            st.caption(
                f"No task has a trial with a known end: {RATES[measure].title}. A task is what the log names "
                "as one, or a first message of 40 characters or more."
            )
            return
        columns = [Column("Slice", "name")] + [
            Column(f"pass^{k}", "number", f"Chance that {wording.plural(k, 'trial')} of a task all pass")
            for k in range(1, _MOST + 1)
        ]
        draw_table(
            "pass_k", "pass^k of both slices", columns, [[_name_cell(side), *row] for side, row in cells]
        )
        st.caption(
            "The chance that k trials of a task all pass, over the tasks with at least k trials; 95% "
            "interval over tasks. More trials, other tasks: compare along a column, not along a row."
        )


def _build_pass_row(side: CompareSide, measure: str) -> list[Cell]:
    rows = store_queries.ask("pass_k", measure=measure, **side.arm.parameters())
    outcomes = list(zip(rows.trials, rows.passed, rows.tasks, strict=True))
    return [_pass_cell(outcomes, k) for k in range(1, _MOST + 1)]


def _pass_cell(outcomes: list[tuple[int, int, int]], k: int) -> Cell:
    estimate = pass_k(outcomes, k)
    if estimate is None:
        return Cell("–", sub=f"no task tried {wording.plural(k, 'time')}", values={"rate": None})
    bounds = estimate.interval

    def write(decimals: int) -> tuple[str, str]:
        between = f" · {wording.fixed_interval(bounds, decimals)}" if bounds else ""
        return wording.fixed_percent(
            estimate.rate, decimals
        ), f"{wording.plural(estimate.tasks, 'task')}{between}"

    text, sub = write(1)
    return Cell(
        text,
        sub=sub,
        pale=estimate.tasks < ENOUGH,
        order=estimate.rate,
        values={
            "rate": estimate.rate,
            "tasks": estimate.tasks,
            "low": bounds.low if bounds else None,
            "high": bounds.high if bounds else None,
        },
        percentages=Percentages(estimate.rate, estimate.tasks, write),
    )


def _name_cell(side: CompareSide) -> Cell:
    return Cell(f"{side.arm.letter}: {wording.one_line(side.name, 60)}")


def draw_costs(a: CompareSide, b: CompareSide) -> None:
    """Draw the cost, tokens, steps and seconds of both slices, per turn and per successful turn."""
    _draw_money(a, b)
    with cards.draw_card("Tokens, steps and seconds", "turn_costs", height=200):
        costs = {side.arm.letter: _read_cost(side) for side in (a, b)}
        if not any(costs.values()):
            st.caption("No turn in either slice.")
            return
        columns = [
            Column("Slice", "name"),
            Column("Turns", "number"),
            Column(RATES["turn_success"].title, "number", RATES["turn_success"].meaning),
            *(
                Column(f"{what} per {unit}", "number")
                for what in ("Steps", "Tokens", "Seconds")
                for unit in ("turn", "success")
            ),
        ]
        rows = [[_name_cell(side), *_cost_cells(costs[side.arm.letter])] for side in (a, b)]
        draw_table("costs", "Tokens, steps and seconds of both slices", columns, rows)
        split = sorted({*a.arm.split_by_call(), *b.arm.split_by_call()})
        st.caption(
            "Per success: per turn, over the share of turns that succeeded, so failed turns are paid for. "
            f"Pale: known of fewer than {100 * MEASURED_ENOUGH:.0f}% of the turns."
            + (f" Turns have no single {' or '.join(split)}." if split else "")
        )


def _draw_money(a: CompareSide, b: CompareSide) -> None:
    with cards.draw_card("What turns cost", "costs", height=200):
        costs = [next(iter(ask_costs(**side.arm.parameters())), None) for side in (a, b)]
        priced = [(side, cost) for side, cost in zip((a, b), costs, strict=True) if cost]
        if not any(cost.total is not None for _, cost in priced):
            draw_no_price()
            return
        before, after = costs
        if before and after:
            st.markdown(f"**{_compare_money(before, after)}**")
        heads, drawn = make_money_columns([cost for _, cost in priced])
        rows = [[_name_cell(side), *cells] for (side, _), cells in zip(priced, drawn, strict=True)]
        draw_table(
            "money", "What turns cost in both slices, in money", [Column("Slice", "name"), *heads], rows
        )
        st.caption("Intervals: 95%, over sessions. The page Models lists the prices, under Cost.")


def _compare_money(before: Cost, after: Cost) -> str:
    first, second = before.per_completed, after.per_completed
    if first is None or second is None or not first.amount:
        return "The cost of a successful turn is not known for both."
    times = second.amount / first.amount
    bounds = second.compare_with(first)
    ratio = f"A successful turn costs {times:.2f} times as much in B as in A"
    if bounds is None:
        return f"{ratio}; too few sessions for an interval."
    decided = "" if bounds.low > 1 or bounds.high < 1 else ": no clear difference"
    return f"{ratio} ({bounds.low:.2f} to {bounds.high:.2f}){decided}."


def _read_cost(side: CompareSide) -> Row | None:
    rows = store_queries.ask("turn_costs", **side.arm.parameters()).to_dict("records")
    return rows[0] if rows and rows[0]["turns"] else None


def _cost_cells(row: Row | None) -> list[Cell]:
    if row is None:
        return [Cell("–")] * 8
    turns, ok, measured = row["turns"], row["ok"], row["ok_known"]
    success = ok / measured if measured else 0.0
    amounts = [
        (row["steps"] or 0, turns),
        (row["tokens"], row["tokens_known"]),
        (row["ms"] / 1000, row["ms_known"]),
    ]
    cells = [
        Cell(f"{turns:,}", order=turns),
        part_cell(ok, measured, counts=True)
        if measured
        else Cell("–", sub="not measured", values={"rate": None}),
    ]
    for total, count in amounts:
        each = cost_per_turn(total, count)
        cells += [
            _amount_cell(each, count, turns),
            _amount_cell(each / success if each is not None and success else None, count, turns),
        ]
    return cells


def _amount_cell(value: float | None, measured: int, turns: int) -> Cell:
    if value is None:
        return Cell("–", sub="unknown")
    sub = None if measured == turns else f"of {wording.rate(measured, turns)}"
    return Cell(format_amount(value), sub=sub, pale=measured < MEASURED_ENOUGH * turns, order=value)
