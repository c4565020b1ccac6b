"""Plans a trial: estimates the number of tasks and the cost from the calls in the store."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice, make_slices, merge_slices
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.verdicts.sentences import format_size
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.money.page_costs import ask_costs
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.stats import ENOUGH
from callgauge.stats.sample_size import look_factor, tasks_needed_at, trial_worth

# Maps each measure of a trial to the corresponding rate of the calls in logs.
_RATES = {"refused": "parse_error", "mended": "mended", "right": "recorded_ok"}
_TITLES = {"refused": "Invalid calls", "mended": "Repaired calls", "right": "Successful turns"}
_SIZES = (0.01, 0.02, 0.05, 0.1, 0.2)
_ARMS = ("2", "3", "4", "6")
_ALL = ""
_MOST = 60
_LOOKS, _ALPHA = 5, 0.05  # number of interim analyses and significance level of a plan
_READING = (
    f"An upper bound with {_LOOKS} interim analyses and 80% power: a run pairs its tasks and may stop early. "
    "One trial of each task by each variant."
)


def draw_planning() -> None:
    """Draw the card that plans a trial: controls, estimates, and one row for each smallest difference."""
    with cards.draw_card("Tasks needed", "slices", "costs", height=300):
        models = make_slices(store_queries.ask("slices", rates=("parse_error",), by="model"))
        names = [
            slice_.name for slice_ in sorted(models, key=lambda slice_: -slice_.total) if slice_.is_named
        ][:_MOST]
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            measure = choose_one(
                "Measure", "plan_measure", list(_RATES), "refused", _TITLES.__getitem__, width=170
            )
            model = choose_one(
                "Model",
                "plan_model",
                [_ALL, *names],
                _ALL,
                lambda name: wording.one_line(name, 60) or "All models",
                width=260,
            )
            tool = _choose_tool(measure, model)
            arms = int(choose_one("Variants", "plan_arms", _ARMS, "2", width=90))
        history = _read_history(_RATES[measure], model, tool)
        if history is None or not history.share.n:
            st.caption(
                "The store has no such calls to estimate a rate from. Name one in the plan: "
                "`[measure] expected_rate = 0.1`, and ask `callgauge trial check plan.toml`."
            )
            return
        share = history.share
        few = f" That is few: below {ENOUGH} the numbers are a guess." if share.n < ENOUGH else ""
        st.caption(
            f"So far {wording.rate(share.k, share.n)} ({wording.fraction(share.k, share.n)}) in "
            f"{wording.plural(share.sessions or 0, 'session')}.{few} {_READING}"
        )
        worth = trial_worth(share, _read_calls(model)) if history.rate.noun == "call" else 1.0
        _draw_table(history, worth, arms, _read_cost(model))


def _choose_tool(measure: str, model: str) -> str:
    if measure == "right":
        return _ALL  # because a turn belongs to no single tool
    tools = make_slices(
        store_queries.ask("slices", rates=(_RATES[measure],), by="tool", **_narrow(model, _ALL))
    )
    names = [slice_.name for slice_ in sorted(tools, key=lambda slice_: -slice_.total)][:_MOST]
    return choose_one(
        "Tool",
        "plan_tool",
        [_ALL, *names],
        _ALL,
        lambda name: wording.one_line(name, 60) or "All tools",
        width=220,
    )


def _narrow(model: str, tool: str) -> dict[str, Any]:
    return ({"models": (model,)} if model else {}) | ({"tools": (tool,)} if tool else {})


def _read_history(rate: str, model: str, tool: str) -> Slice | None:
    return merge_slices(make_slices(store_queries.ask("slices", rates=(rate,), **_narrow(model, tool))))


def _read_calls(model: str) -> float:
    """Return the mean number of calls per turn, over turns with at least one call."""
    # The rate `emission` counts all calls, and `retried` counts all turns with a call.
    rows = store_queries.ask("slices", rates=("emission", "retried"), **_narrow(model, _ALL))
    counts = dict(zip(rows["rate"], rows["n"], strict=True))
    return (
        float(counts["emission"] / counts["retried"])
        if counts.get("emission") and counts.get("retried")
        else 1.0
    )


def _read_cost(model: str) -> tuple[float, str] | None:
    """Return the mean cost of a turn and the currency, or None when too few turns have a price."""
    try:
        costs = ask_costs(**_narrow(model, _ALL))
    except MetricError:
        return None
    cost = next(iter(costs), None)
    if cost is None or cost.per_turn is None or not cost.is_priced_enough:
        return None
    return cost.per_turn.amount, cost.currency


def _draw_table(history: Slice, worth: float, arms: int, price: tuple[float, str] | None) -> None:
    columns = [
        Column("Smallest difference", "name"),
        Column("Tasks", "number", "For each variant"),
        Column("Trials", "number", "Tasks times variants"),
        Column("Cost", "number", "At the present cost of a turn, where it is priced"),
    ]
    with st.container(width=640):
        draw_table(
            "planned_tasks",
            "Tasks needed by smallest difference",
            columns,
            _list_rows(history, worth, arms, price),
        )


def _list_rows(
    history: Slice, worth: float, arms: int, price: tuple[float, str] | None
) -> Sequence[Sequence[Cell]]:
    rows = []
    factor = look_factor(_LOOKS, _ALPHA / (arms - 1))
    for size in _SIZES:
        least = tasks_needed_at(history.share.rate or 0.0, size, arms - 1, worth=worth, alpha=_ALPHA)
        if least is None:
            continue
        tasks = ceil(least * factor)
        amount = tasks * arms * price[0] if price else None
        rows.append(
            [
                Cell(format_size(size), order=-size, values={"": size}),
                Cell(f"{wording.round_up(tasks)}", order=tasks, values={"": tasks}),
                Cell(f"{wording.round_up(tasks * arms)}", order=tasks * arms, values={"": tasks * arms}),
                Cell(
                    wording.money(amount, price[1], wording.money_places(amount))
                    if amount is not None and price
                    else "–",
                    order=amount,
                ),
            ]
        )
    return rows
