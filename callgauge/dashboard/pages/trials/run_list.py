"""Draws the list of trial runs, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import TrialRun
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.trials import words

_SHOWN = 25  # rows before "Show all"
_RANK = ("worse", "withheld", "better", "alike", "not decided", "go on")


def run_link(run: str) -> str:
    return filters.page_link("trials", {"run": (), "arm": ()}, {"trial": run})


def list_link() -> str:
    return filters.page_link("trials", {"run": (), "arm": ()}, {})


def draw_runs(runs: Sequence[TrialRun], now: datetime) -> None:
    """Draw the table of trial runs. `now` is the current time in UTC, without time zone."""
    take = cards.Download("trial_runs", store_queries.ask_later("trial_runs"))
    with cards.draw_card("Trial runs", "trial_runs", take=take):
        columns = [
            Column("Question", "name"),
            Column("Answer", "tight", "The latest verdict on each variant compared with the reference"),
            Column("State", "tight"),
            Column("Variants", "number"),
            Column("Tasks", "number", "Tasks with a trial, of those planned"),
            Column("Cost", "number", "USD, of the trials that are priced"),
            Column("Started (UTC)", "tight"),
        ]
        draw_table("runs", "Trial runs", columns, [_row(run, now) for run in runs], opens=True, shown=_SHOWN)


def _row(run: TrialRun, now: datetime) -> list[Cell]:
    answers = words.write_short_answer(run)
    leading = min((decision for decision, _ in answers), key=_place, default=None)
    lines = [text for _, text in answers] or ["one variant" if not run.others else "no interim analysis yet"]
    return [
        Cell(
            wording.one_line(run.question or run.name, 120),
            sub=wording.one_line(run.run, 60) if run.question else None,
            href=run_link(run.run),
            order=run.question or run.name,
        ),
        Cell(
            lines[0],
            sub="\n".join(lines[1:4]) + (f"\n{len(lines) - 4} more" if len(lines) > 4 else "") or None,
            tone=words.TONES.get(leading) if leading and len(set(answers)) == 1 else None,
            leads=True,
        ),
        _state_cell(run, now),
        Cell(f"{len(run.arms):,}", order=len(run.arms)),
        Cell(wording.fraction(run.tasks_tried, run.tasks), order=run.tasks_tried),
        Cell(words.write_cost(run) if run.cost is not None else "–", order=run.cost),
        Cell(f"{run.created_at:%Y-%m-%d %H:%M}" if run.created_at else "–", order=str(run.created_at)),
    ]


def _state_cell(run: TrialRun, now: datetime) -> Cell:
    state = run.state(now)
    last = f"last trial {run.last_at:%m-%d %H:%M}" if run.last_at and state == "not ended" else None
    return Cell(
        words.describe_state(run, now), sub=last, order=state, tone="info" if state == "going on" else None
    )


def _place(decision: str) -> int:
    return _RANK.index(decision) if decision in _RANK else len(_RANK)
