"""The tab Stored calls: parses stored calls again under settings from the URL and shows what changes."""

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
    ReplayQueue,
    ReplayQueueFullError,
    ReplayRequest,
    SessionReplay,
)
from callgauge.analysis.replay.scenarios import STORED, Scenario
from callgauge.dashboard import filters, store_queries, viewer
from callgauge.dashboard.components import cards
from callgauge.dashboard.pages.playground.replay import moves, settings
from callgauge.dashboard.url_keys import write_to_url
from lenient import PARSER_VERSION

SIZED = 2_000_000  # calls of the newest days whose texts and parser versions are counted
MOST = 1_000_000  # calls that one replay parses; of more, whole sessions are left out evenly
_RUN = "reading"
_SETTINGS = "replay_settings"  # the fold of the settings


@dataclass(frozen=True, slots=True)
class ReplayedSlice:
    """How many calls match, and what the store has of them by the version of the parser.

    `since`: `sizes` are of the days from this one on; None when they are of all days.
    """

    calls: int
    sizes: list[dict[Any, Any]]
    since: date | None


@st.cache_resource(show_spinner=False)
def _open_queue() -> ReplayQueue:
    """Return the queue of all replays on this server."""
    return ReplayQueue()


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda held: held.release())
def _session_replay() -> SessionReplay:
    """Return the replay of this browser session; the replay is released when the session ends."""
    return SessionReplay(_open_queue())


def show() -> None:
    viewer.note_page(shows_texts=True)
    if not store_queries.is_open():
        _say_no_store()
        return
    if not viewer.sees_texts():
        st.caption("This store is served without content, and parsing calls again needs their raw text.")
        return
    given = filters.chosen_filters().parameters()
    if not measure_slice(given).calls:
        cards.show_no_matches("calls")
        return
    held = _session_replay()
    held.poll()
    answer = st.container()
    _fold_settings(held.job)
    with st.expander("Settings", expanded=True, key=_SETTINGS, on_change="rerun"):
        tool, scenario = settings.choose_settings()
    if tool:
        given |= {"tools": (tool,)}
    found = measure_slice(given)
    if not found.calls:
        cards.show_no_matches("calls of this tool")
        return
    every = -(-found.calls // MOST)
    asked = ReplayRequest(
        store_queries.shown_generation().path,
        _list_parameters(given),
        found.calls,
        every,
        scenario or Scenario(),
        viewer.sees_texts(),
    )
    _run(asked, found, None if scenario is None else settings.make_run_mark(tool, scenario))
    _draw_shown(asked, tool, answer)


def _say_no_store() -> None:
    try:
        store_queries.begin_run()
    except UnshownStoreError as problem:
        cards.show_no_store(problem)


def _fold_settings(job: ReplayJob | None) -> None:
    """Close the settings once when a replay is done: its answer says them, and the result comes first."""
    done = job is not None and job.state == JobState.DONE
    if done and st.session_state.get("_replay_folded") is not job:
        st.session_state[_SETTINGS] = False
    st.session_state["_replay_folded"] = job if done else None


def _list_parameters(given: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _run(asked: ReplayRequest, found: ReplayedSlice, mark: str | None) -> None:
    """Draw the button that starts the replay, and next to it the number of calls that can be parsed again.

    `mark`: the value of the URL key `run` with which a link starts the replay by itself; None when the
    settings are invalid: the button is then disabled.
    """
    held = _session_replay()
    going = held.job is not None and held.job.state in (JobState.WAITING, JobState.RUNNING)
    number = -(-asked.calls // asked.every)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        pressed = st.button(
            f"Parse {'about ' if asked.every > 1 else ''}{wording.plural(number, 'call')} again",
            type="primary",
            icon=":material/play_arrow:",
            disabled=mark is None or going,
            key="replay_run",
        )
        with st.container(width="stretch"):
            st.caption(_describe_reads(asked, found))
    linked = mark is not None and st.query_params.get(_RUN) == mark
    if pressed:
        write_to_url(_RUN, mark)
        write_to_url("moved_page", None)
        write_to_url("flow", None)
    elif not linked:
        write_to_url(_RUN, None)  # of other settings than these
        return
    elif held.job is not None and held.job.asked == asked:
        return
    elif number > AT_ONCE:
        st.caption(f"A link starts by itself for up to {AT_ONCE:,} calls. Press the button to start.")
        return
    try:
        held.begin(ReplayJob(asked))
    except ReplayQueueFullError as refused:
        st.error(str(refused))
    else:
        st.rerun()


def _describe_reads(asked: ReplayRequest, found: ReplayedSlice) -> str:
    sizes = found.sizes
    readable, sized = sum(row["readable"] for row in sizes), sum(row["calls"] for row in sizes)
    since = "" if found.since is None else f" since {found.since}; earlier calls were not counted"
    sentences = [f"The store has the raw text of {wording.fraction(readable, sized)} calls{since}."]
    if asked.every > 1:
        sentences.append(f"Only 1 of {asked.every} sessions is parsed. Narrow the filters to parse all.")
    others = [row for row in sizes if row["version"] != PARSER_VERSION]
    if others:
        by = ", ".join(f"{row['calls']:,} by version {wording.in_markdown(row['version'])}" for row in others)
        sentences.append(
            f"This parser has version {PARSER_VERSION}; the stored results are of {by}. Compare with the "
            "stored results to see what the upgrade changed."
        )
    elif asked.scenario.before == STORED:
        sentences.append(f"All stored results are of this parser's version, {PARSER_VERSION}.")
    return " ".join(sentences)


def _draw_shown(asked: ReplayRequest, tool: str, answer: DeltaGenerator) -> None:
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
            if job.asked != asked:
                st.caption("Settings, filters or data changed after this result. Parse again to update it.")
            moves.draw_answer(job, job.summary)
    if job is not None and job.summary is not None:
        moves.show(job, job.summary)


@st.fragment(run_every="0.5s")
def _draw_progress(what: str) -> None:
    held = _session_replay()
    before = held.poll()
    job = held.job
    if job is None or job.state not in (JobState.WAITING, JobState.RUNNING):
        st.rerun()
    with cards.draw_card("Parsing stored calls"):
        if job.state == JobState.WAITING:
            st.text(f"Waiting for {wording.plural(before, 'other replay')}: this server runs one at a time.")
        else:
            done, number = job.progress(), -(-job.asked.calls // job.asked.every)
            state = "starting" if done is None else f"{done:,} done"
            st.progress(
                min(1.0, (done or 0) / max(1, number)),
                text=f"Parsing {number:,} {what} again{_describe_days(job.asked)}: {state}",
            )
        st.button("Cancel", on_click=held.cancel, key="replay_cancel", icon=":material/close:")


def _describe_days(asked: ReplayRequest) -> str:
    days = [asked.given.get(name) for name in ("from_day", "to_day")]
    return f", {days[0]} to {days[1]}" if all(days) else ""


def measure_slice(given: Mapping[str, Any]) -> ReplayedSlice:
    """Count the calls of the chosen filters: the newest in the store itself, older ones in the daily sums."""
    days = store_queries.ask("call_days", **given)
    since = oldest_of_newest(days, SIZED)
    newest = given if since is None else {**given, "from_day": since}
    sizes = store_queries.ask("replayed_size", **newest).to_dict("records")
    calls = sum(row["calls"] for row in sizes)
    if since is not None:
        kept = store_queries.ask("kept_since").facts_before.iloc[
            0
        ]  # older calls are gone, their sums are not
        calls += sum(
            int(most)
            for day, most in zip(days.day, days.most, strict=True)
            if day is None or (day < since and (kept is None or day >= kept))
        )
    return ReplayedSlice(calls, sizes, since)
