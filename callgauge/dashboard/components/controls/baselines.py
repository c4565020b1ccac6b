"""The named baselines of a team: the form that keeps the chosen days under a name, or removes a name."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.memory.team_memory import MemoryProblemError


def draw_baselines_form() -> None:
    """Draw a popover in which the chosen days are kept as a baseline for the whole team."""
    with st.popover("Baselines", type="tertiary", width="content"):
        st.caption("Days with a name, that later days are compared with: choose them in the filter bar.")
        chosen = filters.chosen_filters()
        with st.form("kept_baseline", border=False, clear_on_submit=True):
            days = f"{chosen.from_day} to {chosen.to_day}" if chosen.from_day else "all days"
            name = st.text_input(f"Keep {days} as", placeholder="before release 13", key="baseline_name")
            kept = st.form_submit_button("Keep", disabled=not (chosen.from_day and chosen.to_day))
        if kept and name.strip() and chosen.from_day and chosen.to_day:
            first, last = chosen.from_day, chosen.to_day
            _change(lambda: store_queries.team_memory().save_baseline(name, first, last))
        try:
            known = store_queries.team_memory().baselines()
        except MemoryProblemError:  # the filter bar says so
            return
        for number, one in enumerate(known):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                label = f"{wording.one_line(one.name, 40)}: {one.first_day} to {one.last_day}"
                st.caption(wording.in_markdown(label, 120), width="content")
                if st.button("Remove", key=f"remove_baseline_{number}", type="tertiary"):
                    _change(lambda name=one.name: store_queries.team_memory().remove_baseline(name))  # type: ignore[misc]


def _change(write: Callable[[], None]) -> None:
    try:
        write()
    except MemoryProblemError as problem:
        st.error(wording.in_markdown(str(problem), 600))
    else:
        st.rerun()
