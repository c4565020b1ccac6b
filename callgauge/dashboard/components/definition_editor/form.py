"""Draws a form that edits a tool definition: one line for each parameter, and a line to add a parameter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components.definition_editor.parameters import (
    MOST,
    TYPES,
    ParameterField,
    list_parameters,
    write_parameters,
)
from lenient import ToolDefinition

_WORD = re.compile(r"\w{1,40}")
Parse = Callable[[str], Sequence[ToolDefinition]]


@dataclass(slots=True)
class DefinitionForm:
    """The state of a form in a browser session.

    `text` is the definition as the form last returned it, or None before the form is drawn. `base` is the
    definition that filled the fields. `filled` counts how often the fields were filled. `added` is the number
    of added lines.
    """

    text: str | None = None
    base: str = ""
    filled: int = 0
    added: int = 0

    def fill(self, text: str) -> None:
        """Replace the content of the form with a definition."""
        self.text = self.base = text
        self.filled += 1
        self.added = 0

    def close(self) -> None:
        """Discard the edited definition. The next form fills the fields again."""
        self.text = None


def draw_definition_form(key: str, form: DefinitionForm, text: str, parse: Parse, tool: str | None) -> str:
    """Draw the form of one tool that `text` defines, and return the edited definition.

    `parse` returns the tools that a text defines, or no tools for an invalid text. By default the form edits
    the first tool. An edited definition is in Anthropic's format.
    """
    if form.text != text:
        form.fill(text)
    tools = parse(form.base)
    if not tools:
        st.caption("The form needs a valid definition. Write one as JSON first.")
        return text
    which = next((place for place, candidate in enumerate(tools) if candidate.name == tool), 0)
    schema = tools[which].to_json_schema()
    before = list_parameters(schema)
    after = [
        _draw_line(key, form, number, field)
        for number, field in enumerate([*before, *(ParameterField() for _ in range(form.added))])
    ]
    st.button("Add a parameter", key=f"{key}_add", icon=":material/add:", on_click=_add_line, args=(form,))
    more = len(tools[which].parameters) - MOST
    st.caption(
        "Clear a name to remove the parameter. Everything that the form does not show is kept."
        + (f" {wording.plural(more, 'more parameter')} can be edited as JSON." if more > 0 else "")
    )
    if after == before:
        form.text = form.base
    else:
        written = [definition.to_anthropic(defaults=True) for definition in tools]
        written[which]["input_schema"] = write_parameters(schema, before, after)
        form.text = json.dumps(written[0] if len(written) == 1 else written, indent=2, ensure_ascii=False)
    return form.text


def _draw_line(key: str, form: DefinitionForm, number: int, begins: ParameterField) -> ParameterField | None:
    line = f"{key}_{form.filled}_{number}"
    named = _name_in_label(begins.name) if begins.name else "the new parameter"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name = st.text_input(
            f"Name of {named}", begins.name, key=f"{line}_name",
            placeholder="Removed" if begins.name else "Name", label_visibility="collapsed", width=140,
        )  # fmt: skip
        types = st.multiselect(
            f"Types of {named}", TYPES, begins.types, key=f"{line}_types", placeholder="Any type",
            label_visibility="collapsed", width=180,
        )  # fmt: skip
        allowed = st.text_input(
            f"Allowed values of {named}", begins.allowed, key=f"{line}_allowed", placeholder="Any value",
            label_visibility="collapsed", width=120,
        )  # fmt: skip
        required = st.checkbox("Required", begins.required, key=f"{line}_required", width="content")
    kept_types = begins.types if set(types) == set(begins.types) else tuple(types)
    return ParameterField(name.strip(), kept_types, required, allowed.strip()) if name.strip() else None


def _name_in_label(name: str) -> str:
    """Return a parameter's name for a label.

    Plain words are not escaped, because screen readers would read the escapes aloud.
    """
    return name if _WORD.fullmatch(name) else wording.in_markdown(name, 40)


def _add_line(form: DefinitionForm) -> None:
    form.added += 1
