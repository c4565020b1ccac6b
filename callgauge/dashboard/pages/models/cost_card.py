"""Card of the cost of turns by model, host or source: tokens, steps, seconds, and the share known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.dashboard.components.slice_table import name_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.slices import MEASURED_ENOUGH
from callgauge.dashboard.measures.turn_costs import cost_per_turn, format_amount

Row = Mapping[Hashable, Any]
BY = ("model", "provider", "source")


def draw_cost(by: str, shown: Sequence[str], chosen: Mapping[str, Any]) -> None:
    """Draw the card, or a note when turns cannot be split by the dimension `by`.

    `shown`: the values of the dimension that get a row.
    """
    take = None
    if by in BY:
        take = cards.Download(f"turn_costs_by_{by}", store_queries.ask_later("turn_costs", by=by, **chosen))
    with cards.draw_card(
        f"What a turn costs, by {DIMENSIONS[by].lower()}", "turn_costs", take=take, height=320
    ):
        if by not in BY:
            st.caption(
                f"A turn is not told apart by {DIMENSIONS[by].lower()}. Rank by model, provider or source to "
                "see what turns cost."
            )
            return
        asked = store_queries.ask("turn_costs", by=by, **chosen).to_dict("records")
        rows = [row for row in asked if row["slice"] in shown]
        if not rows:
            st.caption("No turns in the chosen logs.")
            return
        _draw_table(by, rows)
        st.caption(
            "Per success: what a turn costs, divided by the share of turns that end well, so failed turns "
            f"are paid for. Pale: known of fewer than {100 * MEASURED_ENOUGH:.0f}% of the turns."
            + (" The filter on tools does not narrow turns." if chosen.get("tools") else "")
        )


def _draw_table(by: str, rows: Sequence[Row]) -> None:
    success = "By the log's word where it has one for more turns, else as derived"
    columns = [
        Column(DIMENSIONS[by], "name"),
        Column("Turns", "number"),
        Column("Steps per turn", "number"),
        Column("Tokens per turn", "number", "Input and output of every step"),
        Column("Tokens per success", "number", "Tokens per turn over the share of turns that end well"),
        Column("Seconds per turn", "number", "By the log's time, else that of the model alone"),
        Column("Seconds per success", "number", "Seconds per turn over the share of turns that end well"),
        Column("Turns that end well", "number", success),
    ]
    draw_table("costs", f"What a turn costs by {by}", columns, [_build_row(by, row) for row in rows])


def _build_row(by: str, row: Row) -> list[Cell]:
    turns, ok, ok_known = row["turns"], row["ok"], row["ok_known"]
    success = ok / ok_known if ok_known else 0.0
    tokens, seconds = (
        cost_per_turn(row["tokens"], row["tokens_known"]),
        cost_per_turn(row["ms"] / 1000, row["ms_known"]),
    )
    return [
        name_cell(by, row["slice"]),
        Cell(f"{turns:,}", order=turns),
        _make_amount_cell(cost_per_turn(row["steps"] or 0, turns), turns, turns),
        _make_amount_cell(tokens, row["tokens_known"], turns),
        _make_amount_cell(
            tokens / success if tokens is not None and success else None, row["tokens_known"], turns
        ),
        _make_amount_cell(seconds, row["ms_known"], turns),
        _make_amount_cell(
            seconds / success if seconds is not None and success else None, row["ms_known"], turns
        ),
        Cell(
            wording.rate(ok, ok_known),
            sub=f"{wording.fraction(ok, ok_known)} {row['ok_by']}" if ok_known else "unmeasured",
            order=success if ok_known else None,
            pale=ok_known < MEASURED_ENOUGH * turns,
        ),
    ]


def _make_amount_cell(value: float | None, known: int, turns: int) -> Cell:
    if value is None:
        return Cell("–", sub="unknown")
    share = "" if known == turns else f"of {wording.rate(known, turns)}"
    return Cell(
        format_amount(value), sub=share or None, order=value, pale=known < MEASURED_ENOUGH * turns,
        title=f"known of {wording.fraction(known, turns)} turns",
    )  # fmt: skip
