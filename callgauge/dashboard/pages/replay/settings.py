"""Draws the settings of a replay; the values of the inputs are kept in the URL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.editor import editor
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget, write_to_url
from callgauge.dashboard.replay.scenarios import (
    BEFORE,
    OWN,
    Scenario,
    ScenarioError,
    definition_text,
    parse_definitions,
)
from callgauge.dashboard.texts.url_texts import LinkError, pack_text, unpack_text
from lenient import CODES

_TEXT = "definition"
_LONGEST = 1_000_000  # bytes of a definition that a link may unpack to
_POLICIES = {
    "lenient": "Lenient: takes warnings too",
    "safe": "Safe: takes notes only",
    "strict": "Strict: takes no finding",
}


def choose_settings() -> tuple[str, Scenario | None]:
    """Draw the settings; return the chosen tool (empty: all tools) and the scenario.

    The scenario is None when the settings are invalid.
    """
    with cards.draw_card("What to change"):
        with st.grid(3, min_column_width=260, gap="medium"):
            tool = _choose_tool()
            before = _choose_among("Compare with", "replay_against", BEFORE, OWN)
            policy = _choose_among("Policy", "replay_policy", _POLICIES, "lenient")
        with st.grid(2, min_column_width=260, gap="medium"):
            refused = _choose_codes("Codes that count as errors", "refuse")
            silent = _choose_codes("Codes that are accepted silently", "silent")
        st.caption(
            "An error refuses the call. A silent code counts as if it had not been found; a text without any "
            "arguments stays refused. No policy refuses a call because its tool's definition is missing."
        )
        newest, edited = _edit_definition(tool)
        try:
            scenario = Scenario(before, newest, edited, policy, refused, silent)
            scenario.definitions()
        except ScenarioError as refusal:
            st.error(wording.in_markdown(str(refusal), 400))
            return tool, None
        if scenario.changes_nothing:
            st.caption("Nothing is changed yet: a replay would show that nothing moves.")
    return tool, scenario


def _choose_tool() -> str:
    choices = store_queries.ask("choices")
    tools = ["", *choices[choices.dimension == "tool"].value.tolist()]
    return choose_one(
        "Tool",
        "replay_tool",
        tools,
        "",
        lambda name: wording.one_line(name, 60) or "All tools: definitions as they are",
        width="stretch",
    )


def _choose_among(label: str, key: str, options: Mapping[str, str], empty: str) -> str:
    return choose_one(label, key, list(options), empty, options.__getitem__, width="stretch")


def _choose_codes(label: str, key: str) -> tuple[str, ...]:
    def parse(text: str) -> list[str]:
        codes = text.split(",")
        if not set(codes) <= CODES.keys():
            raise ValueError(text)
        return codes

    found: list[str] = draw_url_widget(
        lambda name: st.multiselect(label, list(CODES), key=name, placeholder="None"),
        key,
        [],
        parse,
        ",".join,
    )
    return tuple(found)


def _edit_definition(tool: str) -> tuple[str | None, str | None]:
    """Draw the definition's editor; return the tool's newest definition and the edited one.

    Each is None when there is none; the edited definition is also None when the text was not changed.
    """
    if not tool:
        return None, None
    versions = store_queries.ask("definitions", tools=(tool,), limit=50).to_dict("records")
    newest = _newest_definition(tool, versions)
    begun = newest or json.dumps(
        {"name": tool, "input_schema": {"type": "object", "properties": {}}}, indent=2, ensure_ascii=False
    )
    linked = _linked_text()
    text = editor(
        f"replay_definition_{tool}",
        "Its definition, in any supported shape",
        begun if linked is None else linked,
        height=330,
        version=st.session_state.get("_replay_editor", 0),
    )
    edited = None if text.strip() in ("", begun.strip()) else text
    _write_to_link(edited)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Start over", key="replay_start_over", on_click=_start_over, disabled=edited is None)
        st.caption(_describe_versions(versions, newest))
    _warn_of_other_tool(tool, edited)
    return newest, edited


def _newest_definition(tool: str, versions: Sequence[Mapping[Any, Any]]) -> str | None:
    if not versions or not versions[0]["definition"]:
        return None
    return definition_text(tool, versions[0]["description"], versions[0]["definition"])


def _describe_versions(versions: Sequence[Mapping[Any, Any]], newest: str | None) -> str:
    if newest is None:
        return "No log holds a definition of this tool; what you write is the first for its calls."
    if len(versions) == 1:
        return "It starts from the only definition in the store."
    return (
        f"It starts from version {versions[0]['number']}, the newest of {len(versions)}. Calls were made "
        "under all of them: compare with the newest definition to see your edit alone."
    )


def _warn_of_other_tool(tool: str, edited: str | None) -> None:
    """Warn when the edited text defines another tool: only calls of the chosen tool are parsed again."""
    if edited is None:
        return
    try:
        names = parse_definitions(edited)
    except ScenarioError:
        return  # said below
    if tool not in names:
        named = ", ".join(wording.in_markdown(name, 60) for name in names)
        st.warning(f"This defines {named}, and not {wording.in_markdown(tool, 60)}, whose calls are read.")


def _linked_text() -> str | None:
    """Return the definition text in the URL; None when it carries none or a damaged one.

    A URL parameter that this page did not write resets the editor.
    """
    parameter = st.query_params.get(_TEXT)
    if parameter != st.session_state.get("_url_definition"):
        st.session_state["_url_definition"] = parameter
        st.session_state["_replay_editor"] = st.session_state.get("_replay_editor", 0) + 1
    if parameter is None:
        return None
    try:
        return unpack_text(parameter, _LONGEST)
    except LinkError as damaged:
        st.warning(wording.in_markdown(str(damaged), 300))
        return None


def _write_to_link(edited: str | None) -> None:
    try:
        parameter = pack_text(edited) if edited is not None else None
    except LinkError as too_long:
        parameter = None
        st.caption(f"{wording.in_markdown(str(too_long), 300)} The replay works all the same.")
    if parameter != st.query_params.get(_TEXT):
        write_to_url(_TEXT, parameter)
    st.session_state["_url_definition"] = parameter


def _start_over() -> None:
    write_to_url(_TEXT, None)
    st.session_state["_replay_editor"] = st.session_state.get("_replay_editor", 0) + 1
