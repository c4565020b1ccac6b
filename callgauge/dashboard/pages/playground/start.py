"""Fills the editors with what the URL names: an example, a call, a link or a definition.

Typed text stays in the editors for the browser session until the URL names something else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from callgauge.analysis.metrics import MetricError
from callgauge.analysis.texts.url_texts import LinkError
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.controls import editor
from callgauge.dashboard.components.definition_editor.editor import edit_definition
from callgauge.dashboard.pages.playground.link_texts import (
    PlaygroundTexts,
    definition_text,
    read_link,
    texts_of_call,
)
from callgauge.dashboard.pages.playground.parsing import parse_tools_cached
from callgauge.dashboard.pages.playground.playground_examples import EXAMPLES, REPLIES
from callgauge.dashboard.url_keys import write_to_url

ROADS = ("p", "call", "example")
"""The URL parameters that name both texts, in order of precedence."""
KNOWN = "known"
"""The URL parameter that names a stored definition by its id."""
_DESK = "_playground"
_ECHOED = 20_000  # characters; longer texts are not sent back to the browser on each keystroke
_NO_STORE = ("This call cannot be loaded: there is no store.",)


@dataclass(slots=True)
class EditorDesk:
    """The state of the playground's two editors in a browser session.

    `raw` and `definition` are the current texts. `raw_put` and `definition_put` are the texts that the page
    last set. Each new text increases a version number. `roads` and `known` hold the URL parameters from which
    the texts came. `form` is the raw text that filled the form, or None while a person edits the text
    directly. `form_by` holds the definition and the tool index of the form.
    """

    roads: tuple[str | None, ...] | None = None
    known: str | None = None
    raw: str = ""
    raw_put: str = ""
    raw_version: int = 0
    definition: str = ""
    definition_put: str = ""
    definition_version: int = 0
    notes: tuple[str, ...] = ()
    problem: str | None = None
    form: str | None = None
    form_by: tuple[str, int | None] = ("", None)
    forms: int = 0

    def put_raw(self, text: str) -> None:
        self.raw = self.raw_put = text
        self.raw_version += 1

    def put_definition(self, text: str) -> None:
        self.definition = self.definition_put = text
        self.definition_version += 1

    def edit_raw(self, label: str, placeholder: str, height: int) -> None:
        begins = _editor_beginning(self.raw, self.raw_put)
        self.raw = editor.editor(
            "raw", label, begins, height=height, version=self.raw_version, placeholder=placeholder
        )

    def edit_definition(self, label: str, placeholder: str, height: int) -> None:
        self.definition = edit_definition(
            "definition",
            label,
            self.definition_put,
            lambda text: parse_tools_cached(text).tools,
            version=self.definition_version,
            height=height,
            placeholder=placeholder,
        )

    def begin_with(self, texts: PlaygroundTexts) -> None:
        self.put_raw(texts.raw)
        self.put_definition(texts.definition)
        self.notes, self.problem, self.form = texts.notes, None, None


def _editor_beginning(text: str, put_in: str) -> str:
    """Return the text for drawing an editor again: `text`, or `put_in` when `text` is too long to send."""
    return text if len(text) <= _ECHOED else put_in


def open_desk() -> EditorDesk:
    """Return the session's editors.

    The editors are filled again when the URL names other contents. If these cannot be read, the editors are
    empty and `problem` is the reason.
    """
    desk: EditorDesk = st.session_state.setdefault(_DESK, EditorDesk())
    roads = tuple(st.query_params.get(name) for name in ROADS)
    definition_id = st.query_params.get(KNOWN)
    begun = desk.roads != roads
    try:
        if begun:
            desk.roads = roads
            desk.begin_with(_texts_of_url())
        if definition_id != desk.known or (begun and definition_id):
            desk.known = definition_id
            if definition_id:
                desk.put_definition(_known_definition_text(definition_id))
    except (LinkError, MetricError) as problem:
        desk.begin_with(PlaygroundTexts())
        desk.problem = str(problem)
    return desk


def clear_desk() -> None:
    """Empty both editors, and remove the parameters that fill the editors from the URL."""
    begin_with(None)
    open_desk().begin_with(PlaygroundTexts())


def begin_with(example: str | None) -> None:
    for name in (*ROADS, KNOWN):
        write_to_url(name, None)
    write_to_url("example", example)


def _texts_of_url() -> PlaygroundTexts:
    if parameter := st.query_params.get("p"):
        return replace(read_link(parameter), notes=("From a link.",))
    if call := st.query_params.get("call"):
        return _texts_of_stored(call)
    title = st.query_params.get("example")
    example = next((candidate for candidate in (*EXAMPLES, *REPLIES) if candidate.title == title), None)
    if example is None:
        return (
            PlaygroundTexts()
            if title is None
            else PlaygroundTexts(notes=("There is no example with this name.",))
        )
    return PlaygroundTexts(example.raw, example.definition)


def _texts_of_stored(call: str) -> PlaygroundTexts:
    if not store_queries.is_open():
        return PlaygroundTexts(notes=_NO_STORE)
    rows = store_queries.ask("call", call=call).to_dict("records")
    if not rows:
        return PlaygroundTexts(notes=("The store has no call with this id.",))
    stored = _read_definition(rows[0]["definition_id"])
    return texts_of_call(rows[0], stored["text"] if stored else None)


def _known_definition_text(definition_id: str) -> str:
    stored = _read_definition(definition_id)
    if stored is None:
        raise MetricError("The store has no tool definition with this id.")
    rows = store_queries.ask("known_definitions").to_dict("records")
    tool = next((row["tool"] for row in rows if row["definition_id"] == definition_id), "unknown")
    return definition_text(tool, stored["text"], stored["definition"])


def _read_definition(definition_id: str | None) -> dict[Hashable, Any] | None:
    """Return the stored definition, or None. In the definition, `text` is the tool's description."""
    if definition_id is None or not store_queries.is_open():
        return None
    rows = store_queries.ask("version_text", kind="tool", id=definition_id).to_dict("records")
    return rows[0] if rows else None
