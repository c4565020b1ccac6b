"""The left side of the playground: where the texts come from, the two editors or a form; the texts out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import answers, wording
from dashboard.metrics import MetricError
from dashboard.pages import playground_form
from dashboard.pages.playground_examples import EXAMPLES, REPLIES
from dashboard.pages.playground_read import Tools, tools_of
from dashboard.pages.playground_start import KNOWN, Desk, begin_with
from dashboard.widgets.rate_choice import choice
from dashboard.widgets.urlstate import put
from lenient import DIALECTS, ToolDefinition

Row = Mapping[Hashable, Any]
_RAW = '{"query": "retry policy", "top_k": "5"}'
_DEFINITION = '{"name": "search", "input_schema": {"type": "object", "properties": {…}}}'
_LOOKS = {"all": "All calls in it", "leaked": "Calls that leaked into it"}
_UNTOLD = "not told"
_ALL = 2000  # definitions that are listed


@dataclass(frozen=True, slots=True)
class Asked:
    """What is on the desk: the raw text, the text of the definitions, what it defines, the tool called.

    Of a reply: the dialect that the reader is told, and whether only calls that leaked are looked for.
    """

    raw: str
    definition: str
    tools: Tools
    which: int | None
    told: str | None = None
    leaked: bool = False

    @property
    def tool(self) -> ToolDefinition | None:
        return None if self.which is None else self.tools.tools[self.which]


def inputs(desk: Desk, *, reply: bool) -> Asked:
    """`reply`: the text is a whole reply of a model, in which calls are looked for."""
    _origin(desk, reply=reply)
    above = st.container(gap="small")
    with st.container(gap="xsmall"):
        _known(desk)
        label = "Definitions of the tools offered" if reply else "Tool definition, in any supported shape"
        desk.edit_definition(label, _DEFINITION, 300)
        st.caption("Anthropic, OpenAI, MCP, Gemini or JSON Schema, one or a list; empty for none.")
        tools = tools_of(desk.definition)
        if tools.problem:
            st.error(f"The tool definition cannot be read: {wording.in_markdown(tools.problem, 300)}")
        which = _one(tools.tools) if not reply else None
    with above:
        _text(desk, tools, which, reply=reply)
        told, leaked = _reply_options() if reply else (None, False)
    return Asked(desk.raw, desk.definition, tools, which, told, leaked)


def _reply_options() -> tuple[str | None, bool]:
    """The dialect that the reader is told, and whether only leaked calls are looked for."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        look = choice("Look for", "look", list(_LOOKS), "all", _LOOKS.__getitem__)
        if look == "leaked":
            return None, True
        told = choice("Dialect", "dialect", [_UNTOLD, *DIALECTS], _UNTOLD)
    return (None if told == _UNTOLD else told), False


def _text(desk: Desk, tools: Tools, which: int | None, *, reply: bool) -> None:
    if not reply and playground_form.is_chosen():
        playground_form.show(desk, None if which is None else tools.tools[which], which)
        return
    desk.form = None
    if reply:
        desk.edit_raw("The model's reply, whole", "Paste what the model wrote.", 300)
    else:
        desk.edit_raw("Raw arguments, as the model sent them", _RAW, 170)
    st.caption("The result follows while you type; Ctrl+Enter asks at once.")


def _origin(desk: Desk, *, reply: bool) -> None:
    """Where the texts come from, and what is to be known of that."""
    titles = [example.title for example in (REPLIES if reply else EXAMPLES)]
    named = st.query_params.get("example")
    st.session_state["example_pick"] = named if named in titles else None
    st.selectbox(
        "Example",
        titles,
        key="example_pick",
        index=None,
        placeholder="Start from an example",
        on_change=lambda: begin_with(st.session_state["example_pick"]),
        label_visibility="collapsed",
    )
    if desk.problem:
        st.error(wording.in_markdown(desk.problem, 600))
    call = st.query_params.get("call")
    if call and "p" not in st.query_params:
        st.page_link(
            "dashboard/pages/calls.py",
            label=wording.door(f"From call {wording.in_markdown(call, 40)}"),
            query_params={"call": call},
            width="content",
        )
    for note in desk.notes:
        st.caption(note)


def _known(desk: Desk) -> None:
    """The tools and definitions that the store knows; one that is picked takes the place of the text."""
    if not answers.is_open():
        return
    try:
        rows: Sequence[Row] = answers.ask("known_definitions", limit=_ALL).to_dict("records")
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
        st.caption(f"The {len(rows):,} definitions called last, of {rows[0]['found']:,}.")


def _pick_tool(by_tool: Mapping[str, Sequence[Row]], now: Row | None) -> None:
    def named(tool: str) -> str:
        calls = sum(row["calls"] for row in by_tool[tool])
        return f"{wording.one_line(tool, 60)} · {wording.plural(calls, 'call')}"

    def picked() -> None:
        tool = st.session_state["known_tool"]
        put(KNOWN, by_tool[tool][0]["definition_id"] if tool else None)

    st.session_state["known_tool"] = now["tool"] if now is not None else None
    st.selectbox(
        "Known tool",
        list(by_tool),
        key="known_tool",
        index=None,
        format_func=named,
        placeholder="A tool that the store knows",
        on_change=picked,
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
        on_change=lambda: put(KNOWN, st.session_state["known_version"]),
    )


def _one(tools: Sequence[ToolDefinition]) -> int | None:
    """The number of the tool that is called, chosen where there are several."""
    if len(tools) < 2:
        return 0 if tools else None
    names = {str(number): wording.one_line(tool.name, 60) for number, tool in enumerate(tools)}
    return int(choice("Tool", "which", list(names), "0", names.__getitem__, width=280))
