"""A popover that records a decision, together with the comparison that the page shows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    describe_reader,
    draw_author_field,
    may_write,
    take_author,
)
from callgauge.dashboard.page_files import page_file
from callgauge.memory.decisions import FrozenComparison, record_decision

_SAVED = "_decision_saved"


def draw_decide(key: str, figures: Mapping[str, tuple[str, FrozenComparison]], link: str) -> None:
    """Draw the popover that records a decision.

    For each comparison that a decision can be about, `figures` has a suggested title and the numbers.
    """
    with st.container(width="content"):
        draw_popover("Decide", f"decide_{key}", lambda: _ask_decision(key, figures, link))


def freeze_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return metric parameters as JSON values. Parameters that are not set are left out."""
    return {
        name: value.isoformat() if isinstance(value, date) else list(value)
        for name, value in parameters.items()
        if value
    }


def thaw_parameters(frozen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metric parameters from JSON of `freeze_parameters`. Raises ValueError for other JSON."""
    read: dict[str, Any] = {}
    for name, value in frozen.items():
        if name in ("from_day", "to_day"):
            read[name] = date.fromisoformat(str(value))
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            read[name] = tuple(value)
        else:
            raise ValueError(f"{name} is not a list of values")
    return read


def _ask_decision(key: str, figures: Mapping[str, tuple[str, FrozenComparison]], link: str) -> None:
    if st.session_state.pop(_SAVED, None) == key:
        st.success("Saved with the current numbers.")
        st.page_link(page_file("decisions"), label=wording.link_label("All decisions"))
    if not may_write():
        st.caption(describe_reader())
        return
    about = next(iter(figures))
    if len(figures) > 1:
        about = str(st.selectbox("About", list(figures), key=f"decision_about_{key}"))
    title, frozen = figures[about]
    with st.form(f"decision_{key}", border=False):
        st.caption("Saved for the team with this comparison: numbers, verdict, filters and link.")
        decision = st.text_input("Decision", title, key=f"decision_title_{key}_{about}", max_chars=300)
        reason = st.text_area(
            "Because",
            key=f"decision_reason_{key}",
            placeholder="other reasons",
            max_chars=2000,
            height=80,
        )
        draw_author_field(f"decision_by_{key}")
        is_sent = st.form_submit_button("Save decision", type="primary")
    if is_sent:
        by = take_author(f"decision_by_{key}")
        st.session_state[_SAVED] = key
        apply_change(lambda file: record_decision(file, decision, reason, link, frozen, by=by))
        st.session_state.pop(_SAVED, None)
