"""Stored calls read again under other settings: what would move, call by call; settings live in the URL."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.pages import replay_moves, replay_settings
from dashboard.replay_jobs import Asked, BusyError, Desk, Held, Job
from dashboard.scenarios import STORED, Scenario
from dashboard.widgets import cards
from lenient import PARSER_VERSION

MOST = 1_000_000  # calls that one replay reads; of more, whole sessions are left out evenly


@st.cache_resource(show_spinner=False)
def _desk() -> Desk:
    """All replays of this server."""
    return Desk()


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda held: held.release())
def _held() -> Held:
    """This session's replay; it ends when the session does."""
    return Held(_desk())


def show() -> None:
    st.title("Replay", anchor=False)
    st.caption(
        "What would have become of these calls under other settings? Nothing is stored; no model is asked."
    )
    given = filters.chosen().parameters()
    if answers.ask("replayed_size", **given).empty:
        cards.nothing_matches("calls")
        return
    tool, scenario = replay_settings.choose()
    if tool:
        given |= {"tools": (tool,)}
    sizes = answers.ask("replayed_size", **given).to_dict("records")
    calls = sum(row["calls"] for row in sizes)
    if not calls:
        cards.nothing_matches("calls of this tool")
        return
    every = -(-calls // MOST)
    asked = Asked(answers.shown().path, _listed(given), calls, every, scenario or Scenario())
    _run(asked, sizes, ready=scenario is not None)
    _shown(asked)


def _listed(given: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _run(asked: Asked, sizes: list[dict[Any, Any]], *, ready: bool) -> None:
    """The button, and beside it what it would read."""
    held = _held()
    going = held.job is not None and held.job.state in ("waiting", "running")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        number = -(-asked.calls // asked.every)
        pressed = st.button(
            f"Replay {'about ' if asked.every > 1 else ''}{wording.plural(number, 'call')}",
            type="primary",
            icon=":material/play_arrow:",
            disabled=not ready or going,
            key="replay_run",
        )
        with st.container(width="stretch"):
            st.caption(_reads(asked, sizes))
    if pressed:
        try:
            held.begin(Job(asked))
        except BusyError as refused:
            st.error(str(refused))
        else:
            st.query_params.pop("moved_page", None)
            st.rerun()


def _reads(asked: Asked, sizes: list[dict[Any, Any]]) -> str:
    readable = sum(row["readable"] for row in sizes)
    told = [f"The store has the text of {wording.of(readable, asked.calls)} calls of this slice."]
    if asked.every > 1:
        told.append(
            f"Every {asked.every}th session is read, with all of its calls; narrow the slice to read all."
        )
    others = [row for row in sizes if row["version"] != PARSER_VERSION]
    if others:
        by = ", ".join(f"{row['calls']:,} by version {wording.in_markdown(row['version'])}" for row in others)
        told.append(
            f"The parser here is version {PARSER_VERSION}; read when loaded: {by}. Compare with what the "
            "store says to see what the upgrade moved."
        )
    elif asked.scenario.before == STORED:
        told.append(f"All of them were loaded by the parser of today, version {PARSER_VERSION}.")
    return " ".join(told)


def _shown(asked: Asked) -> None:
    held = _held()
    held.look()
    job = held.job
    if job is None:
        st.caption("Nothing has been replayed yet in this session.")
    elif job.state in ("waiting", "running"):
        _progress()
    elif job.state == "cancelled":
        st.caption("The replay was cancelled.")
    elif job.summary is None:
        with cards.card("The replay failed"):
            st.text(wording.visible(job.problem or "It ended without saying why."))
    else:
        if job.asked != asked:
            st.caption("What follows was replayed with other settings, filters or data than those above.")
        replay_moves.show(job, job.summary)


@st.fragment(run_every="1s")
def _progress() -> None:
    held = _held()
    before = held.look()
    job = held.job
    if job is None or job.state not in ("waiting", "running"):
        st.rerun()
    with cards.card("Replaying"):
        if job.state == "waiting":
            st.text(f"{wording.plural(before, 'replay')} of others first: this server runs one at a time.")
        else:
            done, number = job.progress(), -(-job.asked.calls // job.asked.every)
            told = "Starting a process for it" if done is None else f"{done:,} of {number:,} calls"
            st.progress(min(1.0, (done or 0) / max(1, number)), text=told)
        st.button("Cancel", on_click=held.cancel, key="replay_cancel", icon=":material/close:")


show()
