"""The goals of a team, and the form that sets the goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from callgauge.analysis.measures.rates import RATES
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    author_name,
    describe_reader,
    may_write,
    read_records,
)
from callgauge.memory.memory_file import MemoryFile
from callgauge.memory.records import Goal
from callgauge.memory.team_memory import TeamMemory

_NONE = "no goal"


def read_goals() -> Mapping[str, Goal]:
    """Return the team's goals by the name of the rate. Return no goals when the file cannot be read."""
    return read_records().goals


def draw_goals_form(among: Sequence[str], goals: Mapping[str, Goal]) -> None:
    """Draw the form that sets goals in percent for the rates `among`. An empty field means no goal."""
    st.markdown("**Goals**")
    if not may_write():
        st.caption(describe_reader())
        return
    with st.form("goals", border=False):
        st.caption("The limit for each rate, in percent. Charts and cards show it to the whole team.")
        percents = {
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
            _save(percents, goals)


def _save(percents: Mapping[str, float | None], goals: Mapping[str, Goal]) -> None:
    def write(file: MemoryFile) -> None:
        memory = TeamMemory(file.path.parent)
        for name, percent in percents.items():
            if percent is None and name in goals:
                memory.remove_goal(name)
            elif percent is not None and (name not in goals or goals[name].goal != percent / 100):
                memory.set_goal(name, percent / 100, by=author_name())

    apply_change(write)
