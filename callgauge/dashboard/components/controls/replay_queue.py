"""Queues the replays of this server. One replay runs at a time, for all pages and browser sessions."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis.replay.jobs import ReplayQueue


@st.cache_resource(show_spinner=False)
def open_queue() -> ReplayQueue:
    return ReplayQueue()
