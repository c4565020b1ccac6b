"""Who looks at this page, and what that person may do."""

from __future__ import annotations

import streamlit as st

from callgauge.serving.access_log import log_access
from callgauge.serving.identity import LOCAL_USER, User, read_headers
from callgauge.serving.settings import (
    is_gated,
    sign_in_from_environment,
    store_from_environment,
    texts_are_shown,
)

_SEEN = "_logged_page"
_WITH_TEXTS = "_page_with_texts"


def current_viewer() -> User:
    """Return who looks at this page: the user that the server's gate let in; local where none stands.

    Ends the run of the page where a gate stands and named nobody: what cannot be known is not shown.
    """
    viewer = read_headers(st.context.headers)
    if viewer is not None:
        return viewer
    if is_gated():
        st.error("The server could not tell who you are, so it shows nothing. Sign in again.")
        st.stop()
    return LOCAL_USER


def signed_in_viewer() -> User | None:
    """Return who signed in; None where nobody has to."""
    return current_viewer() if sign_in_from_environment().method != "none" else None


def log_page(name: str, **shown: str | None) -> None:
    """Write into the log of accesses that this page is looked at, once until another one is."""
    page_view = (name, *shown.values())
    if st.session_state.get(_SEEN) != page_view:
        st.session_state[_SEEN] = page_view
        log_access("page", current_viewer(), page=name, **shown)


def sees_texts() -> bool:
    """Return True where texts of logs are shown; False of a store that is served without them."""
    return texts_are_shown()


def note_page(*, shows_texts: bool) -> None:
    """Remember for this run whether texts of logs stand on the page."""
    st.session_state[_WITH_TEXTS] = shows_texts


def leave_place_out(text: str) -> str:
    """Return a text for this viewer: where the store lies on the server is for admins alone."""
    folder = store_from_environment()
    return text if folder is None or current_viewer().is_admin else text.replace(str(folder), "DIR")


def refuse_file(*, of_texts: bool | None = None) -> str | None:
    """Return why this viewer may take no file with texts from the page; None when it may.

    `of_texts`: False for a file of numbers; as the page is, without it.
    """
    if not (st.session_state.get(_WITH_TEXTS, False) if of_texts is None else of_texts):
        return None
    if not texts_are_shown():
        return "Content is hidden on this server, so it makes no file with content."
    return None if current_viewer().is_admin else "Files with texts are for admins."
