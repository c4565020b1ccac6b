"""Shows what an edited definition would change.

A replay in the background parses the tool's calls again, once per published store file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.replay.definition_edits import DefinitionEdit, measure_effect
from callgauge.analysis.replay.jobs import (
    JobState,
    ReplayJob,
    ReplayQueueFullError,
    ReplayRequest,
    SessionReplay,
)
from callgauge.analysis.replay.scenarios import NEWEST, Scenario
from callgauge.analysis.verdicts.tool_answers import EditEffect
from callgauge.dashboard import store_queries, viewer
from callgauge.dashboard.components.controls.replay_queue import open_queue

MOST = 50_000  # maximum number of calls to replay; if more calls match, whole sessions are sampled evenly


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda replay: replay.release())
def _session_replay() -> SessionReplay:
    return SessionReplay(open_queue())


def ask_replay(edit: DefinitionEdit, chosen: Mapping[str, Any]) -> ReplayRequest | None:
    """Return a replay that shows what an edit changes. Return None if this viewer may not see log content."""
    if not viewer.sees_texts():
        return None
    calls = int(store_queries.ask("call_days", **chosen).most.sum())
    parameters = {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()}
    return ReplayRequest(
        store_queries.shown_generation().path,
        parameters,
        calls,
        -(-calls // MOST) or 1,
        Scenario(before=NEWEST, newest=edit.before, edited=edit.after),
        texts=True,
    )


def read_effect(edit: DefinitionEdit, request: ReplayRequest) -> EditEffect | None:
    """Return the result of the replay.

    Returns None until the replay is done, and when the replay could parse no call.
    """
    summary = open_queue().find_summary(request)
    return measure_effect(edit, summary, request.every) if summary else None


def draw_progress(edit: DefinitionEdit, request: ReplayRequest) -> None:
    """Start the replay if it has not run yet, and draw its progress.

    Draws nothing when the replay is done.
    """
    if open_queue().find_summary(request):
        return
    replay = _session_replay()
    if replay.job is None or replay.job.asked != request:
        try:
            replay.begin(ReplayJob(request))
        except ReplayQueueFullError:
            st.caption("Too many replays are waiting on this server to say what a wider type would fix.")
            return
    _poll_replay(" or ".join(edit.accepts), request)


@st.fragment(run_every="0.5s")
def _poll_replay(accepted: str, request: ReplayRequest) -> None:
    replay = _session_replay()
    replay.poll()
    job = replay.job
    if job is None or job.state in (JobState.FAILED, JobState.CANCELLED):
        st.caption(f"What accepting {accepted} would fix could not be replayed.")
        return
    if job.state is JobState.DONE or open_queue().find_summary(request):
        st.rerun()
    calls = wording.plural(-(-request.calls // request.every), "call")
    st.caption(f"Replaying {calls} to see what accepting {accepted} would fix …")
