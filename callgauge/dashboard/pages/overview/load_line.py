"""The line below the filter bar: the last load, what it left out, and how much of the store is shown."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.silences import describe_lag, describe_silence


def draw_load_line(shown: int) -> None:
    """Draw the state of the last load, and of `shown` calls whether they are all that the store holds."""
    load = store_queries.ask("last_load").iloc[0]
    trouble = [
        f"{wording.plural(number, noun)} not read"
        for number, noun in ((load.rejected_files, "file"), (load.rejected_lines, "line"))
        if number
    ]
    silence = describe_silence(store_queries.ask("silent_sources").to_dict("records"))
    now = datetime.now(UTC).replace(tzinfo=None)
    text = f"Loaded {wording.utc(load.loaded_at)}{wording.age(load.loaded_at, now)}"
    everything = int(store_queries.ask("fault_layers").iloc[0].total)
    parts = [text, wording.plural(load.files, "file"), _describe_range(shown, everything)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="load_line"):
        st.caption(" · ".join(part for part in parts if part), width="content")
        lag = describe_lag(load.newest, load.loaded_at)
        for words in filter(None, (", ".join(trouble), wording.in_markdown(silence, 200), lag)):
            st.page_link(page_file("data"), label=wording.link_label(f"{words} →"), width="content")
        if filters.chosen_filters().from_day and everything > shown:
            st.button("Show all days", on_click=filters.show_all_days, key="all_days", type="tertiary")


def _describe_range(shown: int, everything: int) -> str:
    chosen = filters.chosen_filters()
    calls = wording.plural(shown, "call")
    if chosen.from_day is None:
        return calls
    span = f"{chosen.from_day} to {chosen.to_day}"
    return f"{calls} of {everything:,}, {span}" if everything > shown else f"{calls}, {span}"
