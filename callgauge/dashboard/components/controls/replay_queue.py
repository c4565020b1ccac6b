"""Queues the replays of this server. Only one replay runs at a time."""

from __future__ import annotations

import streamlit as st

from callgauge.analysis.replay.jobs import ReplayQueue


@st.cache_resource(show_spinner=False)
def open_queue() -> ReplayQueue:
    return ReplayQueue()
