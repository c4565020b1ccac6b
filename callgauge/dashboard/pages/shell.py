"""Draws the parts common to all pages (navigation, filter bar), opens the store and runs the chosen page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.metrics import MetricError
from callgauge.dashboard.metrics.published_store import UnshownStoreError
from callgauge.dashboard.pages import PAGES, PageEntry
from callgauge.dashboard.time_ranges import Days
from callgauge.dashboard.url_keys import declare_url_keys
from callgauge.memory.team_memory import MemoryProblemError

STATIC = Path(__file__).parents[2] / "static"
# Streamlit has no token for these: the wide layout's side padding, the gap under its header, even figures.
_STYLE = """<style>
.stMainBlockContainer { padding: 4rem 2rem 2rem !important; max-width: 1500px; }
@media (max-width: 640px) { .stMainBlockContainer { padding: 4rem 0.9rem 1.5rem !important; } }
.stApp { font-feature-settings: "cv05"; }
[data-testid='stMetricValue'] { font-variant-numeric: tabular-nums; }
.stPageLink a { padding-left: 0; padding-right: 0; background: transparent !important; }
/* Ligatures would draw characters that the text does not hold. */
code, pre { font-variant-ligatures: none; }
.st-key-filterbar_hidden, div:has(> .st-key-filterbar_hidden) { display: none; }
.st-key-verdict h3 { font-size: 1.45rem; font-weight: 600; line-height: 1.3; text-wrap: pretty; }
.st-key-ways_on a * { font-weight: 400 !important; }
.st-key-filterbar, .st-key-callfilters, .st-key-sessionfilters { scrollbar-width: thin; padding-bottom: 2px; }
/* Streamlit's own colours of a diff, and of a chosen segment in the dark, stand out too little (WCAG 1.4.3:
   4.5 : 1). light-dark() follows a theme that changes while the page is open. */
.stCode .token.inserted { color: light-dark(#116329, #7ee787) !important; }
.stCode .token.deleted { color: light-dark(#a40e26, #ffa198) !important; }
.stCode .token.unchanged, .stCode .token.coord { color: light-dark(#57606a, #b1bac4) !important; }
button[data-variant='segmented_control'][data-selected='true'] p {
  color: light-dark(#005A9C, #6CB6FF) !important;
}
</style>"""


def show() -> None:
    st.set_page_config("Callgauge", str(STATIC / "favicon.png"), layout="wide", initial_sidebar_state=208)
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.logo(str(STATIC / f"wordmark-{theme}.png"), size="medium", icon_image=str(STATIC / "favicon.png"))
    st.html(_STYLE)
    by_page = {_make_page(entry): entry for entry in PAGES}
    sections = {
        entry.section: [page for page, its in by_page.items() if its.section == entry.section]
        for entry in PAGES
    }
    page = st.navigation(sections)
    entry = by_page[page]
    declare_url_keys(entry.url_keys)
    problem = _open_store()
    if entry.needs_store and problem is not None:
        st.title(entry.title, anchor=False)
        cards.show_no_store(problem)
    else:
        if entry.filtered:
            # One call or session is not filtered; the bar would say that it is.
            _filter_bar(shown=not {"call", "session"} & set(st.query_params))
        page.run()


def _make_page(entry: PageEntry) -> st.Page:
    return st.Page(
        entry.file,
        title=entry.title,
        icon=entry.icon,
        help=entry.help,
        url_path=entry.name,
        default=entry is PAGES[0],
    )


def _open_store() -> UnshownStoreError | None:
    """Choose the store generation that this run shows, and rerun the page when a newer one is published.

    Return None, or the problem when there is no store that can be shown.
    """
    store_queries.follow_store(store_queries.named_generation())
    try:
        store_queries.begin_run()
    except UnshownStoreError as problem:
        return problem
    return None


def _filter_bar(*, shown: bool) -> None:
    try:
        extent = store_queries.ask("extent").iloc[0]
        filters.draw_filter_bar(
            store_queries.ask("choices"), extent.first_day, extent.last_day, _kept_baselines(), shown=shown
        )
    except MetricError as problem:
        st.error(wording.in_markdown(str(problem), 600))
        st.stop()


def _kept_baselines() -> list[tuple[str, Days]]:
    try:
        return [(one.name, (one.first_day, one.last_day)) for one in store_queries.team_memory().baselines()]
    except MemoryProblemError as problem:
        st.warning(wording.in_markdown(str(problem), 600))
        return []
