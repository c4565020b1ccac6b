"""Draws the Share button in the top bar of every page, and builds the shared documents.

A page only records how its tables and charts are made. The shared documents are built when somebody opens the
Share dialog.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.metrics import GROUPS, metrics
from callgauge.analysis.verdicts.explanations import HOW_JUDGED
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.controls.copy_button import copy_link, copy_text
from callgauge.dashboard.components.sharing.page_address import (
    describe_view,
    find_whole_address,
    fix_days,
    list_chosen,
    moving_days,
    write_path,
)
from callgauge.dashboard.file_names import name_file
from callgauge.dashboard.shown_page import Part, ShownPage, shown_page
from callgauge.dashboard.viewer import refuse_file, sees_texts
from callgauge.documents.document import Chart, Document, Method
from callgauge.documents.html_page import write_html
from callgauge.documents.markdown import write_markdown

_LONGEST_LINK = 8_000  # longest URL that servers and chats accept, in characters
_TOO_LONG = "The address of this view is too long."
_UNDATED = "All days, as some calls have no time: new data changes the numbers."
_SESSIONS = (
    "The 95 % interval counts sessions, not calls: calls of one session are alike. It also depends on how "
    "alike the other rows' calls of one session are, so with other filters it can differ slightly."
)


@st.fragment
def draw_share() -> None:
    """Draw the Share button. Call this function after the page is drawn."""
    popover = st.popover("Share", icon=":material/share:", key="share", on_change="rerun", width="content")
    if popover.open:
        with popover, st.container(gap="xsmall", width=320, key="share_ways"):
            _draw_ways(shown_page())


def _draw_ways(page: ShownPage) -> None:
    settings = describe_view(page)
    if settings:
        st.caption(wording.in_markdown(list_chosen(settings), 600))
    days, moving = (fix_days(), moving_days()) if page.is_filtered else (None, None)
    path = write_path(page, days)
    no_link = page.no_link or (_TOO_LONG if len(path) > _LONGEST_LINK else "")
    if no_link:
        st.caption(f"No link: {wording.in_markdown(no_link, 200)}")
    else:
        copy_link("share_link", "Copy link", path)
        if days:
            st.caption("Shows the same days, also after the next load." if days != moving else _UNDATED)
    if moving and moving != days and not no_link:
        words = f"the last {moving}" if moving[0].isdigit() else moving.lower()
        copy_link("share_moving_link", f"Copy link to {words}", write_path(page, moving))
        st.caption("Moves on with new data.")
    reason = refuse_file(of_texts=page.shows_texts and sees_texts())
    address = None if no_link else find_whole_address(path)
    document = make_document(page, settings, address, with_parts=reason is None)
    copy_text("share_markdown", "Copy as Markdown", write_markdown(document))
    if reason:
        st.caption(f"{reason} The Markdown contains the sentence and the link.")
        return
    st.download_button(
        "Download report",
        lambda: write_html(document).encode(),
        name_file("report", "html"),
        "text/html",
        on_click="ignore",
        icon=":material/download:",
        help="One HTML file: sentence, tables, charts, and how they are counted",
        key="share_report",
    )


def make_document(
    page: ShownPage, settings: Mapping[str, str], address: str | None, *, with_parts: bool
) -> Document:
    """Return the content of the page as a document.

    With `with_parts`, the document includes tables and charts, which may contain log content.
    """
    parts: list[Part] = [part for make in page.parts.values() for part in make()] if with_parts else []
    return Document(
        title=page.title,
        answer=page.answer or page.title,
        settings=settings,
        parts=[part for part in parts if isinstance(part, Chart) or part.rows],
        method=_list_methods(page),
        link=address,
        made_at=datetime.now(UTC),
        small_print=_describe_data(),
    )


def _list_methods(page: ShownPage) -> list[Method]:
    page_metrics = [metrics()[name] for name in page.metrics]
    how = [HOW_JUDGED[verdict] for verdict in page.verdicts]
    judged = [Method("How the verdict is made", how)] if how else []
    counted = [Method(metric.question, [f"Unit: {metric.unit}.", *metric.notes]) for metric in page_metrics]
    by_session = any(GROUPS in metric.columns for metric in page_metrics)
    return [*judged, *counted, *([Method("Intervals", [_SESSIONS])] if by_session else [])]


def _describe_data() -> str:
    """Return a description of the page's data that omits the path of the store on the server."""
    if not store_queries.is_open():
        return ""
    shown = store_queries.shown_generation()
    published = datetime.fromtimestamp(shown.identity[1] / 1e9, UTC)
    number = Path(shown.path).stem.removeprefix("gen-").lstrip("0") or "0"
    return f"Data of {published:%Y-%m-%d %H:%M} UTC (version {number} of the store)."
