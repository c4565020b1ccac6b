"""Reads the raw arguments and the definition from a link, a stored call or a stored definition.

Definitions are written in Anthropic's format, which loses nothing of a stored definition.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.texts.url_texts import LinkError, pack_text, unpack_text
from callgauge.analysis.wording import escape
from lenient import ToolCatalog, ToolDefinition, ToolDefinitionError
from lenient.diagnostics import MAX_DEPTH

LONGEST = 1_000_000
"""Maximum length of a parsed text in characters, so that one browser tab cannot block the server."""
LONGEST_DEFINITION = 200_000
_UNPACKED = 3_000_000  # maximum decompressed size of a link in bytes, against compression bombs

_TEXT_IS = {
    "unattributed": "A server may have written this text again, so it may not be the text of the model.",
    "reserialised": "The log kept only the decoded object, so this is not the text that the model sent.",
    "truncated": "The log cut the text off. The model may have written more.",
    "missing": "The log has no text of this call.",
    "redacted": "The arguments are redacted: this is only the placeholder.",
}


@dataclass(frozen=True, slots=True)
class PlaygroundTexts:
    """The contents of the two editors.

    `notes` are sentences about the origin of the contents, and about problems with them.
    """

    raw: str = ""
    definition: str = ""
    notes: tuple[str, ...] = ()


def read_link(parameter: str) -> PlaygroundTexts:
    """Return the editor contents in the link parameter `p`. Raises LinkError if it is damaged."""
    try:
        carried = json.loads(unpack_text(parameter, _UNPACKED))
    except (ValueError, RecursionError) as damaged:
        if isinstance(damaged, LinkError):
            raise
        raise LinkError("The link is damaged: it does not contain a call.") from None
    texts = carried if isinstance(carried, dict) else {}
    raw, definition = texts.get("raw"), texts.get("definition")
    if not (
        isinstance(raw, str)
        and isinstance(definition, str)
        and _is_writable(raw)
        and _is_writable(definition)
    ):
        raise LinkError("The link is damaged: it does not contain a call.")
    return PlaygroundTexts(raw, definition)


def _is_writable(text: str) -> bool:
    """Return True when the text can be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_link_parameter(raw: str, definition: str) -> str:
    """Return the link parameter that `read_link` reads.

    Raises LinkError when the parameter would be too long.
    """
    return pack_text(json.dumps({"raw": raw, "definition": definition}, ensure_ascii=False))


def texts_of_call(call: Mapping[Any, Any], description: str | None) -> PlaygroundTexts:
    """Return the raw arguments and the definition of a stored call, for the editors."""
    notes = []
    raw = call["raw_arguments"]
    if call["args_source"] in _TEXT_IS or raw is None:
        notes.append(_TEXT_IS.get(call["args_source"], _TEXT_IS["missing"]))
    if raw is not None and len(raw) > LONGEST:
        notes.append(f"Its text has {len(raw):,} characters. The limit of the playground is {LONGEST:,}.")
        raw = None
    if call["definition"] is None:
        notes.append("The store has no definition of its tool.")
        return PlaygroundTexts(raw or "", "", tuple(notes))
    definition = definition_text(call["tool"] or "unknown", description, call["definition"])
    return PlaygroundTexts(raw or "", definition, tuple(notes))


def definition_text(name: str, description: str | None, definition: str | None) -> str:
    """Return a stored definition as indented JSON. A definition that is not JSON stays unchanged."""
    try:
        schema = json.loads(definition or "null")
        declared: dict[str, Any] = {"name": name, "description": description or ""}
        if schema is not None:
            declared["input_schema"] = schema
        return escape(json.dumps(declared, indent=2, ensure_ascii=False))
    except (ValueError, RecursionError):
        return definition or ""


def parse_tools(text: str) -> list[ToolDefinition]:
    """Return the tools that a text defines. Return an empty list for a blank text.

    Raises ToolDefinitionError for an invalid text.
    """
    if not text.strip():
        return []
    if len(text) > LONGEST_DEFINITION:
        raise ToolDefinitionError(f"it has {len(text):,} characters; the limit is {LONGEST_DEFINITION:,}")
    try:
        # Decode the text here, because the catalog would treat text that is not JSON as a file path.
        decoded = json.loads(text)
    except RecursionError:
        raise ToolDefinitionError("it is nested too deep") from None
    except ValueError as no_json:
        raise ToolDefinitionError(str(no_json)) from None
    if not _is_shallow(decoded):
        raise ToolDefinitionError("it is nested too deep")
    tools = list(ToolCatalog.load(decoded)) if isinstance(decoded, dict | list) else []
    if not tools:
        raise ToolDefinitionError("it defines no tool; it must be a JSON object or a list of objects")
    return tools


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        holders = [item for item in level if isinstance(item, dict | list)]
        if not holders:
            return True
        level = [inner for item in holders for inner in (item.values() if isinstance(item, dict) else item)]
    return False


EXPORTS = ("Anthropic", "OpenAI", "MCP", "Gemini", "Markdown")


def export_tool(tool: ToolDefinition, shape: str) -> str:
    """Return the tool definition in one of the formats in EXPORTS. JSON escapes invisible characters.

    The result is for a model, so it omits declared defaults, which only the parser uses.
    """
    if shape == "Markdown":
        return tool.to_markdown()
    written = {
        "Anthropic": tool.to_anthropic,
        "OpenAI": tool.to_openai,
        "MCP": tool.to_mcp,
        "Gemini": tool.to_gemini,
    }[shape]()
    return escape(json.dumps(written, indent=2, ensure_ascii=False))
