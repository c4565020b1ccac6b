"""Draws a form with an input for each parameter of a tool. The form writes the raw arguments."""

from __future__ import annotations

from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.pages.playground import definition_form
from callgauge.dashboard.pages.playground.definition_form import FormField
from callgauge.dashboard.pages.playground.link_texts import LONGEST
from callgauge.dashboard.pages.playground.parsing import parse_request
from callgauge.dashboard.pages.playground.start import EditorDesk
from lenient import ToolDefinition

_WAYS = {"text": "Text", "form": "Form"}


def is_chosen() -> bool:
    """Draw the choice between JSON and form. Return True when the form is chosen."""
    return choose_segment("Raw arguments as", "input", list(_WAYS), _WAYS.__getitem__) == "form"


def show(desk: EditorDesk, tool: ToolDefinition | None, which: int | None) -> None:
    """Draw the form, filled with the parsed arguments. A changed input rewrites the raw arguments.

    If no tool is defined, draw a hint instead.
    """
    if tool is None:
        st.caption("The form needs a definition: paste one below, or load a stored one.")
        return
    if desk.form is None or desk.form_by != (desk.definition, which):
        desk.form, desk.form_by, desk.forms = desk.raw, (desk.definition, which), desk.forms + 1
    arguments = _parse_arguments(desk.form, desk.definition, which)
    fields = definition_form.list_fields(tool, arguments)
    if not fields:
        st.caption("The definition has no parameters.")
        return
    values = [_draw_input(field, f"form_{desk.forms}_{number}") for number, field in enumerate(fields)]
    if len(tool.parameters) > len(fields):
        st.caption(
            f"The first {len(fields)} of {len(tool.parameters):,} parameters. Edit the others as text."
        )
    if values != [field.value for field in fields]:
        written = definition_form.write_arguments(fields, values, arguments)
    else:
        written = desk.form
    if written != desk.raw:
        desk.put_raw(written)
    st.caption("An empty input is left out of the raw arguments.")


def _parse_arguments(raw: str, definition: str, which: int | None) -> dict[str, Any]:
    if len(raw) > LONGEST or not raw.strip():
        return {}
    return parse_request(raw, definition, which).arguments or {}


def _draw_input(field: FormField, key: str) -> Any:
    """Draw one input and return its value. A parameter whose value is None or empty is omitted."""
    label = wording.in_markdown(field.name, 60) + ("" if field.required else " :gray[(optional)]")
    about = wording.in_markdown(field.description, 300) if field.description else None
    value = field.value
    if field.input == "choice":
        return st.selectbox(
            label, field.options, field.options.index(value) if value is not None else None,
            key=key, help=about, placeholder="Left out", format_func=lambda text: wording.one_line(text, 80),
        )  # fmt: skip
    if field.input == "truth":
        words = {True: "true", False: "false"}
        return st.segmented_control(
            label, list(words), default=value, format_func=words.__getitem__, key=key, help=about
        )
    if field.input == "whole":
        return st.number_input(label, value=value, step=1, key=key, help=about, placeholder="Left out")
    if field.input == "number":
        begins = None if value is None else float(value)
        return st.number_input(label, value=begins, format="%g", key=key, help=about, placeholder="Left out")
    if field.input in ("lines", "json"):
        return (
            st.text_area(label, value or "", key=key, help=about, placeholder=field.hint, height=96) or None
        )
    return (
        st.text_input(label, value or "", key=key, help=about, placeholder=field.hint or "Left out") or None
    )
