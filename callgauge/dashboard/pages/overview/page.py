"""The page Overview: the main rates, recent changes, fault layers and findings on one screen."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards, fault_cards
from callgauge.dashboard.measures.slices import make_slices
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.overview.attention import draw_attention
from callgauge.dashboard.pages.overview.headline_rates import (
    HEADLINES,
    draw_headlines,
    draw_rates_by,
    draw_trend_card,
)


def show() -> None:
    st.title("Overview", anchor=False)
    _last_load()
    chosen = filters.chosen_filters().parameters()
    found = make_slices(store_queries.ask("slices", rates=(*HEADLINES, "disagree"), **chosen))
    rates = {one.rate.name: one for one in found}
    if not any(one.total for one in rates.values()):
        cards.show_no_matches("calls or turns")
        return
    draw_headlines(rates, store_queries.ask("mended_refused", **chosen).iloc[0].refused)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        draw_attention(chosen)
        draw_trend_card(chosen)
    with narrow:
        fault_cards.draw_layers(chosen)
    draw_rates_by(chosen)
    mended = rates.get("mended")
    fault_cards.draw_findings(chosen, mended.share.n if mended else 0, mended.total if mended else 0)


def _last_load() -> None:
    load = store_queries.ask("last_load").iloc[0]
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
            st.page_link(
                page_file("data"),
                label=wording.link_label(", ".join(trouble)),
                width="content",
            )


show()
