"""A stored call in, the parser's reading of its text anew out: steps and typed values that no store keeps.

Only what the load read is read: never a text that the log cut, nor one of a call that was not made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from lenient import (
    PARSER_VERSION,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    parse_arguments,
)

LONGEST = 1_000_000
"""Characters of a text that is read again; more is not, so that one page cannot busy the server."""


class Reread(NamedTuple):
    """`request` None: it was not read, for the reason in `note`. Else `note` says what may differ."""

    request: ToolCallRequest | None
    note: str | None


def stored_definition(call: Mapping[Any, Any], description: str | None) -> ToolDefinition | None:
    """The definition that a row of the metric `call` was judged by; None without a readable one."""
    try:
        schema = json.loads(call["definition"] or "null")
        return ToolDefinition.from_json_schema(
            name=call["tool"] or "unknown", schema=schema, description=description or ""
        )
    except (ValueError, RecursionError, ToolDefinitionError):
        return None


def reread(call: Mapping[Any, Any], tool: ToolDefinition | None) -> Reread:
    """A row of the metric `call`, read by `tool` with the parser of this installation."""
    raw = call["raw_arguments"]
    if call["fault_layer"] == "emission":
        return Reread(None, "No call was made, so there is nothing to read.")
    if raw is None:
        return Reread(None, "The log kept no text to read.")
    if call["args_source"] == "truncated":
        return Reread(None, "The log cut the text: the model would be blamed for the cut.")
    if call["args_source"] == "reserialised" and tool is None and not call["tools_offered"]:
        return Reread(None, "The log keeps only the decoded object, and no definition to hold it against.")
    if len(raw) > LONGEST:
        return Reread(None, f"The text has {len(raw):,} characters; {LONGEST:,} at most are read again.")
    offered = ToolCatalog() if tool is None and call["tools_offered"] and call["tool"] else tool
    request = parse_arguments(raw, offered, tool_name=call["tool_sent"] or call["tool"])
    return Reread(request, _note(call, tool))


def _note(call: Mapping[Any, Any], tool: ToolDefinition | None) -> str | None:
    notes = []
    stored = call["parser_version"]
    if stored not in (None, PARSER_VERSION):
        notes.append(
            f"Read anew by version {PARSER_VERSION} of the parser; the stored findings are those of version "
            f"{stored}. “callgauge reparse” brings the store up to date."
        )
    if tool is None and call["definition"] is not None:
        notes.append("The stored definition cannot be read, so no type was checked.")
    if call["args_source"] == "reserialised":
        notes.append(
            "The text was written anew from the decoded object: it shows no slip of the model's writing."
        )
    return " ".join(notes) or None
