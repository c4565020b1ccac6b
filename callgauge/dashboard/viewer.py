"""Who looks at this page, and what that person may do."""

from __future__ import annotations

import streamlit as st

from callgauge.serving.identity import LOCAL_USER, User, read_headers


def current_viewer() -> User:
    """Return who looks at this page: the user that the server's guard let in; local where none guards."""
    return read_headers(st.context.headers) or LOCAL_USER
