"""Finds the layer at which a call failed by the text of the tool's result or error.

A framework that could not run a call answers with a sentence of its own, mostly without an error flag. Each
row is one such sentence, as the framework's source has it. A pattern that begins with `^` matches the
framework's whole answer and shows a failure by itself; the other patterns only tell the layer when a flag has
already stated a failure.
"""

from __future__ import annotations

import re

from ingest.events import FaultLayer
from lenient.calls.refusals import LIBRARY_REFUSALS, MCP_REFUSALS

_LONGEST = 4_000  # characters that are looked at; the sentences stand at the beginning
_ROWS = (
    # LangGraph's ToolNode
    (FaultLayer.SCHEMA, r"^Error: \S{1,200} is not a valid tool, try one of \["),
    (FaultLayer.SCHEMA, r"^Error invoking tool '[^'\n]{1,200}' with kwargs "),
    (FaultLayer.SCHEMA, r"^Error: [^\n]{0,100}\d validation errors? for "),
    # Google ADK
    (
        FaultLayer.SCHEMA,
        r'^(?:\{"error":\s?")?Invoking `[^`\n]{1,200}\(\)` failed as the following mandatory ',
    ),
    # Pydantic AI
    (FaultLayer.SCHEMA, r"^Unknown tool name: "),
    (FaultLayer.SCHEMA, r"^\d{1,9} validation errors?:"),
    # Vercel AI SDK
    (FaultLayer.SCHEMA, r"AI_NoSuchToolError|Model tried to call unavailable tool"),
    (FaultLayer.SYNTAX, r"AI_InvalidTool(?:Input|Arguments)Error[^\n]{0,300}JSON parsing failed"),
    (FaultLayer.SYNTAX, r"Invalid (?:input|arguments) for tool [^\n]{0,300}JSON parsing failed"),
    (FaultLayer.SCHEMA, r"AI_InvalidTool(?:Input|Arguments)Error|Invalid (?:input|arguments) for tool "),
    # OpenAI Agents SDK
    (FaultLayer.SYNTAX, r"^Invalid JSON input for tool "),
    (FaultLayer.SYNTAX, r"ModelBehaviorError: Invalid JSON input for tool "),
    # MCP servers: the tool itself refuses
    *((FaultLayer.TOOL_REJECTED, pattern) for pattern in MCP_REFUSALS),
    # JSON and schema libraries
    (FaultLayer.SYNTAX, r"JSONDecodeError|json\.decoder\.|Unexpected token .{1,40} in JSON|not valid JSON"),
    *((FaultLayer.TOOL_REJECTED, pattern) for pattern in LIBRARY_REFUSALS),
)
_TEXTS = tuple((re.compile(pattern), layer) for layer, pattern in _ROWS)


def fault_shown_by(text: str | None) -> FaultLayer | None:
    """Return the layer of the failure when the text alone shows that the call failed; else None."""
    return first_match(text, alone=True)


def fault_layer_in(text: str | None) -> FaultLayer:
    """Return the layer of a call that is known to have failed; EXECUTION when no pattern matches."""
    return first_match(text, alone=False) or FaultLayer.EXECUTION


def first_match(text: str | None, *, alone: bool) -> FaultLayer | None:
    if not text:
        return None
    seen = text[:_LONGEST]
    for pattern, layer in _TEXTS:
        if (not alone or pattern.pattern.startswith("^")) and pattern.search(seen):
            return layer
    return None
