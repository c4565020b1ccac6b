"""Draws a table of tasks by variant. Tasks on which the variants differ come first."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import MEASURES, RunResults, TrialRun, TriedTask
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import session_link
from callgauge.dashboard.components.controls.list_filters import draw_search_box
from callgauge.dashboard.components.controls.paging import draw_pager
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.controls.url_widgets import reset_page_number
from callgauge.dashboard.components.table import Cell, Column, draw_table

_PER_PAGE = 40
_SHADED = "Shaded: wrong, or invalid calls where the task has no check. Each cell opens its session."
_ORDERS = {"unlike": "Differing first", "run": "Order of the run"}


def draw_tasks(run: TrialRun, results: RunResults) -> None:
    """Draw one page of tasks. Each cell links to the timeline of its session."""
    take = cards.Download("trial_results", store_queries.ask_later("trial_results", run=run.run), "all rows")
    with cards.draw_card("Task by task", "trial_results", take=take, height=480):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            order = (
                choose_segment("Order", "tasks_by", list(_ORDERS), _ORDERS.__getitem__)
                if run.others
                else "run"
            )
            text = draw_search_box("Search for a task", "task", "Search for a task", width=240)
        matching = list_tasks(results, order, text)
        pages = -(-len(matching) // _PER_PAGE)
        reset_page_number("tasks_page", {"run": run.run, "order": order, "text": text})
        page = min(max(1, pages), read_page_number())
        if run.others and results.tasks:
            unlike = sum(measure_disagreement(results, task) > 0 for task in results.tasks)
            tasks = wording.plural(len(results.tasks), "task")
            st.caption(f"The variants differ on {unlike:,} of {tasks}. {_SHADED}")
        if not matching:
            st.caption("No task matches." if text else "No task has a trial yet.")
            return
        columns = [Column("Task", "name")]
        columns += [
            Column(wording.one_line(name, 24), "cell", full=name, help=name if len(name) > 24 else None)
            for name in run.arm_names
        ]
        shown = matching[_PER_PAGE * (page - 1) : _PER_PAGE * page]
        draw_table("tasks", "Tasks by variant", columns, [_row(run, results, task) for task in shown])
        draw_pager("tasks_page", pages)


def read_page_number() -> int:
    """Return the page number in the URL. Return 1 when the URL has no number."""
    text = st.query_params.get("tasks_page")
    return int(text) if text and text.isdecimal() and 0 < len(text) < 7 and int(text) else 1


def list_tasks(results: RunResults, order: str, text: str | None) -> list[str]:
    """Return the tasks whose id contains a text.

    If `order` is "unlike", tasks on which the variants differ come first.
    """
    tasks = [task for task in results.tasks if not text or text.lower() in task.lower()]
    if order == "unlike":
        tasks.sort(key=lambda task: -measure_disagreement(results, task))
    return tasks


def measure_disagreement(results: RunResults, task: str) -> float:
    """Return how much the variants differ on a task in the primary measure.

    If they do not differ, compare whether the results are correct.
    """
    spread = 0.0
    for measure, weight in ((results.run.primary, 1.0), (MEASURES["right"], 1e-3)):
        counts = results.counts(measure)
        all_rates = (counts[arm][task].rate for arm in results.run.arm_names if task in counts[arm])
        rates = [rate for rate in all_rates if rate is not None]
        if len(rates) > 1:
            spread += weight * (max(rates) - min(rates))
    return spread


def _row(run: TrialRun, results: RunResults, task: str) -> list[Cell]:
    name = Cell(wording.one_line(task, 60), title=_group(run, task), order=task, mono=True, values={"": task})
    return [name, *(_cell(results.by_arm.get(arm, {}).get(task, ())) for arm in run.arm_names)]


def _group(run: TrialRun, task: str) -> str | None:
    return f"Group {wording.one_line(run.groups[task], 80)}" if task in run.groups else None


def _cell(several: Sequence[TriedTask]) -> Cell:
    """Return the cell with a variant's trials of a task.

    The cell links to the trial with the worst result.
    """
    if not several:
        return Cell("–", title="Not tried by this variant", values={"": None})
    first = min(several, key=_badness)
    parts = [describe_trial(first)]
    if len(several) > 1:
        right = [tried.right for tried in several if tried.right is not None]
        parts = [f"{sum(right)} of {len(right)} right" if right else wording.plural(len(several), "trial")]
    if first.refused:
        parts.append(f"{first.refused:,}/{first.calls:,} invalid")
    if first.mended:
        parts.append(f"{first.mended:,} repaired")
    if first.misses:
        parts.append(f"{first.misses:,}/{first.simulated:,} not recorded")
    text = " · ".join(parts)
    return Cell(
        text,
        href=session_link(first.session, file=first.file),
        heat=_heat(several),
        pale=first.no_reply,
        title=wording.one_line(first.why, 400) if first.why else None,
        order=text,
        values={
            "": text,
            "right": [tried.right for tried in several].count(True),
            "refused": sum(tried.refused for tried in several),
            "calls": sum(tried.calls for tried in several),
        },
    )


def _heat(several: Sequence[TriedTask]) -> float | None:
    """Return the strength of a cell's colour, proportional to the share of trials that failed."""
    bad = sum(tried.right is False or (tried.right is None and bool(tried.refused)) for tried in several)
    return 0.22 * bad / len(several) if bad else None


def _badness(tried: TriedTask) -> tuple[bool, bool, bool, int]:
    return tried.no_reply, tried.right is not False, tried.turn_ok is not False, -tried.refused


def describe_trial(tried: TriedTask) -> str:
    """Return the outcome of a trial in a word or two."""
    if tried.no_reply:
        return "No reply"
    if tried.right is not None:
        return "Right" if tried.right else "Wrong"
    if tried.turn_ok is False:
        return wording.one_line(tried.status or "Not ok", 20).replace("_", " ").capitalize()
    if tried.refused:
        return "Invalid"
    if tried.mended is None:
        return "Valid"
    return "Repaired" if tried.mended else "Clean"
