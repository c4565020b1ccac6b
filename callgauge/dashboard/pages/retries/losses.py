"""Cards of the page Retries: good calls lost beside a bad one, and turns with two differing verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import DISAGREEMENTS, read_page
from callgauge.analysis.measures.slices import sum_groups
from callgauge.analysis.verdicts.sentences import RULE, format_difference
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.call_descriptions import REASONS
from callgauge.dashboard.components.controls.links import session_link
from callgauge.dashboard.components.controls.paging import (
    describe_count,
    draw_pager,
    offer_further_days,
    read_newest,
    show_nothing_found,
)
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.slice_table import share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.page_files import page_file
from callgauge.stats import Difference, Share, compare_rates

Row = Mapping[Hashable, Any]
_MODELS = 20


def show(chosen: Mapping[str, Any]) -> None:
    beside = draw_fold("Good calls lost beside a bad one", "beside")
    if beside is not None:
        with beside:
            _draw_parallel(chosen)
    differ = draw_fold("Turns that the log judges otherwise than we infer", "disagree")
    if differ is not None:
        with differ:
            _draw_disagreements(chosen)


def _draw_parallel(chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "When one of several calls is bad",
        "parallel",
        take=cards.Download("parallel", store_queries.ask_later("parallel", **chosen)),
    ):
        rows: list[dict[Hashable, Any]] = store_queries.ask("parallel", **chosen).to_dict("records")
        if not rows:
            st.caption("No step of this selection made several calls at once and shows their results.")
            return
        st.markdown(describe_blast(rows))
        heads = [
            Column("Model", "name"),
            Column("Steps with several calls", "number"),
            Column("with a bad one", "number"),
            Column("Good calls lost beside it", "rate"),
            Column("Lost in other steps", "rate"),
        ]
        drawn = [_build_model_row(row) for row in rows[:_MODELS]]
        draw_table("parallel", "Good calls lost beside a bad one, by model", heads, drawn)


def lost_beside(rows: Sequence[Row]) -> tuple[Share, Share]:
    """Return the shares of good calls that were lost: in steps with a bad call, and in all other steps.

    `rows`: rows of the metric `parallel`, which counts only steps with several calls. A lost call was
    refused, or got no result.
    """
    lost, others, all_lost, calls, bad = sum_groups(rows, "others_lost", "others", "lost", "calls", "bad")
    return Share.from_groups(lost, others), Share.from_groups(all_lost - lost, calls - bad - others)


def describe_blast(rows: Sequence[Row]) -> str:
    """Return a sentence on whether good calls are lost more often in steps with a bad call."""
    near, far = lost_beside(rows)
    steps = sum(row["steps"] for row in rows)
    if not near.n:
        return (
            f"In none of the {wording.plural(steps, 'step')} with several calls one was bad: nothing to tell."
        )
    found = compare_rates(near, far)
    lost = f"{wording.rate(near.k, near.n)} ({wording.fraction(near.k, near.n)})"
    told = f"{lost} of the good calls beside a bad one were lost"
    if found is None:
        return f"{told}."
    elsewhere = f"{wording.rate(far.k, far.n)} ({wording.fraction(far.k, far.n)}) where none was bad"
    sure = _describe_doubt(near, far, found)
    return f"{told}, {elsewhere}: difference {format_difference(found)}, 95%.{sure}"


def _describe_doubt(near: Share, far: Share, found: Difference) -> str:
    if not (near.has_enough and far.has_enough):
        return f" Too few to judge: it takes {RULE} of both."
    return "" if found.is_decisive else " Not decided."


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


def _draw_disagreements(chosen: Mapping[str, Any]) -> None:
    ask = store_queries.keep_asking()
    with cards.draw_card(
        "Two verdicts that differ",
        "disagreements",
        take=cards.Download(
            "disagreements", lambda: read_page(ask, DISAGREEMENTS, chosen, cards.MOST_ROWS).rows, "all rows"
        ),
    ):
        found, pages = read_newest(DISAGREEMENTS, "turn_page", chosen)
        if found.rows.empty:
            none = "No turn of this selection has two verdicts that differ."
            show_nothing_found(found, "turn", lambda: st.caption(none), among="such ")
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{describe_count(found, 'turn')}, the newest first.", width="content")
            st.page_link(
                page_file("calls"),
                label=wording.link_label("See their calls"),
                query_params={"turns": "disagree"},
                width="content",
            )
        heads = [
            Column("Time (UTC)", "tight"), Column("Model", "name"), Column("Log", "name"),
            Column("Inferred", "name"), Column("Calls", "number"), Column("went wrong", "number"),
            Column("Turn", "tight"),
        ]  # fmt: skip
        draw_table(
            "disagreements",
            "Turns with two verdicts",
            heads,
            [_build_turn_row(row) for row in found.rows.to_dict("records")],
        )
        offer_further_days(found, "turn")
        draw_pager("turn_page", pages)


def _build_turn_row(row: Row) -> list[Cell]:
    said = wording.one_line(row["recorded_status"], 60) if row["recorded_status"] else None
    return [
        Cell(f"{row['ts']:%Y-%m-%d %H:%M}" if row["ts"] else "no time"),
        Cell(wording.one_line(row["model"], 60)),
        Cell(
            "completed" if row["recorded_ok"] else "not completed",
            tone="good" if row["recorded_ok"] else "bad",
            sub=said,
        ),
        Cell(
            "not completed" if row["recorded_ok"] else "completed",
            tone="bad" if row["recorded_ok"] else "good",
            sub=REASONS.get(row["derived_reason"], row["derived_reason"]),
        ),
        Cell(f"{row['calls']:,}" if row["calls"] is not None else "–"),
        Cell(f"{row['faults']:,}" if row["faults"] is not None else "–"),
        Cell(
            f"turn {row['turn']}",
            href=session_link(row["session_id"], turn=row["turn"]),
            title="Opens the session at this turn",
        ),
    ]
