"""The page Decisions: decisions with later numbers, notes, alert rules, saved views and baselines."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_tabs
from callgauge.dashboard.components.memory.changes import describe_reader, may_write
from callgauge.dashboard.pages.decisions.decision_list import draw_decisions
from callgauge.dashboard.pages.decisions.lists import draw_all_notes, draw_baselines, draw_rules, draw_views
from callgauge.dashboard.viewer import current_viewer, leave_place_out
from callgauge.memory.exchange import export_memory
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.records import TeamRecords

_TABS = {
    "decisions": "Decisions",
    "notes": "Notes",
    "rules": "Alert rules",
    "views": "Saved views",
    "baselines": "Named days",
}


def show() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="page_head"):
        st.title("Decisions", anchor=False, width="content")
        if current_viewer().is_admin:
            st.download_button(
                "Export",
                lambda: export_memory(store_queries.team_memory().file).encode(),
                "callgauge-memory.json",
                "application/json",
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
                key="export_memory",
            )
    try:
        records = store_queries.team_records()
    except MemoryProblemError as problem:
        st.error(wording.in_markdown(leave_place_out(str(problem)), 600))
        return
    cards.draw_answer(count_records(records), 300)
    if not may_write():
        st.caption(describe_reader())
    with draw_tabs("about", _TABS) as tab:
        if tab == "decisions":
            draw_decisions(records.decisions)
        elif tab == "notes":
            draw_all_notes(records.notes)
        elif tab == "rules":
            draw_rules(records.alert_rules)
        elif tab == "views":
            draw_views(records.views)
        else:
            draw_baselines(records.baselines)


def count_records(records: TeamRecords) -> str:
    """Return a sentence with the number of records of each kind."""
    counts = [
        (len(records.decisions), "decision"),
        (len(records.notes), "note"),
        (len(records.alert_rules), "alert rule"),
        (len(records.baselines), "baseline"),
        (len(records.signature_states), "error with a status"),
    ]
    phrases = [
        wording.plural(n, noun) if noun != "error with a status" or n == 1 else f"{n:,} errors with a status"
        for n, noun in counts
        if n
    ]
    if not phrases:
        return "No decisions or notes yet."
    return f"The team has recorded {wording.list_words(phrases)}."


show()
