"""The goals and named baselines of a team: what they are, how far they are met, the forms that set them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components.controls.folds import draw_popover
from callgauge.dashboard.measures.rates import RATES, RateDefinition
from callgauge.memory.baselines import remove_baseline, save_baseline
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.records import Goal
from callgauge.stats import Share

_NONE = "no goal"


def read_goals() -> Mapping[str, Goal]:
    """Return the goals of the team by the name of their rate; none when its memory cannot be read."""
    try:
        return store_queries.team_records().goals
    except MemoryProblemError:  # the filter bar says so
        return {}


def format_goal(rate: RateDefinition, goal: Goal) -> str:
    """Write a goal as goal ≤ 5%, or ≥ 90% where a high rate is better."""
    return f"goal {'≥' if rate.is_good else '≤'} {100 * goal.goal:g}%"


def describe_goal(rate: RateDefinition, share: Share, goal: Goal) -> str:
    """Write a goal and whether the rate meets it: its whole interval does, none of it, or it may."""
    bounds, words = share.interval, format_goal(rate, goal)
    if bounds is None:
        return words
    inside, outside = bounds.high <= goal.goal, bounds.low > goal.goal
    if rate.is_good:
        inside, outside = bounds.low >= goal.goal, bounds.high < goal.goal
    return f"{words}: {'met' if inside else 'missed' if outside else 'met or missed, not decided'}"


def draw_goals_form(among: Sequence[str], goals: Mapping[str, Goal]) -> None:
    """Draw a popover in which the goals of the rates `among` are set, in percent; empty means no goal."""
    with st.container(width="content"):
        draw_popover("Goals", "goals_popover", lambda: _ask_goals(among, goals))


def _ask_goals(among: Sequence[str], goals: Mapping[str, Goal]) -> None:
    with st.form("goals", border=False):
        st.caption("What each rate should keep to, in percent. Charts and cards show it to the whole team.")
        asked = {
            name: st.number_input(
                f"{RATES[name].title}, {'at least' if RATES[name].is_good else 'at most'} (%)",
                0.0,
                100.0,
                100 * goals[name].goal if name in goals else None,
                step=0.5,
                format="%g",
                placeholder=_NONE,
                key=f"goal_{name}",
            )
            for name in among
        }
        if st.form_submit_button("Save goals"):
            _save(asked, goals)


def _save(asked: Mapping[str, float | None], goals: Mapping[str, Goal]) -> None:
    try:
        memory = store_queries.team_memory()
        for name, percent in asked.items():
            if percent is None and name in goals:
                memory.remove_goal(name)
            elif percent is not None and (name not in goals or goals[name].goal != percent / 100):
                memory.set_goal(name, percent / 100)
    except MemoryProblemError as problem:
        st.error(wording.in_markdown(str(problem), 600))
    else:
        st.rerun()


def draw_baselines_form() -> None:
    """Draw a popover in which the chosen days are kept as a baseline for the whole team."""
    with st.container(width="content"):
        draw_popover("Baselines", "baselines_popover", _list_baselines)


def _list_baselines() -> None:
    st.caption("Days with a name, that later days are compared with: choose them in the filter bar.")
    chosen = filters.chosen_filters()
    with st.form("kept_baseline", border=False, clear_on_submit=True):
        days = f"{chosen.from_day} to {chosen.to_day}" if chosen.from_day else "all days"
        name = st.text_input(f"Keep {days} as", placeholder="before release 13", key="baseline_name")
        kept = st.form_submit_button("Keep", disabled=not (chosen.from_day and chosen.to_day))
    if kept and name.strip() and chosen.from_day and chosen.to_day:
        first, last = chosen.from_day, chosen.to_day
        _change(lambda: save_baseline(store_queries.team_memory().file, name, (first, last)))
    try:
        known = store_queries.team_records().baselines
    except MemoryProblemError:  # the filter bar says so
        return
    for number, one in enumerate(known):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            label = f"{wording.one_line(one.name, 40)}: {one.first_day} to {one.last_day}"
            st.caption(wording.in_markdown(label, 120), width="content")
            if st.button("Remove", key=f"remove_baseline_{number}", type="tertiary"):
                _change(lambda name=one.name: remove_baseline(store_queries.team_memory().file, name))  # type: ignore[misc]


def _change(write: Callable[[], None]) -> None:
    try:
        write()
    except MemoryProblemError as problem:
        st.error(wording.in_markdown(str(problem), 600))
    else:
        st.rerun()
