"""Draws the section "Fix the definition" of a tool: the edits with their evidence, and the diff to copy.

A search in the background replays the edits over the tool's calls, once per published store file.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from callgauge.analysis import testsets, wording
from callgauge.analysis.day_paging import CALLS, read_page
from callgauge.analysis.replay.definition_edits import apply_changes
from callgauge.analysis.replay.definition_shapes import (
    SHAPES,
    choose_shape,
    write_definition,
    write_difference,
)
from callgauge.analysis.replay.fix_evidence import list_suspected
from callgauge.analysis.replay.fix_results import (
    DefinitionFix,
    FixQuestion,
    ToolFixes,
    list_changes,
)
from callgauge.analysis.replay.fix_sentences import (
    describe_evidence,
    describe_rejected,
    title_fix,
    write_fix_answer,
)
from callgauge.analysis.replay.jobs import (
    JobState,
    ReplayJob,
    ReplayQueueFullError,
    ReplayRequest,
    SessionReplay,
)
from callgauge.analysis.replay.scenarios import Scenario
from callgauge.dashboard import filters, store_queries, viewer
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.copy_button import copy_text
from callgauge.dashboard.components.controls.links import draw_link, draw_replay_link
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.controls.replay_queue import open_queue
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.file_names import name_file

TITLE = "Fix the definition"
_LINKED = 3  # maximum number of tools with a link
_HIDDEN = (
    "Content is hidden on this server, so calls cannot be replayed to find edits. On the server's machine, "
    "run: callgauge fix-definition"
)


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda replay: replay.release())
def _session_replay() -> SessionReplay:
    return SessionReplay(open_queue())


def show(tool: str, chosen: Mapping[str, Any]) -> None:
    """Draw the section. `chosen` holds the filters of the page, without the tool."""
    with cards.draw_card(TITLE, "replayed_calls", "definitions"):
        if not viewer.sees_texts():
            st.caption(_HIDDEN)
            return
        result = _find_fixes(chosen, FixQuestion(tool))
        if result is None:
            return
        if not result.fixes:
            st.markdown(wording.in_markdown(write_fix_answer(result), 500))
            _draw_rejected(result, write_fix_answer(result))
            draw_replay_link(tool)
            return
        answer = st.empty()
        edits = _choose_fixes(result.fixes)
        _draw_rejected(result, "")
        part: ToolFixes | None = result
        if len(edits) < len(result.fixes):
            part = _find_fixes(chosen, FixQuestion(tool, tuple(fix.key for fix in edits))) if edits else None
        if not edits:
            answer.markdown("No edit is chosen.")
        elif part is not None:
            answer.markdown(f"**{wording.in_markdown(write_fix_answer(part), 500)}**")
            _draw_change(result, edits, chosen)


def draw_fix_links(worst: Sequence[Mapping[Hashable, Any]]) -> None:
    """Draw links to the section of the tools for whose most frequent error an edit may exist.

    `worst` holds rows of the metric `worst_parameters`.
    """
    tools = [str(row["tool"]) for row in list_suspected(worst)]
    if not tools or not viewer.sees_texts():
        return
    with st.container(horizontal=True, gap="medium"):
        for number, tool in enumerate(tools[:_LINKED]):
            label = f"{TITLE} of {wording.one_line(tool, 60)}"
            draw_link(f"fix_{number}", label, filters.page_link("tools", {}, {"tool_open": tool}))


def _find_fixes(chosen: Mapping[str, Any], question: FixQuestion) -> ToolFixes | None:
    """Return the result of a search. If it is not known yet, start the search and draw its progress."""
    narrowed = {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()}
    calls = int(store_queries.ask("call_days", **{**chosen, "tools": (question.tool,)}).most.sum())
    request = ReplayRequest(
        store_queries.shown_generation().path, narrowed, calls, 1, Scenario(), True, question
    )
    result = open_queue().find_fixes(request)
    if result is not None:
        return result
    replay = _session_replay()
    if replay.job is None or replay.job.request != request:
        try:
            replay.begin(ReplayJob(request))
        except ReplayQueueFullError:
            st.caption("Too many replays are waiting on this server. Reload the page in a minute.")
            return None
    _poll_search(request)
    return None


@st.fragment(run_every="0.5s")
def _poll_search(request: ReplayRequest) -> None:
    replay = _session_replay()
    replay.poll()
    job = replay.job
    if job is None or job.state in (JobState.FAILED, JobState.CANCELLED):
        problem = f" {wording.in_markdown(job.problem, 200)}" if job and job.problem else ""
        st.caption(f"The calls could not be replayed.{problem}")
        return
    if job.state is JobState.DONE or open_queue().find_fixes(request):
        st.rerun()
    st.caption(f"Replaying {wording.plural(request.calls, 'call')} to find edits of the definition …")


def _choose_fixes(fixes: Sequence[DefinitionFix]) -> list[DefinitionFix]:
    """Draw the edits with a checkbox each, and return the chosen ones."""
    edits = []
    for fix in fixes:
        with st.container(gap="xxsmall"):
            if st.checkbox(
                f"**{wording.in_markdown(title_fix(fix), 200)}**", value=True, key=f"fix_{fix.key}"
            ):
                edits.append(fix)
            st.caption(wording.in_markdown(describe_evidence(fix), 600))
    return edits


def _draw_rejected(result: ToolFixes, answer: str) -> None:
    for rejected in result.rejected:
        sentence = describe_rejected(rejected)
        if sentence not in answer:
            st.caption(wording.in_markdown(sentence, 400))


def _draw_change(result: ToolFixes, edits: Sequence[DefinitionFix], chosen: Mapping[str, Any]) -> None:
    """Draw the diff in the chosen shape, and what can be done with it."""
    usual = choose_shape(result.source, result.mcp_server)
    shape = choose_segment(
        "Shape", "shape", [usual, *(name for name in SHAPES if name != usual)], SHAPES.__getitem__
    )
    before = result.definition
    after = apply_changes(before, list_changes(edits))
    written = write_definition(shape, result.tool, after)
    difference = write_difference(shape, result.tool, before, after)
    st.code(wording.visible(difference), language="diff", wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        copy_text("copy_fix_diff", "Copy the diff", difference)
        copy_text("copy_fix", "Copy the definition", written)
        if refusal := viewer.refuse_file(of_texts=True):
            st.caption(refusal)
        else:
            _draw_download(result, shape, written)
            _draw_trial(result, after, chosen)
        draw_replay_link(result.tool, write_definition("anthropic", result.tool, after))


def _draw_download(result: ToolFixes, shape: str, written: str) -> None:
    suffix = "py" if shape == "python" else "json"
    st.download_button(
        "Download",
        written.encode("utf-8", "replace"),
        name_file("definition", suffix),
        "text/x-python" if shape == "python" else "application/json",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key=f"take_definition_{result.tool}",
    )


def _draw_trial(result: ToolFixes, after: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    """Draw the control that exports calls as a trial whose second variant is the edited definition.

    The calls are those that needed repair or failed, if the edits fix calls.
    """
    is_about_calls = result.effect is not None and result.effect.fixed
    wanted = {**chosen, "tools": (result.tool,), "outcome": "strict" if is_about_calls else None}
    read = partial(read_page, store_queries.keep_asking(), CALLS, wanted)

    def list_ids() -> list[str]:
        ids: list[str] = read(testsets.MOST).rows.call_id.tolist()
        return ids

    edited = write_definition("anthropic", result.tool, after)
    draw_testset_export("definition", list_ids, result.calls, edited_tool=edited)
