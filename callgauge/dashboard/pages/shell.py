"""Opens the store, draws what all pages share (navigation, filter bar), and draws the chosen page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from callgauge.analysis import wording
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import UnshownStoreError
from callgauge.dashboard import filters, shown_page, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.memory.changes import may_write
from callgauge.dashboard.components.memory.saved_views import ask_view_name, list_views, read_query
from callgauge.dashboard.components.sharing.share import draw_share
from callgauge.dashboard.components.shell.filter_bar import draw_filter_bar
from callgauge.dashboard.components.shell.live_requests import LiveSender, offer_sender
from callgauge.dashboard.components.shell.navigation import (
    PageLink,
    draw_navigation,
    draw_palette,
    take_save_wish,
)
from callgauge.dashboard.pages import PAGES, PageEntry
from callgauge.dashboard.url_keys import declare_url_keys
from callgauge.dashboard.viewer import current_viewer, leave_place_out, log_page, note_page, signed_in_viewer
from callgauge.memory.baselines import Baseline
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.serving.identity import User
from callgauge.serving.settings import texts_are_shown

STATIC = Path(__file__).parents[2] / "static"
# Unlike page links, the sign-out link leaves the app.
_SIGN_OUT = '<a href="/sign-out" target="_self">Sign out</a>'
_ABOUT = "Callgauge: which model and which prompt make tool calls that work."


def show(sender: LiveSender | None = None) -> None:
    """Draw the requested page.

    `sender` sends live requests to models. It is None if the server has no API key.
    """
    st.set_page_config(
        "Callgauge",
        str(STATIC / "favicon.png"),
        layout="wide",
        initial_sidebar_state=208,
        menu_items={"About": _ABOUT},  # with an entry of our own, the menu also offers the theme
    )
    viewer = current_viewer()  # this comes first, because it ends the run of an unknown viewer
    theme = "dark" if st.context.theme.type == "dark" else "light"
    st.logo(str(STATIC / f"wordmark-{theme}.png"), size="medium", icon_image=str(STATIC / "favicon.png"))
    # The first page is also at the root URL; a link with the page's name opens it, too.
    root = st.Page(PAGES[0].file, title=PAGES[0].title, url_path="first", default=True)
    by_page = {root: PAGES[0]} | {
        st.Page(entry.file, title=entry.title, url_path=entry.name): entry for entry in PAGES
    }
    page = st.navigation(list(by_page), position="hidden")
    entry = by_page[page]
    tab = entry.filtered_tab if st.query_params.get("tab") == entry.filtered_tab else None
    log_page(entry.name, tab=tab, **{name: st.query_params.get(name) for name in ("session", "call")})
    declare_url_keys(entry.url_keys)
    note_page(shows_texts=entry.shows_texts)
    # Only people who may write get live requests, because requests cost the owner of the API key money.
    offer_sender(sender if viewer.may_write else None)
    navigation = st.sidebar.container()
    problem = _open_store()
    # The filters do not apply to a single call or session, so the filter bar is hidden. For the next page,
    # the URL still keeps the filters.
    is_one_item = bool({"call", "session"} & set(st.query_params))
    is_filtered = problem is None and (bool(tab) or (entry.filtered and not is_one_item))
    shown_page.begin_page(
        "." if entry is PAGES[0] else entry.name,
        entry.title,
        is_filtered=is_filtered,
        shows_texts=entry.shows_texts,
    )
    _say_what_is_out_of_reach()
    if problem is None:
        _filter_bar(shown=is_filtered)
        if is_filtered:
            _say_what_is_left_out()
            _say_what_is_gone()
    elif not entry.needs_store:
        problem = None  # only pages that need the store report the problem
    links = [_link_to(each, current=each is entry) for each in PAGES if _is_listed(each)]
    views = list_views({each.name: each.title for each in PAGES}) if store_queries.store_folder() else []
    may_save = bool(store_queries.store_folder()) and may_write()
    with navigation:
        draw_navigation(links, views, filters.page_link("decisions", {}, {"about": "views"}))
        is_asked = may_save and st.button(
            "Save this view", icon=":material/bookmark_add:", type="tertiary", key="save"
        )
        _draw_account()
    if (take_save_wish() or is_asked) and may_save:
        ask_view_name(entry.name, entry.title, read_query())
    draw_palette(links, views, may_save=may_save, tour=problem is None and entry is PAGES[0])
    _draw_page(page, entry, viewer, problem)


def _draw_page(
    page: StreamlitPage, entry: PageEntry, viewer: User, problem: UnshownStoreError | None
) -> None:
    share = st.container(key="share_place")
    refusal = _refuse_page(entry, viewer)
    if refusal is not None:
        st.title(entry.title, anchor=False)
        st.caption(refusal)
    elif problem is None:
        if entry.shows_texts and not texts_are_shown():
            st.caption("Content is hidden: codes and numbers are shown in place of texts.")
        page.run()
        with share:  # drawn last, because the Share button needs what the page has drawn
            draw_share()
    else:
        st.title(entry.title, anchor=False)
        cards.show_no_store(problem)


def _is_listed(entry: PageEntry) -> bool:
    """Return whether the navigation lists the page.

    The page Trials is listed only if the store has a trial run.
    """
    if entry.name != "trials" or not store_queries.is_open():
        return entry.listed
    return "run" in filters.read_labels()


def _link_to(entry: PageEntry, *, current: bool) -> PageLink:
    href = filters.page_link("." if entry is PAGES[0] else entry.name, {}, {})
    return PageLink(
        entry.section, entry.name, entry.title, entry.help, entry.key, href.removesuffix("?"), current
    )


def _refuse_page(entry: PageEntry, viewer: User) -> str | None:
    if entry.for_admins and not viewer.is_admin:
        return f"{entry.title} is for admins: it can ask for every text in the store."
    return None


def _draw_account() -> None:
    viewer = signed_in_viewer()
    if viewer is not None:
        with st.container(key="account", gap="xxsmall"):
            st.caption(f"{wording.in_markdown(viewer.name, 60)} · {viewer.role}")
            st.html(_SIGN_OUT)


def _open_store() -> UnshownStoreError | None:
    """Choose the store file for this script run. Rerun the page when a newer file is published.

    Returns the problem when no store can be shown.
    """
    store_queries.follow_store(store_queries.named_generation())
    try:
        store_queries.begin_run()
    except UnshownStoreError as problem:
        return problem
    return None


def _say_what_is_out_of_reach() -> None:
    """Draw a warning while the object storage of a shared store does not answer."""
    since = store_queries.outage_since()
    if since is not None:
        st.warning(
            f"The shared store has not been reached since {wording.utc(since)}. What was loaded before is "
            "shown; lists that reach into older days may not open until it answers."
        )


def _filter_bar(*, shown: bool) -> None:
    try:
        store_queries.show_trials(*filters.read_trials())
        extent = store_queries.ask("extent").iloc[0]
        draw_filter_bar(
            filters.read_labels(), extent.first_day, extent.last_day, _kept_baselines(), shown=shown
        )
    except MetricError as problem:
        st.error(wording.in_markdown(str(problem), 600))
        st.stop()


def _say_what_is_left_out() -> None:
    """Draw a line when trial sessions on the chosen days are not counted."""
    left_out = store_queries.ask("trials_left_out", **filters.chosen_filters().parameters()).iloc[0]
    if not left_out.sessions:
        return
    sessions, runs = wording.plural(left_out.sessions, "trial session"), wording.plural(left_out.runs, "run")
    is_one = left_out.sessions == 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="left_out"):
        st.caption(f"{sessions} of {runs} {'is' if is_one else 'are'} not counted here", width="content")
        draw_link("open_trials", "Open Trials", filters.page_link("trials", {}, {}))


def _say_what_is_gone() -> None:
    """Draw a line when the store has only daily sums for some of the chosen days."""
    retention = store_queries.ask("kept_since", **filters.chosen_filters().parameters()).iloc[0]
    if retention.summed_only:
        st.caption(
            f"Calls and sessions last heard before {retention.facts_before:%Y-%m-%d} are no longer kept. "
            "Rates and sums by day still count them; lists, and what single calls are read for, do not."
        )


def _kept_baselines() -> Sequence[Baseline]:
    try:
        return store_queries.team_records().baselines
    except MemoryProblemError as problem:
        st.warning(wording.in_markdown(leave_place_out(str(problem)), 600))
        return []
