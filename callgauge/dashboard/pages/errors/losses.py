"""Draws an expander with valid calls that were lost because a parallel call failed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import sum_groups
from callgauge.analysis.verdicts.sentences import RULE, format_difference
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.slice_table import share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.stats import Difference, Share, compare_rates

Row = Mapping[Hashable, Any]
_MODELS = 20


def show(chosen: Mapping[str, Any]) -> None:
    fold = draw_fold("Valid calls lost because a parallel call failed", "beside")
    if fold is not None:
        with fold:
            _draw_parallel(chosen)


def _draw_parallel(chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "When one of several calls fails",
        "parallel",
        take=cards.Download("parallel", store_queries.ask_later("parallel", **chosen)),
    ):
        rows: list[dict[Hashable, Any]] = store_queries.ask("parallel", **chosen).to_dict("records")
        if not rows:
            st.caption("No step with several calls and their results in this selection.")
            return
        st.markdown(describe_blast(rows))
        heads = [
            Column("Model", "name"),
            Column("Parallel steps", "number", "Steps with several calls"),
            Column("With a failure", "number", "Steps with a missing call or invalid arguments"),
            Column("Valid calls lost there", "rate"),
            Column("Lost in other steps", "rate"),
        ]
        drawn = [_build_model_row(row) for row in rows[:_MODELS]]
        draw_table("parallel", "Valid calls lost in parallel steps, by model", heads, drawn)


def lost_beside(rows: Sequence[Row]) -> tuple[Share, Share]:
    """Return two shares of lost valid calls: one for steps with a failed call, and one for all other steps.

    `rows` are the rows of the metric `parallel`, which counts only steps with several calls.
    """
    lost, others, all_lost, calls, bad = sum_groups(rows, "others_lost", "others", "lost", "calls", "bad")
    return Share.from_groups(lost, others), Share.from_groups(all_lost - lost, calls - bad - others)


def describe_blast(rows: Sequence[Row]) -> str:
    """Return a sentence on whether steps with a failed call lose valid calls more often than other steps."""
    near, far = lost_beside(rows)
    steps = sum(row["steps"] for row in rows)
    if not near.n:
        return f"No call failed in the {wording.plural(steps, 'step')} with several calls."
    lost = f"{wording.rate(near.k, near.n)} ({wording.fraction(near.k, near.n)})"
    sentence = f"{lost} of the valid calls next to a failed one were lost"
    difference = compare_rates(near, far)
    if difference is None:
        return f"{sentence}."
    elsewhere = f"{wording.rate(far.k, far.n)} ({wording.fraction(far.k, far.n)}) where no call failed"
    doubt = _describe_doubt(near, far, difference)
    return f"{sentence}, {elsewhere}. The difference is {format_difference(difference)}, 95%.{doubt}"


def _describe_doubt(near: Share, far: Share, difference: Difference) -> str:
    if not (near.has_enough and far.has_enough):
        return f" Not enough data for a verdict: it takes {RULE} of both."
    return "" if difference.is_decisive else " No clear difference."


def _build_model_row(row: Row) -> list[Cell]:
    near, far = lost_beside([row])
    return [
        Cell(
            wording.one_line(row["model"], 60),
            href=filters.page_link("calls", {"model": row["model"]}, {}),
            order=row["model"],
        ),
        Cell(f"{row['steps']:,}", order=row["steps"]),
        Cell(f"{row['bad_steps']:,}", order=row["bad_steps"]),
        *(share_cell(share, None, title=share.method_name) for share in (near, far)),
    ]
