"""What works how well, what changed, and where it goes wrong: the essence on one screen."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.pages.overview_changes import changes
from dashboard.pages.overview_rates import HEADLINES, headlines, rates_by, trend
from dashboard.slices import slices
from dashboard.widgets import cards, fault_cards


def show() -> None:
    st.title("Overview", anchor=False)
    _last_load()
    chosen = filters.chosen().parameters()
    found = slices(answers.ask("slices", rates=(*HEADLINES, "disagree"), **chosen))
    rates = {one.rate.name: one for one in found}
    if not any(one.total for one in rates.values()):
        cards.nothing_matches("calls or turns")
        return
    headlines(rates, answers.ask("mended_refused", **chosen).iloc[0].refused)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        changes(chosen)
        trend(chosen)
    with narrow:
        fault_cards.layers(chosen)
    rates_by(chosen)
    mended = rates.get("mended")
    fault_cards.findings(chosen, mended.share.n if mended else 0, mended.total if mended else 0)


def _last_load() -> None:
    load = answers.ask("last_load").iloc[0]
    trouble = [
        wording.plural(number, noun)
        for number, noun in ((load.rejected_files, "rejected file"), (load.rejected_lines, "rejected line"))
        if number
    ]
    text = f"Data as of {wording.utc(load.loaded_at)} · {wording.plural(load.files, 'file')}"
    text += wording.age(load.loaded_at, datetime.now(UTC).replace(tzinfo=None))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(text if trouble else f"{text} · nothing rejected", width="content")
        if trouble:
            st.page_link("dashboard/pages/data.py", label=wording.door(", ".join(trouble)), width="content")


show()
