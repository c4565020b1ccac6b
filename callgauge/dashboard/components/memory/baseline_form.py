"""The popover in which days, and what the filters choose, are kept as a baseline for the whole team."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    describe_reader,
    draw_author_field,
    may_write,
    owns,
    read_records,
    take_author,
)
from callgauge.memory.baselines import Baseline, remove_baseline, save_baseline
from callgauge.memory.kept_slices import KeptSlice, take_slice


def draw_baselines_form() -> None:
    """Draw a popover in which the chosen days are kept as a baseline for the whole team."""
    with st.container(width="content"):
        draw_popover("Baselines", "baselines_popover", _list_baselines)


def _list_baselines() -> None:
    st.caption(
        "Days with a name, that others are held against: choose one in the filter bar, or on Compare. "
        "Pinned, it also keeps what the filters choose now."
    )
    if may_write():
        _ask_baseline()
    else:
        st.caption(describe_reader())
    for number, one in enumerate(read_records().baselines):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(wording.in_markdown(describe_baseline(one), 200), width="content")
            if owns(one.by) and st.button("Remove", key=f"remove_baseline_{number}", type="tertiary"):
                apply_change(lambda file, name=one.name: remove_baseline(file, name))  # type: ignore[misc]


def describe_baseline(one: Baseline) -> str:
    """Return a baseline in a line: its name, its days, and what it is pinned to."""
    pinned = f", {filters.describe_slice(one.slice)}" if one.slice else ""
    return f"{wording.one_line(one.name, 40)}: {one.first_day} to {one.last_day}{pinned}"


def _ask_baseline() -> None:
    chosen = filters.chosen_filters()
    kept: KeptSlice = take_slice(chosen.parameters())
    with st.form("kept_baseline", border=False, clear_on_submit=True):
        days = f"{chosen.from_day} to {chosen.to_day}" if chosen.from_day else "all days"
        name = st.text_input(f"Keep {days} as", placeholder="before release 13", key="baseline_name")
        pins = bool(kept) and st.checkbox(
            f"Pinned to {wording.in_markdown(filters.describe_slice(kept), 100)}", key="baseline_pinned"
        )
        draw_author_field("baseline_by")
        is_sent = st.form_submit_button("Keep", disabled=not (chosen.from_day and chosen.to_day))
    if is_sent and name.strip() and chosen.from_day and chosen.to_day:
        span = chosen.from_day, chosen.to_day
        by = take_author("baseline_by")
        apply_change(lambda file: save_baseline(file, name, span, kept if pins else {}, by=by))
