"""Draws the settings of a replay. The URL keeps the chosen values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.replay.scenarios import (
    BEFORE,
    OWN,
    Scenario,
    ScenarioError,
    definition_text,
    parse_definitions,
)
from callgauge.analysis.texts.text_diff import unified_diff
from callgauge.analysis.texts.url_texts import LinkError, pack_text, unpack_text
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget
from callgauge.dashboard.components.definition_editor.editor import edit_definition
from callgauge.dashboard.pages.playground.replay.sentences import describe_edits
from callgauge.dashboard.url_keys import write_to_url
from lenient import CODES, ToolDefinition

_TEXT = "definition"
_FURTHER = ("replay_against", "refuse", "silent")
_NAMED = 3  # edits that are described in words; the diff shows all edits
# Height of a long diff in pixels, and the number of lines from which a diff scrolls.
_TALLEST, _LINES = 330, 16
_LONGEST = 1_000_000  # maximum decompressed size of the definition in a link, in bytes
_POLICIES = {
    "lenient": "Lenient: accepts warnings",
    "safe": "Safe: accepts notes only",
    "strict": "Strict: accepts no diagnostic",
}


def choose_settings() -> tuple[str, Scenario | None]:
    """Draw the settings, and return the chosen tool and the scenario.

    The tool is empty if all tools are chosen. The scenario is None when the settings are invalid.
    """
    with st.grid(2, min_column_width=260, gap="medium"):
        tool = _choose_tool()
        policy = _choose_among("Policy", "replay_policy", _POLICIES, "lenient")
    newest, edited = _edit_definition(tool)
    are_set = any(name in st.query_params for name in _FURTHER)
    with st.expander("More settings", expanded=are_set), st.grid(3, min_column_width=260, gap="medium"):
        before = _choose_among("Compare with", "replay_against", BEFORE, OWN)
        refused = _choose_codes("Codes treated as errors", "refuse", "A call with one of these codes fails.")
        silent = _choose_codes("Ignored codes", "silent", "These codes count as not found.")
    try:
        scenario = Scenario(before, newest, edited, policy, refused, silent)
        scenario.definitions()
    except ScenarioError as refusal:
        st.error(wording.in_markdown(str(refusal), 400))
        return tool, None
    if scenario.changes_nothing and not tool:
        st.caption("No changes yet.")
    return tool, scenario


def make_run_mark(tool: str, scenario: Scenario) -> str:
    """Return the value for the URL key `run` that starts a replay with exactly these settings."""
    values = json.dumps([tool, *asdict(replace(scenario, newest=None)).values()])
    return hashlib.blake2b(values.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _choose_tool() -> str:
    tools = ["", *filters.read_labels().get("tool", {})]
    return choose_one(
        "Tool",
        "replay_tool",
        tools,
        "",
        lambda name: wording.one_line(name, 60) or "All tools, definitions unchanged",
        width="stretch",
    )


def _choose_among(label: str, key: str, options: Mapping[str, str], empty: str) -> str:
    return choose_one(label, key, list(options), empty, options.__getitem__, width="stretch")


def _choose_codes(label: str, key: str, meaning: str) -> tuple[str, ...]:
    def parse(text: str) -> list[str]:
        codes = text.split(",")
        if not set(codes) <= CODES.keys():
            raise ValueError(text)
        return codes

    chosen: list[str] = draw_url_widget(
        lambda name: st.multiselect(
            label, list(CODES), st.session_state[name], key=name, placeholder="None", help=meaning
        ),
        key,
        [],
        parse,
        ",".join,
    )
    return tuple(chosen)


def _edit_definition(tool: str) -> tuple[str | None, str | None]:
    """Draw the definition editor. Return the newest stored definition and the edited definition.

    A definition that does not exist is None. The edited definition is also None if it equals the stored
    definition.
    """
    if not tool:
        return None, None
    versions = store_queries.ask("definitions", tools=(tool,), limit=50).to_dict("records")
    newest = _newest_definition(tool, versions)
    begun = newest or json.dumps(
        {"name": tool, "input_schema": {"type": "object", "properties": {}}}, indent=2, ensure_ascii=False
    )
    linked = _linked_text()
    left, right = st.columns(2, gap="medium")
    with left:
        text = edit_definition(
            "replay_definition",
            f"Definition of {wording.one_line(tool, 60)}",
            begun if linked is None else linked,
            _read_tools,
            version=(tool, st.session_state.get("_replay_editor", 0)),
            height=330,
            tool=tool,
        )
        edited = None if text.strip() in ("", begun.strip()) else text
        _write_to_link(edited)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button("Start over", key="replay_start_over", on_click=_start_over, disabled=edited is None)
            st.caption(_describe_versions(versions, newest))
        _warn_of_other_tool(tool, edited)
    with right:
        _draw_edits(tool, begun, edited)
    return newest, edited


def _read_tools(text: str) -> list[ToolDefinition]:
    try:
        return list(parse_definitions(text).values())
    except ScenarioError:
        return []


def _draw_edits(tool: str, begun: str, edited: str | None) -> None:
    st.markdown("**Your edits**")
    before = next((definition for definition in _read_tools(begun) if definition.name == tool), None)
    after = next((definition for definition in _read_tools(edited or "") if definition.name == tool), None)
    if edited is None or before is None or after is None:
        st.caption("No changes yet." if edited is None else "Shown once the definition can be read.")
        return
    changes = unified_diff(
        *(
            json.dumps(definition.to_anthropic(defaults=True), indent=2, ensure_ascii=False)
            for definition in (before, after)
        )
    )
    if not changes:
        st.caption("Only the layout.")
        return
    edits = describe_edits(tool, before.to_json_schema(), after.to_json_schema())
    if edits:
        st.caption(wording.in_markdown(f"As if {'; '.join(edits[:_NAMED])}.", 400))
    st.code(
        wording.visible(changes),
        language="diff",
        wrap_lines=True,
        height=_TALLEST if changes.count("\n") > _LINES else "content",
    )


def _newest_definition(tool: str, versions: Sequence[Mapping[Any, Any]]) -> str | None:
    if not versions or not versions[0]["definition"]:
        return None
    return definition_text(tool, versions[0]["description"], versions[0]["definition"])


def _describe_versions(versions: Sequence[Mapping[Any, Any]], newest: str | None) -> str:
    if newest is None:
        return "No log has a definition of this tool. Yours is the first."
    if len(versions) == 1:
        return "Starts from the only stored definition."
    return (
        f"Starts from version {versions[0]['number']}, the newest of {len(versions)}. To see your edit "
        "alone, compare with the newest definition (More settings)."
    )


def _warn_of_other_tool(tool: str, edited: str | None) -> None:
    """Warn when the edited text defines another tool, whose calls are not parsed again."""
    if edited is None:
        return
    try:
        names = parse_definitions(edited)
    except ScenarioError:
        return
    if tool not in names:
        named = ", ".join(wording.in_markdown(name, 60) for name in names)
        called = wording.in_markdown(tool, 60)
        st.warning(f"This defines {named}, not {called}. Only calls of {called} are parsed again.")


def _linked_text() -> str | None:
    """Return the definition text in the URL. Return None if the text is missing or damaged."""
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
        st.caption(f"{wording.in_markdown(str(too_long), 300)} The result is not affected.")
    if parameter != st.query_params.get(_TEXT):
        write_to_url(_TEXT, parameter)
    st.session_state["_url_definition"] = parameter


def _start_over() -> None:
    write_to_url(_TEXT, None)
    st.session_state["_replay_editor"] = st.session_state.get("_replay_editor", 0) + 1
