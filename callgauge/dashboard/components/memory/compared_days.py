"""The selector of the baseline days, and the form that saves days under a name for the team."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget, write_changed
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    describe_reader,
    draw_author_field,
    may_write,
    owns,
    read_records,
    take_author,
)
from callgauge.dashboard.filters import COMPARED_WITH, DAYS_BEFORE, NOTHING
from callgauge.memory.baselines import Baseline, remove_baseline, save_baseline
from callgauge.memory.kept_slices import KeptSlice, take_slice


def choose_compared_days() -> None:
    """Draw the selector of the baseline days. A person can also type a range."""
    offered = [DAYS_BEFORE, *filters.kept_baselines(), NOTHING]

    def draw(key: str) -> str:
        current = st.session_state[key]
        options = offered if current in offered else [*offered, current]
        text = st.selectbox(
            "Compared with",
            options,
            key=key,
            accept_new_options=True,
            filter_mode="contains",
            width=190,
            label_visibility="collapsed",
            on_change=_write_changed_days,
        )
        try:
            return filters.read_compared_with(text)
        except ValueError as problem:
            st.caption(f":red[{wording.in_markdown(str(problem), 200)}]")
            return DAYS_BEFORE

    st.caption("Compared with", width="content")
    draw_url_widget(draw, COMPARED_WITH, DAYS_BEFORE, filters.read_compared_with)


def _write_changed_days() -> None:
    with suppress(ValueError):
        filters.read_compared_with(st.session_state[COMPARED_WITH])
        write_changed(COMPARED_WITH, DAYS_BEFORE)


def draw_named_days() -> None:
    """Draw the form that names the chosen days for the whole team, and the list of named days."""
    st.markdown("**Named days**")
    st.caption(
        "Days with a name, to compare with here or on Compare. Pinned, they also keep the chosen filters."
    )
    if may_write():
        _ask_baseline()
    else:
        st.caption(describe_reader())
    for number, baseline in enumerate(read_records().baselines):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(wording.in_markdown(describe_baseline(baseline), 200), width="content")
            if owns(baseline.by) and st.button("Remove", key=f"remove_baseline_{number}", type="tertiary"):
                apply_change(lambda file, name=baseline.name: remove_baseline(file, name))  # type: ignore[misc]


def describe_baseline(baseline: Baseline) -> str:
    """Return a line with the name of a baseline, its days and its filters."""
    pinned = f", {filters.describe_slice(baseline.slice)}" if baseline.slice else ""
    return f"{wording.one_line(baseline.name, 40)}: {baseline.first_day} to {baseline.last_day}{pinned}"


def _ask_baseline() -> None:
    chosen = filters.chosen_filters()
    kept_slice: KeptSlice = take_slice(chosen.parameters())
    with st.form("kept_baseline", border=False, clear_on_submit=True):
        days = f"{chosen.from_day} to {chosen.to_day}" if chosen.from_day else "all days"
        name = st.text_input(f"Keep {days} as", placeholder="before release 13", key="baseline_name")
        pins = bool(kept_slice) and st.checkbox(
            f"Pinned to {wording.in_markdown(filters.describe_slice(kept_slice), 100)}", key="baseline_pinned"
        )
        draw_author_field("baseline_by")
        is_sent = st.form_submit_button("Keep", disabled=not (chosen.from_day and chosen.to_day))
    if is_sent and name.strip() and chosen.from_day and chosen.to_day:
        span = chosen.from_day, chosen.to_day
        by = take_author("baseline_by")
        apply_change(lambda file: save_baseline(file, name, span, kept_slice if pins else {}, by=by))
