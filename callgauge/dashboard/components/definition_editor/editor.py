"""Draws the editor of a tool definition, as JSON or as a form."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import streamlit as st

from callgauge.dashboard.components.controls.editor import editor
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.definition_editor.form import DefinitionForm, Parse, draw_definition_form

URL_KEY = "as"
"""The URL key that says whether the definition is edited as JSON or as a form. The page declares the key."""
_WAYS = {"json": "JSON", "form": "Form"}
_ECHOED = 20_000  # characters; longer texts are not sent back to the browser on each keystroke


@dataclass(slots=True)
class _EditedDefinition:
    """The state of the editor in a browser session.

    `text` is the edited text. A new `version` resets the editor. `put` is the text that the page last set,
    and `puts` counts how often the page has set a text.
    """

    version: Hashable = None
    text: str = ""
    put: str = ""
    puts: int = 0
    form: DefinitionForm = field(default_factory=DefinitionForm)

    def put_in(self, text: str) -> None:
        self.text = self.put = text
        self.puts += 1


def edit_definition(
    key: str,
    label: str,
    text: str,
    parse: Parse,
    *,
    version: Hashable,
    height: int,
    tool: str | None = None,
    placeholder: str = "",
) -> str:
    """Draw the editor and return the current JSON of the definition.

    The editor begins with `text`. A new `version` resets the editor to `text`. `parse` returns the tools that
    a JSON text defines, or no tools for invalid JSON. The form edits `tool`, by default the first tool.
    `height` is in pixels.
    """
    edited: _EditedDefinition = st.session_state.setdefault(f"_{key}_edited", _EditedDefinition())
    if edited.version != version or not edited.puts:
        edited.version = version
        edited.put_in(text)
    if choose_segment("Edit the definition as", URL_KEY, list(_WAYS), _WAYS.__getitem__) == "form":
        written = draw_definition_form(f"{key}_form", edited.form, edited.text, parse, tool)
        if written != edited.text:
            edited.put_in(written)
        return written
    edited.form.close()
    begins = edited.text if len(edited.text) <= _ECHOED else edited.put
    edited.text = editor(key, label, begins, height=height, version=edited.puts, placeholder=placeholder)
    return edited.text
