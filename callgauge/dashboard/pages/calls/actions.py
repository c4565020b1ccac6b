"""Draws links and copy buttons for one tool call: its session, raw arguments, request and test case."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.regression_cases import case_json
from callgauge.analysis.reparsed_call import LONGEST
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.call_descriptions import full_place_in_log
from callgauge.dashboard.components.controls.copy_button import copy_text
from callgauge.dashboard.components.controls.links import call_link, draw_link
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.calls.request_bodies import make_chat_request
from callgauge.dashboard.viewer import refuse_file
from lenient import ToolDefinition

Row = Mapping[Hashable, Any]
_NEIGHBOURS = {
    "before": "← Previous call",
    "after": "Next call →",
    "fault_before": "← Previous failure",
    "fault_after": "Next failure →",
}
_COPIED = 200_000  # characters; a longer text is offered as a download instead
_CURL = (
    'curl "$BASE_URL/chat/completions" -H "Authorization: Bearer $API_KEY" '
    '-H "Content-Type: application/json" -d @-'
)


def draw_copies(call: Row, tool: ToolDefinition | None, description: str | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if call["raw_arguments"] is not None:
            _draw_copy("raw", "Copy raw", "raw_arguments.txt", call["raw_arguments"])
        copy_text("copy_place", "Copy place in the log", full_place_in_log(call))
        request = st.popover("Copy as request", key="as_request", on_change="rerun")
        if request.open:
            with request:
                _draw_request(call, description)
        if call["raw_arguments"] is not None and len(call["raw_arguments"]) <= LONGEST:
            case = st.popover("Copy as test case", key="as_case", on_change="rerun")
            if case.open:
                with case:
                    _draw_case(call, tool)


def draw_links(call: Row) -> None:
    named = {"call": call["call_id"], "session": call["session_id"], "source": call["source"]}
    rows = store_queries.ask("call_neighbours", **named).to_dict("records")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="ways_on"):
        st.page_link(
            page_file("sessions"),
            label=wording.link_label("Open session"),
            icon=":material/forum:",
            query_params={"session": call["session_id"] or "", "call": call["call_id"]},
            width="content",
        )
        st.page_link(
            page_file("playground"),
            label=wording.link_label("Open in the playground"),
            icon=":material/science:",
            query_params={"call": call["call_id"]},
            width="content",
        )
        for row in rows:
            for key, label in _NEIGHBOURS.items():
                if row[key] is not None:
                    draw_link(key, label, call_link(row[key]))
            st.caption(f"Call {row['number']:,} of {row['of']:,} in the session", width="content")


def _draw_copy(key: str, label: str, name: str, text: str) -> None:
    if len(text) <= _COPIED:
        copy_text(f"copy_{key}", label, text)
    elif refusal := refuse_file(of_texts=True):
        st.caption(refusal)
    else:
        st.download_button(
            f"{label.replace('Copy', 'Save')} ({wording.size(len(text))})",
            text.encode("utf-8", "surrogatepass"),
            name,
            "text/plain",
            on_click="ignore",
            key=f"save_{key}",
        )


def _draw_request(call: Row, description: str | None) -> None:
    st.markdown("A chat-completions request with the tool and the messages so far.")
    ask_again = (
        st.radio(
            "It ends",
            ("with the call and its result", "before the call, which the model must make again"),
            key="request_ends",
        )
        != "with the call and its result"
    )
    named = {name: call[name] for name in ("source", "turn")} | {"session": call["session_id"]}
    rows = store_queries.ask("messages_so_far", **named, step=call["step"] or 0).to_dict("records")
    prompt = store_queries.ask("version_text", kind="prompt", id=call["prompt_id"], hash=call["prompt_hash"])
    text = None if prompt.empty else prompt.iloc[0].text
    body = make_chat_request(call, rows, prompt=text, description=description, ask_again=ask_again)
    _draw_copy("request", "Copy the request", "request.json", body)
    st.code(_CURL, language=None, wrap_lines=True)
    for note in _list_missing(call, text):
        st.caption(note)


def _list_missing(call: Row, prompt: str | None) -> list[str]:
    notes = ["The store keeps the first 2,000 characters of each message and result."]
    if call["definition"] is None:
        notes.append("The store has no definition of the tool, so the request has none.")
    if not prompt:
        notes.append("The log has no system prompt, so the request has none.")
    if call["args_source"] == "unattributed":
        notes.append("A server may have written the arguments again.")
    elif call["args_source"] != "raw":
        notes.append("The arguments are not the text that the model sent.")
    return notes


def _draw_case(call: Row, tool: ToolDefinition | None) -> None:
    st.markdown("A file for `tests/cases/lenient/`: text, definition, and the diagnostics of today's parser.")
    _draw_copy("case", "Copy the test case", "case.json", case_json(call["raw_arguments"], tool))
