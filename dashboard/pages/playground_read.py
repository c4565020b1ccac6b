"""Texts in, what the parser makes of them out, remembered for the browser session: typing asks only once."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard.playground import tools_in
from lenient import (
    TextCall,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    extract_tool_calls,
    leaked_tool_calls,
    parse_arguments,
)

_KEPT = 8  # of each kind; a text may have a megabyte


@dataclass(frozen=True, slots=True)
class Tools:
    tools: tuple[ToolDefinition, ...] = ()
    problem: str | None = None


@st.cache_resource(scope="session", max_entries=_KEPT, show_spinner=False)
def tools_of(definition: str) -> Tools:
    """The tools that a text defines, or a sentence on why it defines none."""
    try:
        return Tools(tuple(tools_in(definition)))
    except ToolDefinitionError as unreadable:
        return Tools(problem=str(unreadable))


@st.cache_resource(scope="session", max_entries=_KEPT, show_spinner=False)
def request_of(raw: str, definition: str, which: int | None) -> ToolCallRequest:
    """The arguments read by the tool of that number; None = by no definition."""
    return parse_arguments(raw, None if which is None else tools_of(definition).tools[which])


@st.cache_resource(scope="session", max_entries=_KEPT, show_spinner=False)
def calls_of(text: str, definition: str, dialect: str | None, leaked: bool) -> tuple[TextCall, ...]:
    """The calls in a model's reply; `leaked`: only those that should have been native."""
    tools = tools_of(definition).tools
    catalog = ToolCatalog.of(tools) if tools else None
    if leaked:
        return leaked_tool_calls(text, catalog)
    return extract_tool_calls(text, catalog, dialect=dialect)
