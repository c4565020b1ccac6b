"""The person who views a page, and their permissions."""

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
    """Return the viewer: the user that the server authenticated, or the local user if sign-in is not
    required.

    If sign-in is required but nobody is signed in, the page stays empty.
    """
    viewer = read_headers(st.context.headers)
    if viewer is not None:
        return viewer
    if is_gated():
        st.error("The server could not tell who you are, so it shows nothing. Sign in again.")
        st.stop()
    return LOCAL_USER


def signed_in_viewer() -> User | None:
    """Return the signed-in user. Return None if the server requires no sign-in."""
    return current_viewer() if sign_in_from_environment().method != "none" else None


def log_page(name: str, **shown: str | None) -> None:
    """Write this page view into the access log. Reruns of the same page are not logged again."""
    page_view = (name, *shown.values())
    if st.session_state.get(_SEEN) != page_view:
        st.session_state[_SEEN] = page_view
        log_access("page", current_viewer(), page=name, **shown)


def sees_texts() -> bool:
    """Return True if log content is shown. Return False when the server hides content."""
    return texts_are_shown()


def note_page(*, shows_texts: bool) -> None:
    """Record whether the page shows log content."""
    st.session_state[_WITH_TEXTS] = shows_texts


def leave_place_out(text: str) -> str:
    """Return a message without the path of the store. Admins get the whole message."""
    folder = store_from_environment()
    return text if folder is None or current_viewer().is_admin else text.replace(str(folder), "DIR")


def refuse_file(*, of_texts: bool | None = None) -> str | None:
    """Return why this viewer may not download a file from the page, or None.

    `of_texts` says whether the file has log content. By default, this is what `note_page` recorded for the
    page.
    """
    if not (st.session_state.get(_WITH_TEXTS, False) if of_texts is None else of_texts):
        return None
    if not texts_are_shown():
        return "Content is hidden on this server, so it makes no file with content."
    return None if current_viewer().is_admin else "Files with texts are for admins."
