"""Parses a stored tool call again, to get the parser's steps and typed values, which the store does not
contain.

A call that ingest did not parse is not parsed here either: the log cut its text, or the call was not made.
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
from lenient.diagnostics.codes import Stage

LONGEST = 1_000_000
"""The maximum number of characters that are parsed again, so that one page cannot block the server."""

READABLE_SOURCES = ("raw", "unattributed", "reserialised")
"""The values of `tool_calls.args_source` of a text that `lenient` can parse."""


NOT_READ = {
    "emission": "no call was made",
    "truncated": "the log cut the text",
    "missing": "the log keeps no text",
    "redacted": "the arguments are redacted",
    "reserialised": "the log keeps only the decoded object, and no definition is known",
}
"""The reasons why a call is not parsed again, in words."""

_SENTENCES = {
    "emission": "No call was made, so there is nothing to read.",
    "truncated": "The log cut the text: the model would be blamed for the cut.",
    "missing": "The log kept no text to read.",
    "redacted": "The arguments are redacted: the log has only a placeholder.",
    "reserialised": "The log has only the decoded object, and no definition to check it against.",
}
_NONE_OF_THESE = ToolCatalog()


class ReparsedCall(NamedTuple):
    """The result of parsing a stored call again.

    If the call was not parsed, `request` is None and `note` says why. Otherwise `note` says how the result
    may differ from the stored result. `note` is None when nothing differs.
    """

    request: ToolCallRequest | None
    note: str | None


def restore_definition(call: Mapping[Any, Any], description: str | None) -> ToolDefinition | None:
    """Return the tool definition with which ingest parsed a row of the metric `call`.

    Return None if the definition cannot be read.
    """
    try:
        schema = json.loads(call["definition"] or "null")
        return ToolDefinition.from_json_schema(
            name=call["tool"] or "unknown", schema=schema, description=description or ""
        )
    except (ValueError, RecursionError, ToolDefinitionError):
        return None


def why_not_read(
    args_source: str, raw: str | None, definition: ToolDefinition | None, *, made: bool, offered: bool
) -> str | None:
    """Return why ingest did not parse a call, as a key of NOT_READ. Return None when ingest parsed it.

    `made` is False if the model's output did not become a call. `offered` is True if the log lists the
    offered tools.
    """
    if not made:
        return "emission"
    if args_source in ("truncated", "redacted"):
        return args_source
    if raw is None or args_source not in READABLE_SOURCES:
        return "missing"
    if args_source == "reserialised" and definition is None and not offered:
        return "reserialised"
    return None


def definition_used(
    definition: ToolDefinition | None, tool: str | None, *, offered: bool
) -> ToolDefinition | ToolCatalog | None:
    """Return the definition or catalog with which ingest parsed a call.

    Return None when ingest had no definition. If the log lists the offered tools, and the called tool is not
    among them, return an empty catalog.
    """
    return _NONE_OF_THESE if definition is None and offered and tool is not None else definition


def reparse_call(call: Mapping[Any, Any], tool: ToolDefinition | None) -> ReparsedCall:
    """Return the result of parsing a row of the metric `call` again, with the definition `tool` and the
    installed parser.
    """
    raw = call["raw_arguments"]
    if call.get("text_removed"):
        return ReparsedCall(None, "The text was removed, so it cannot be read again.")
    if raw is None and call["args_source"] != "missing":  # the server hides content
        return ReparsedCall(None, "The text is not here to be read again.")
    made, offered = call["fault_layer"] != "emission", bool(call["tools_offered"])
    reason = why_not_read(call["args_source"], raw, tool, made=made, offered=offered)
    if reason is not None:
        return ReparsedCall(None, _SENTENCES[reason])
    if len(raw) > LONGEST:
        return ReparsedCall(
            None, f"The text has {len(raw):,} characters; {LONGEST:,} at most are read again."
        )
    used_definition = definition_used(tool, call["tool"], offered=offered)
    request = parse_arguments(raw, used_definition, tool_name=call["tool_sent"] or call["tool"])
    return ReparsedCall(request, _difference_note(call, tool))


def _difference_note(call: Mapping[Any, Any], tool: ToolDefinition | None) -> str | None:
    notes = []
    stored = call["parser_version"]
    if stored not in (None, PARSER_VERSION):
        notes.append(
            f"Parsed again by parser version {PARSER_VERSION}; the stored diagnostics are from version "
            f"{stored}. “callgauge reparse” updates the store."
        )
    if tool is None and call["definition"] is not None:
        notes.append("The stored definition cannot be read, so no type was checked.")
    if call["args_source"] == "unattributed":
        notes.append("A server may have written this text again, so it may hide mistakes of the model.")
    if call["args_source"] == "reserialised":
        notes.append(
            "The text was reconstructed from the decoded object, so it cannot show mistakes of the model."
        )
    return " ".join(notes) or None


def read_member_texts(request: ToolCallRequest) -> Mapping[str, str]:
    """Return the raw text of each argument if the raw arguments are a JSON object.

    If a name occurs twice, the last value is used.
    """
    raw, decoder, texts = request.raw_arguments, json.JSONDecoder(), dict[str, str]()
    if not isinstance(raw, str) or any(
        diagnostic.stage in _TEXT_STAGES for diagnostic in request.diagnostics
    ):
        return texts
    try:
        at = _skip_blanks(raw, 0)
        while raw[at] in "{,":
            name, at = decoder.raw_decode(raw, _skip_blanks(raw, at + 1))
            start = _skip_blanks(raw, _skip_blanks(raw, at) + 1)
            end = decoder.raw_decode(raw, start)[1]
            texts[name] = raw[start:end]
            at = _skip_blanks(raw, end)
    except (ValueError, IndexError, RecursionError):
        pass  # the object is empty, or contains a number that is too long for Python
    return texts


_TEXT_STAGES = (Stage.UNWRAP, Stage.REPAIR)


def _skip_blanks(text: str, at: int) -> int:
    while text[at] in " \t\n\r":
        at += 1
    return at
