"""Draws a line with the number of calls, the days, and the last load with its problems."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import (
    describe_night,
    describe_rejected,
    describe_silence,
    list_silent,
)
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.page_files import page_file


def draw_load_line(shown: int) -> None:
    """Draw the number of calls on the page (`shown`), their days, and the result of the last load."""
    load = store_queries.ask("last_load").iloc[0]
    rejected = describe_rejected(load.rejected_files, load.rejected_lines)
    service, today = store_queries.known_service_state(), datetime.now(UTC)
    by_format = store_queries.ask("silent_sources").to_dict("records")
    silence = describe_silence(list_silent(service, by_format, today))
    now = today.replace(tzinfo=None)
    loaded = f"loaded {wording.utc(load.loaded_at)}{wording.age(load.loaded_at, now)}"
    chosen = filters.chosen_filters()
    everything = int(store_queries.ask("fault_layers").iloc[0].total) if chosen.from_day else shown
    span = f", {chosen.from_day} to {chosen.to_day}" if chosen.from_day else ""
    parts = [f"{wording.plural(shown, 'call')}{span}", loaded]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="load_line"):
        st.caption(" · ".join(parts), width="content")
        night = describe_night(service, today)
        unreadable = f"{rejected} not readable" if rejected else ""
        for words in filter(
            None, (night[:1].upper() + night[1:], unreadable, wording.in_markdown(silence, 200))
        ):
            st.page_link(page_file("data"), label=wording.link_label(f"{words} →"), width="content")
        if everything > shown:
            label = f"All {everything:,} calls"
            st.button(label, on_click=filters.show_all_days, key="all_days", type="tertiary")
