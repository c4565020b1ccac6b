"""The texts that the playground begins with, as the URL names them: an example, a call, a link, a tool.

What was typed stays on the desk of the browser session until the URL names something else.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from callgauge.dashboard import store_queries
from callgauge.dashboard.components.controls import editor
from callgauge.dashboard.components.controls.url_widgets import write_to_url
from callgauge.dashboard.metrics import MetricError
from callgauge.dashboard.pages.playground.link_texts import (
    PlaygroundTexts,
    definition_text,
    read_link,
    texts_of_call,
)
from callgauge.dashboard.pages.playground.playground_examples import EXAMPLES, REPLIES
from callgauge.dashboard.texts.url_texts import LinkError

ROADS = ("p", "call", "example")
"""The parameters that bring both texts; the first that is there counts."""
KNOWN = "known"
"""The parameter that brings a stored definition, by its id."""
_DESK = "_playground"
_ECHOED = 20_000  # characters
_LOST = ("There is no store to take it from.",)


@dataclass(slots=True)
class EditorDesk:
    """Both texts as they are, as they were put in, and a version that grows when another is put in.

    `form`: the raw text that the form was opened on, None while the text itself is edited; `form_by`: the
    definition it was made from; `forms`: how often one was opened.
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
        begins = _editor_beginning(self.definition, self.definition_put)
        self.definition = editor.editor(
            "definition",
            label,
            begins,
            height=height,
            version=self.definition_version,
            placeholder=placeholder,
        )

    def begin_with(self, texts: PlaygroundTexts) -> None:
        self.put_raw(texts.raw)
        self.put_definition(texts.definition)
        self.notes, self.problem, self.form = texts.notes, None, None


def _editor_beginning(text: str, put_in: str) -> str:
    """What an editor that is drawn anew begins with: a long text does not travel back at each keystroke."""
    return text if len(text) <= _ECHOED else put_in


def open_desk() -> EditorDesk:
    """The desk as the URL asks for it."""
    found: EditorDesk = st.session_state.setdefault(_DESK, EditorDesk())
    roads = tuple(st.query_params.get(name) for name in ROADS)
    known = st.query_params.get(KNOWN)
    begun = found.roads != roads
    try:
        if begun:
            found.roads = roads
            found.begin_with(_texts_of_url())
        if known != found.known or (begun and known):
            found.known = known
            if known:
                found.put_definition(_known_definition_text(known))
    except (LinkError, MetricError) as problem:
        found.begin_with(PlaygroundTexts())
        found.problem = str(problem)
    return found


def clear_desk() -> None:
    """Empty both editors; what named their texts goes out of the URL."""
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
    example = next((one for one in (*EXAMPLES, *REPLIES) if one.title == title), None)
    if example is None:
        return (
            PlaygroundTexts()
            if title is None
            else PlaygroundTexts(notes=("There is no example of that name.",))
        )
    return PlaygroundTexts(example.raw, example.definition)


def _texts_of_stored(call: str) -> PlaygroundTexts:
    if not store_queries.is_open():
        return PlaygroundTexts(notes=_LOST)
    rows = store_queries.ask("call", call=call).to_dict("records")
    if not rows:
        return PlaygroundTexts(notes=("The store holds no call with this id.",))
    told = _read_definition(rows[0]["definition_id"])
    return texts_of_call(rows[0], told["text"] if told else None)


def _known_definition_text(definition_id: str) -> str:
    told = _read_definition(definition_id)
    if told is None:
        raise MetricError("The store holds no tool definition with this id.")
    rows = store_queries.ask("known_definitions").to_dict("records")
    tool = next((row["tool"] for row in rows if row["definition_id"] == definition_id), "unknown")
    return definition_text(tool, told["text"], told["definition"])


def _read_definition(definition_id: str | None) -> dict[Hashable, Any] | None:
    """What the store says of a definition: the tool's description as `text`, and its schema."""
    if definition_id is None or not store_queries.is_open():
        return None
    rows = store_queries.ask("version_text", kind="tool", id=definition_id).to_dict("records")
    return rows[0] if rows else None
