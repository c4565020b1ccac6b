"""The page Trials: the list of trial runs, or one trial run with its verdict and the evidence."""

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
    "conditions": "Conditions",
    "probes": "Probes",
}
_EMPTY = (
    "A trial run gives the same tasks to several variants (models, prompts, tool definitions). It stops as "
    "soon as the data show which one is better."
)
_COMMANDS = (
    (
        "Try it with two small models: half a minute, no key, no network:",
        "callgauge trial demo",
    ),
    (
        "Estimate time and cost of your own plan; no model is called:",
        "callgauge trial check plan.toml",
    ),
    ("Run the plan; this page updates meanwhile:", "callgauge trial run plan.toml --store {store}"),
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
    """Return the trial run that the URL opens.

    If the URL opens none, return the only trial run in the filters, or None.
    """
    runs = filters.chosen_filters().runs
    return st.query_params.get("trial") or (runs[0] if runs and len(runs) == 1 else None)


def _draw_unknown(run: str) -> None:
    with st.container(border=True):
        named = wording.in_markdown(wording.quote(run, 80))
        st.header(f"Trial run {named} not found", anchor=False)
        st.caption("This store has no trial run of this name. Open the store that has it, or choose another.")
        draw_link("all_runs", "← All runs", list_link())


def _draw_nothing() -> None:
    with st.container(border=True):
        record_answer("No trial runs yet.")
        st.header("No trial runs yet", anchor=False)
        st.markdown(_EMPTY)
        for says, command in _COMMANDS:
            st.caption(says)
            shown = leave_place_out(command.format(store=store_queries.store_folder()))
            st.code(shown, language=None, wrap_lines=True)


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
    runs = make_runs(store_queries.ask("trial_runs"))
    names = [run.run for run in runs]
    at = names.index(run.run)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        draw_link("all_runs", "← All runs", list_link())
        draw_link("step_previous", "↑ Newer", run_link(names[at - 1]) if at else None)
        draw_link("step_next", "↓ Older", run_link(names[at + 1]) if at + 1 < len(names) else None)


show()
