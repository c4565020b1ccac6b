"""The page Trials: every run of trials, or one of them with its verdict and what proves it."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import RunResults, TrialRun, make_looks, make_runs, make_trials
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.url_widgets import draw_tabs
from callgauge.dashboard.pages.trials import words
from callgauge.dashboard.pages.trials.arms import draw_arms
from callgauge.dashboard.pages.trials.conditions import draw_conditions, draw_probes
from callgauge.dashboard.pages.trials.course import draw_course
from callgauge.dashboard.pages.trials.decision import draw_trial_decision
from callgauge.dashboard.pages.trials.differences import draw_differences
from callgauge.dashboard.pages.trials.money import draw_money
from callgauge.dashboard.pages.trials.planning import draw_planning
from callgauge.dashboard.pages.trials.run_list import draw_runs, list_link, run_link
from callgauge.dashboard.pages.trials.tasks import draw_tasks
from callgauge.dashboard.shown_page import record_answer
from callgauge.dashboard.viewer import leave_place_out

_TABS = {
    "tasks": "Task by task",
    "differ": "Where they differ",
    "cost": "Cost of a success",
    "conditions": "What was held equal",
    "probes": "Probe",
}
_EMPTY = (
    "In a trial several arms (models, prompts, tool definitions) try the same tasks; it stops as soon as it "
    "can honestly say which does better. Logs tell what happened; a trial tells what would happen."
)
_COMMANDS = (
    ("Two small models, half a minute, no key and no network:", "callgauge trial demo --store {store}"),
    (
        "What a plan of your own takes and costs, before anything is asked:",
        "callgauge trial check plan.toml",
    ),
    ("Run it; this page fills up while it goes on:", "callgauge trial run plan.toml --store {store}"),
)


def show() -> None:
    chosen = _read_run()
    runs = make_runs(store_queries.ask("trial_runs", run=chosen))
    if chosen and runs:
        _draw_run(runs[0])
        return
    st.title("Trials", anchor=False)
    if chosen:
        _draw_unknown(chosen)
    elif runs:
        draw_runs(runs, datetime.now(UTC).replace(tzinfo=None))
        draw_planning()
    else:
        _draw_nothing()
        draw_planning()


def _read_run() -> str | None:
    """Return the run that the address opens, or else the one that the filters name; None for none or several.

    An opened run is no filter: on the next page the nights count again.
    """
    runs = filters.chosen_filters().runs
    return st.query_params.get("trial") or (runs[0] if runs and len(runs) == 1 else None)


def _draw_unknown(run: str) -> None:
    with st.container(border=True):
        st.header("No such run", anchor=False)
        named = wording.in_markdown(wording.quote(run, 80))
        st.caption(f"The store holds no run {named}. It may be in another store.")
        draw_link("all_runs", "← All runs", list_link())


def _draw_nothing() -> None:
    with st.container(border=True):
        record_answer("No trial run yet.")
        st.header("No run of trials yet", anchor=False)
        st.markdown(_EMPTY)
        for says, command in _COMMANDS:
            st.caption(says)
            told = leave_place_out(command.format(store=store_queries.store_folder()))
            st.code(told, language=None, wrap_lines=True)


def _draw_run(run: TrialRun) -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    results = RunResults(run, make_trials(store_queries.ask("trial_results", run=run.run)))
    looks = make_looks(store_queries.ask("trial_looks", run=run.run))
    _draw_steps(run)
    st.title(wording.in_markdown(run.question or run.name, 200), anchor=False)
    answer = words.write_answer(run, results, looks)
    cards.draw_answer(answer, 900)
    st.caption(wording.in_markdown(words.describe_run(run, now), 400))
    draw_trial_decision(run, results, looks, answer)
    draw_arms(run, results, looks)
    draw_course(run, results, looks)
    tabs = _TABS if run.others else _TABS | {"differ": "By tool and parameter"}
    with draw_tabs("show", tabs) as tab:
        _draw_tab(tab, run, results)


def _draw_tab(tab: str, run: TrialRun, results: RunResults) -> None:
    if tab == "tasks":
        draw_tasks(run, results)
    elif tab == "differ":
        draw_differences(run)
    elif tab == "cost":
        draw_money(run, results)
    elif tab == "conditions":
        draw_conditions(run, results)
    else:
        draw_probes(run)


def _draw_steps(run: TrialRun) -> None:
    """Draw the way back to the list, and the runs before and after this one."""
    runs = make_runs(store_queries.ask("trial_runs"))
    names = [one.run for one in runs]
    at = names.index(run.run)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        draw_link("all_runs", "← All runs", list_link())
        draw_link("step_previous", "↑ Newer", run_link(names[at - 1]) if at else None)
        draw_link("step_next", "↓ Older", run_link(names[at + 1]) if at + 1 < len(names) else None)


show()
