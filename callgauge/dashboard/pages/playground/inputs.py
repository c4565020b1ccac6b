"""Draws the left side of the playground: the choice of an example, the editors, and the marked reply."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.metrics import MetricError
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.playground import argument_form
from callgauge.dashboard.pages.playground.link_texts import LONGEST
from callgauge.dashboard.pages.playground.parsing import ParsedTools, parse_tools_cached
from callgauge.dashboard.pages.playground.playground_examples import EXAMPLES, REPLIES
from callgauge.dashboard.pages.playground.start import KNOWN, EditorDesk, begin_with
from callgauge.dashboard.url_keys import write_to_url
from lenient import DIALECTS, ToolDefinition

Row = Mapping[Hashable, Any]
_RAW = '{"query": "retry policy", "top_k": "5"}'
_DEFINITION = '{"name": "search", "input_schema": {"type": "object", "properties": {…}}}'
_LOOKS = {"all": "All calls", "leaked": "Leaked calls only"}
_UNKNOWN = "Unknown dialect"
_ALL = 2000


@dataclass(frozen=True, slots=True)
class PlaygroundInputs:
    """The inputs of the playground: the raw text, the text of the definitions, the defined tools, and the
    called tool.

    `which` is the index of the called tool in `tools.tools`, or None without a tool. `dialect` is the dialect
    of a whole reply, or None to detect the dialect. With `leaked`, only tool calls that should have been
    native are searched.
    """

    raw: str
    definition: str
    tools: ParsedTools
    which: int | None
    dialect: str | None = None
    leaked: bool = False

    @property
    def tool(self) -> ToolDefinition | None:
        return None if self.which is None else self.tools.tools[self.which]


def draw_inputs(
    desk: EditorDesk, *, reply: bool, draw_marks: Callable[[PlaygroundInputs], None]
) -> PlaygroundInputs:
    """Draw the editors of the raw text and the definition, and return the inputs.

    With `reply`, the raw text is a whole reply of a model. `draw_marks` then draws this reply between the
    editors and marks the found calls.
    """
    _draw_origin(desk)
    above = st.container(gap="xsmall")
    marked = st.container(gap="xsmall", key="playground_marks")
    with st.container(gap="xsmall", key="playground_definition"):
        tools = _draw_definition(desk, reply=reply)
        which = _choose_tool_number(tools.tools) if not reply else None
    with above:
        _draw_text_editor(desk, tools, which, reply=reply)
        dialect, leaked = _choose_reply_options() if reply else (None, False)
    inputs = PlaygroundInputs(desk.raw, desk.definition, tools, which, dialect, leaked)
    if 0 < len(desk.raw) <= LONGEST:
        with marked:
            draw_marks(inputs)
    else:
        # This reserves the space, so that the definition does not move when a text is pasted.
        with marked, st.container(key="playground_no_marks"):
            st.caption("Diagnostics are marked here.")
    return inputs


def choose_example(*, reply: bool) -> None:
    """Draw the selector of an example. The chosen example fills the editors."""
    titles = [example.title for example in (REPLIES if reply else EXAMPLES)]
    named = st.query_params.get("example")
    st.session_state["example_pick"] = named if named in titles else None
    st.selectbox(
        "Example",
        titles,
        key="example_pick",
        index=None,
        placeholder="Pick an example",
        on_change=lambda: begin_with(st.session_state["example_pick"]),
        label_visibility="collapsed",
        width=280,
    )


def _draw_definition(desk: EditorDesk, *, reply: bool) -> ParsedTools:
    _draw_known(desk)
    label = "Tool definitions" if reply else "Tool definition"
    desk.edit_definition(label, _DEFINITION, 270)
    tools = parse_tools_cached(desk.definition)
    if tools.problem:
        st.error(f"The tool definition cannot be read: {wording.in_markdown(tools.problem, 300)}")
    return tools


def _choose_reply_options() -> tuple[str | None, bool]:
    """Return the chosen dialect, and True to search only for leaked calls.

    The dialect None means that the parser detects the dialect. A leaked call is a tool call written as text
    instead of as a native call.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        look = choose_one("Look for", "look", list(_LOOKS), "all", _LOOKS.__getitem__)
        if look == "leaked":
            return None, True
        dialect = choose_one("Dialect", "dialect", [_UNKNOWN, *DIALECTS], _UNKNOWN)
    return (None if dialect == _UNKNOWN else dialect), False


def _draw_text_editor(desk: EditorDesk, tools: ParsedTools, which: int | None, *, reply: bool) -> None:
    if not reply and argument_form.is_chosen():
        argument_form.show(desk, None if which is None else tools.tools[which], which)
        return
    desk.form = None
    if reply:
        desk.edit_raw("Reply of the model", "Paste what the model wrote.", 160)
    else:
        desk.edit_raw("Raw arguments, as sent", _RAW, 110)


def _draw_origin(desk: EditorDesk) -> None:
    if desk.problem:
        st.error(wording.in_markdown(desk.problem, 600))
    call = st.query_params.get("call")
    if call and "p" not in st.query_params:
        st.page_link(
            page_file("calls"),
            label=wording.link_label(f"From call {wording.in_markdown(call, 40)}"),
            query_params={"call": call},
            width="content",
        )
    for note in desk.notes:
        st.caption(note)


def _draw_known(desk: EditorDesk) -> None:
    if not store_queries.is_open():
        return
    try:
        rows: Sequence[Row] = store_queries.ask("known_definitions", limit=_ALL).to_dict("records")
    except MetricError as problem:
        st.error(wording.in_markdown(str(problem), 600))
        return
    if not rows:
        return
    by_tool: dict[str, list[Row]] = {}
    for row in rows:
        by_tool.setdefault(row["tool"], []).append(row)
    now = next((row for row in rows if row["definition_id"] == desk.known), None)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _pick_tool(by_tool, now)
        if now is not None:
            _pick_version(by_tool[now["tool"]], now)
    if rows[0]["found"] > len(rows):
        st.caption(f"The {len(rows):,} most recent of {rows[0]['found']:,} definitions.")


def _pick_tool(by_tool: Mapping[str, Sequence[Row]], now: Row | None) -> None:
    def name_tool(tool: str) -> str:
        calls = sum(row["calls"] for row in by_tool[tool])
        return f"{wording.one_line(tool, 60)} · {wording.plural(calls, 'call')}"

    def pick_tool() -> None:
        tool = st.session_state["known_tool"]
        write_to_url(KNOWN, by_tool[tool][0]["definition_id"] if tool else None)

    st.session_state["known_tool"] = now["tool"] if now is not None else None
    st.selectbox(
        "Known tool",
        list(by_tool),
        key="known_tool",
        index=None,
        format_func=name_tool,
        placeholder="Load a stored definition",
        on_change=pick_tool,
        label_visibility="collapsed",
    )


def _pick_version(rows: Sequence[Row], now: Row) -> None:
    by_id = {row["definition_id"]: row for row in rows}

    def named(definition_id: str) -> str:
        row = by_id[definition_id]
        last = f" · {row['last_day']}" if row["last_day"] else ""
        return f"Version {row['number']} · {wording.plural(row['calls'], 'call')}{last}"

    st.session_state["known_version"] = now["definition_id"]
    st.selectbox(
        "Version",
        list(by_id),
        key="known_version",
        format_func=named,
        on_change=lambda: write_to_url(KNOWN, st.session_state["known_version"]),
        label_visibility="collapsed",
    )


def _choose_tool_number(tools: Sequence[ToolDefinition]) -> int | None:
    if len(tools) < 2:
        return 0 if tools else None
    names = {str(number): wording.one_line(tool.name, 60) for number, tool in enumerate(tools)}
    return int(choose_one("Tool", "which", list(names), "0", names.__getitem__, width=280))
