"""The part of the Retries page on what is lost beside a fault: good calls of a bad step, and verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.newest import DISAGREEMENTS, page
from dashboard.statistics import Share, difference
from dashboard.verdicts import span
from dashboard.widgets import cards
from dashboard.widgets.call_words import REASONS
from dashboard.widgets.paging import counted, look_further, newest, nothing_found, pager
from dashboard.widgets.session_links import session_link
from dashboard.widgets.sheet import Cell, Column, sheet

Row = Mapping[Hashable, Any]
_MODELS = 20


def show(chosen: Mapping[str, Any]) -> None:
    _parallel(chosen)
    _disagreements(chosen)


def _parallel(chosen: Mapping[str, Any]) -> None:
    with cards.card(
        "When one of several calls is bad",
        "parallel",
        take=cards.Take("parallel", answers.later("parallel", **chosen)),
    ):
        rows: list[dict[Hashable, Any]] = answers.ask("parallel", **chosen).to_dict("records")
        if not rows:
            st.caption("No step of this selection made several calls at once and shows their results.")
            return
        st.markdown(blast(rows))
        heads = [
            Column("Model", "name"),
            Column("Steps with several calls", "number"),
            Column("with a bad one", "number"),
            Column("Good calls lost beside it", "number"),
            Column("Lost in other steps", "number"),
        ]
        drawn = [_model(row) for row in rows[:_MODELS]]
        sheet("parallel", "Good calls lost beside a bad one, by model", heads, drawn)


def beside(rows: Sequence[Row]) -> tuple[Share, Share]:
    """Good calls that were lost: in steps with a bad call, and in all others."""
    others, lost = sum(row["others"] for row in rows), sum(row["others_lost"] for row in rows)
    calls = sum(row["calls"] - row["bad"] for row in rows)
    return Share(lost, others), Share(sum(row["lost"] for row in rows) - lost, calls - others)


def blast(rows: Sequence[Row]) -> str:
    """Whether a bad call takes its neighbours along, in a sentence."""
    near, far = beside(rows)
    steps = sum(row["steps"] for row in rows)
    if not near.n:
        return (
            f"In none of the {wording.plural(steps, 'step')} with several calls one was bad: nothing to tell."
        )
    found = difference(near, far)
    lost = f"{wording.rate(near.k, near.n)} ({wording.of(near.k, near.n)})"
    told = f"{lost} of the good calls beside a bad one were lost"
    if found is None:
        return f"{told}."
    elsewhere = f"{wording.rate(far.k, far.n)} ({wording.of(far.k, far.n)}) where none was bad"
    sure = "" if found.decisive else " Not decisive."
    return f"{told}, {elsewhere}: difference {span(found)}, 95%.{sure}"


def _model(row: Row) -> list[Cell]:
    near, far = beside([row])
    return [
        Cell(
            wording.one_line(row["model"], 60),
            href=filters.link("calls", {"model": row["model"]}, {}),
            order=row["model"],
        ),
        Cell(f"{row['steps']:,}", order=row["steps"]),
        Cell(f"{row['bad_steps']:,}", order=row["bad_steps"]),
        *(
            Cell(
                wording.rate(share.k, share.n),
                sub=wording.of(share.k, share.n),
                order=share.rate,
                pale=share.n < 30,
            )
            for share in (near, far)
        ),
    ]


def _disagreements(chosen: Mapping[str, Any]) -> None:
    ask = answers.asker()
    with cards.card(
        "Turns that the log judges otherwise than we do",
        "disagreements",
        take=cards.Take("disagreements", lambda: page(ask, DISAGREEMENTS, chosen, 10_000).rows),
    ):
        found, pages = newest(DISAGREEMENTS, "turn_page", chosen)
        if found.rows.empty:
            none = "No turn of this selection has two verdicts that differ."
            nothing_found(found, "turn", lambda: st.caption(none), among="such ")
            return
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{counted(found, 'turn')}, the newest first.", width="content")
            st.page_link(
                "dashboard/pages/calls.py",
                label=wording.door("See their calls"),
                query_params={"turns": "disagree"},
                width="content",
            )
        heads = [
            Column("Time (UTC)", "tight"), Column("Model", "name"), Column("The log", "name"),
            Column("We conclude", "name"), Column("Calls", "number"), Column("went wrong", "number"),
            Column("Turn", "tight"),
        ]  # fmt: skip
        sheet(
            "disagreements",
            "Turns with two verdicts",
            heads,
            [_turn(row) for row in found.rows.to_dict("records")],
        )
        look_further(found, "turn")
        pager("turn_page", pages)


def _turn(row: Row) -> list[Cell]:
    said = wording.one_line(row["recorded_status"], 60) if row["recorded_status"] else None
    return [
        Cell(f"{row['ts']:%Y-%m-%d %H:%M}" if row["ts"] else "no time"),
        Cell(wording.one_line(row["model"], 60)),
        Cell(
            "ok" if row["recorded_ok"] else "not ok", tone="good" if row["recorded_ok"] else "bad", sub=said
        ),
        Cell(
            "not ok" if row["recorded_ok"] else "ok",
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
