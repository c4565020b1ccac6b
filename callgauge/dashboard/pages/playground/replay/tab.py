"""Draws the tab Stored calls, which parses stored calls again and shows the changes.

The URL contains the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from callgauge.analysis import wording
from callgauge.analysis.day_paging import oldest_of_newest
from callgauge.analysis.metrics.published_store import UnshownStoreError
from callgauge.analysis.replay.jobs import (
    AT_ONCE,
    JobState,
    ReplayJob,
    ReplayQueueFullError,
    ReplayRequest,
    SessionReplay,
)
from callgauge.analysis.replay.scenarios import STORED, Scenario
from callgauge.dashboard import filters, store_queries, viewer
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.replay_queue import open_queue
from callgauge.dashboard.pages.playground.replay import moves, settings
from callgauge.dashboard.url_keys import write_to_url
from lenient import PARSER_VERSION

SIZED = 2_000_000  # number of newest calls that are counted by parser version
# maximum number of calls in a replay; if more calls match, whole sessions are sampled evenly
MOST = 1_000_000
_RUN = "reading"
_SETTINGS = "replay_settings"


@dataclass(frozen=True, slots=True)
class ReplayedSlice:
    """The number of calls that match the filters, in all and by parser version.

    `sizes` covers the days from `since` on, or all days when `since` is None.
    """

    calls: int
    sizes: list[dict[Any, Any]]
    since: date | None


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda replay: replay.release())
def _session_replay() -> SessionReplay:
    return SessionReplay(open_queue())


def show() -> None:
    viewer.note_page(shows_texts=True)
    if not store_queries.is_open():
        _say_no_store()
        return
    if not viewer.sees_texts():
        st.caption("This store is served without content, and parsing calls again needs their raw text.")
        return
    parameters = filters.chosen_filters().parameters()
    if not measure_slice(parameters).calls:
        cards.show_no_matches("calls")
        return
    replay = _session_replay()
    replay.poll()
    answer = st.container()
    _fold_settings(replay.job)
    with st.expander("Settings", expanded=True, key=_SETTINGS, on_change="rerun"):
        tool, scenario = settings.choose_settings()
    if tool:
        parameters |= {"tools": (tool,)}
    replayed_slice = measure_slice(parameters)
    if not replayed_slice.calls:
        cards.show_no_matches("calls of this tool")
        return
    every = -(-replayed_slice.calls // MOST)
    request = ReplayRequest(
        store_queries.shown_generation().path,
        _list_parameters(parameters),
        replayed_slice.calls,
        every,
        scenario or Scenario(),
        viewer.sees_texts(),
    )
    _run(request, replayed_slice, None if scenario is None else settings.make_run_mark(tool, scenario))
    _draw_shown(request, tool, answer)


def _say_no_store() -> None:
    try:
        store_queries.begin_run()
    except UnshownStoreError as problem:
        cards.show_no_store(problem)


def _fold_settings(job: ReplayJob | None) -> None:
    """Close the expander with the settings when a replay is done."""
    done = job is not None and job.state == JobState.DONE
    if done and st.session_state.get("_replay_folded") is not job:
        st.session_state[_SETTINGS] = False
    st.session_state["_replay_folded"] = job if done else None


def _list_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}


def _run(request: ReplayRequest, replayed_slice: ReplayedSlice, mark: str | None) -> None:
    """Draw the button that starts the replay, and the number of calls that can be parsed again.

    A link whose URL key `run` is `mark` starts the replay. When `mark` is None, the button is disabled.
    """
    replay = _session_replay()
    going = replay.job is not None and replay.job.state in (JobState.WAITING, JobState.RUNNING)
    number = -(-request.calls // request.every)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        pressed = st.button(
            f"Parse {'about ' if request.every > 1 else ''}{wording.plural(number, 'call')} again",
            type="primary",
            icon=":material/play_arrow:",
            disabled=mark is None or going,
            key="replay_run",
        )
        with st.container(width="stretch"):
            st.caption(_describe_reads(request, replayed_slice))
    linked = mark is not None and st.query_params.get(_RUN) == mark
    if pressed:
        write_to_url(_RUN, mark)
        write_to_url("moved_page", None)
        write_to_url("flow", None)
    elif not linked:
        write_to_url(_RUN, None)  # the URL asks for a replay with other settings
        return
    elif replay.job is not None and replay.job.request == request:
        return
    elif number > AT_ONCE:
        st.caption(f"A link starts by itself for up to {AT_ONCE:,} calls. Press the button to start.")
        return
    try:
        replay.begin(ReplayJob(request))
    except ReplayQueueFullError as refused:
        st.error(str(refused))
    else:
        st.rerun()


def _describe_reads(request: ReplayRequest, replayed_slice: ReplayedSlice) -> str:
    sizes = replayed_slice.sizes
    readable, sized = sum(row["readable"] for row in sizes), sum(row["calls"] for row in sizes)
    since = (
        ""
        if replayed_slice.since is None
        else f" since {replayed_slice.since}; earlier calls were not counted"
    )
    sentences = [f"The store has the raw text of {wording.fraction(readable, sized)} calls{since}."]
    if request.every > 1:
        sentences.append(f"Only 1 of {request.every} sessions is parsed. Narrow the filters to parse all.")
    others = [row for row in sizes if row["version"] != PARSER_VERSION]
    if others:
        by = ", ".join(f"{row['calls']:,} by version {wording.in_markdown(row['version'])}" for row in others)
        sentences.append(
            f"This parser has version {PARSER_VERSION}; the stored results are of {by}. Compare with the "
            "stored results to see what the upgrade changed."
        )
    elif request.scenario.before == STORED:
        sentences.append(f"All stored results are of this parser's version, {PARSER_VERSION}.")
    return " ".join(sentences)


def _draw_shown(request: ReplayRequest, tool: str, answer: DeltaGenerator) -> None:
    job = _session_replay().job
    with answer:
        if job is None:
            st.caption(
                "Parse stored calls again under another definition or policy. Nothing is stored, and no "
                "model is called."
            )
        elif job.state in (JobState.WAITING, JobState.RUNNING):
            _draw_progress(f"calls of {wording.in_markdown(tool, 60)}" if tool else "calls of all tools")
        elif job.state == JobState.CANCELLED:
            st.caption("The replay was cancelled.")
        elif job.summary is None:
            with cards.draw_card("The replay failed"):
                st.text(wording.visible(job.problem or "The process ended without a message."))
        else:
            if job.request != request:
                st.caption("Settings, filters or data changed after this result. Parse again to update it.")
            moves.draw_answer(job, job.summary)
    if job is not None and job.summary is not None:
        moves.show(job, job.summary)


@st.fragment(run_every="0.5s")
def _draw_progress(what: str) -> None:
    replay = _session_replay()
    before = replay.poll()
    job = replay.job
    if job is None or job.state not in (JobState.WAITING, JobState.RUNNING):
        st.rerun()
    with cards.draw_card("Parsing stored calls"):
        if job.state == JobState.WAITING:
            st.text(f"Waiting for {wording.plural(before, 'other replay')}: this server runs one at a time.")
        else:
            done, number = job.progress(), -(-job.request.calls // job.request.every)
            state = "starting" if done is None else f"{done:,} done"
            st.progress(
                min(1.0, (done or 0) / max(1, number)),
                text=f"Parsing {number:,} {what} again{_describe_days(job.request)}: {state}",
            )
        st.button("Cancel", on_click=replay.cancel, key="replay_cancel", icon=":material/close:")


def _describe_days(request: ReplayRequest) -> str:
    days = [request.filters.get(name) for name in ("from_day", "to_day")]
    return f", {days[0]} to {days[1]}" if all(days) else ""


def measure_slice(parameters: Mapping[str, Any]) -> ReplayedSlice:
    """Count the calls that match the filters.

    Recent calls are counted in the store. Older calls are counted in the daily sums.
    """
    days = store_queries.ask("call_days", **parameters)
    since = oldest_of_newest(days, SIZED)
    newest = parameters if since is None else {**parameters, "from_day": since}
    sizes = store_queries.ask("replayed_size", **newest).to_dict("records")
    calls = sum(row["calls"] for row in sizes)
    if since is not None:
        kept_since = store_queries.ask("kept_since").facts_before.iloc[
            0
        ]  # the daily sums still count older calls, which are deleted
        calls += sum(
            int(most)
            for day, most in zip(days.day, days.most, strict=True)
            if day is None or (day < since and (kept_since is None or day >= kept_since))
        )
    return ReplayedSlice(calls, sizes, since)
