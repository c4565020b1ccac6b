"""Parses the contents of the playground's editors, with a cache per browser session."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from callgauge.dashboard.pages.playground.link_texts import parse_tools
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

_CACHED = 8  # cached results of each kind; few, because a text may have a megabyte


@dataclass(frozen=True, slots=True)
class ParsedTools:
    tools: tuple[ToolDefinition, ...] = ()
    problem: str | None = None


@st.cache_resource(scope="session", max_entries=_CACHED, show_spinner=False)
def parse_tools_cached(definition: str) -> ParsedTools:
    """Return the tools that a text defines, or a sentence on why the text cannot be parsed."""
    try:
        return ParsedTools(tuple(parse_tools(definition)))
    except ToolDefinitionError as unreadable:
        return ParsedTools(problem=str(unreadable))


@st.cache_resource(scope="session", max_entries=_CACHED, show_spinner=False)
def parse_request(raw: str, definition: str, which: int | None) -> ToolCallRequest:
    """Parse the raw arguments for the tool with the index `which`.

    When `which` is None, there is no tool definition.
    """
    return parse_arguments(raw, None if which is None else parse_tools_cached(definition).tools[which])


@st.cache_resource(scope="session", max_entries=_CACHED, show_spinner=False)
def find_calls(text: str, definition: str, dialect: str | None, leaked: bool) -> tuple[TextCall, ...]:
    """Return the tool calls in a model's reply.

    `dialect` is the dialect of the reply, or None if it is unknown. With `leaked`, only calls that should
    have been native are returned.
    """
    tools = parse_tools_cached(definition).tools
    catalog = ToolCatalog.from_definitions(tools) if tools else None
    if leaked:
        return leaked_tool_calls(text, catalog)
    return extract_tool_calls(text, catalog, dialect=dialect)
