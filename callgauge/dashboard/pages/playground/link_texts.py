"""The two texts of the playground, from a link, a stored call or a definition.

A definition is written as Anthropic's shape, which loses nothing of what a store keeps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.dashboard.texts.url_texts import LinkError, pack_text, unpack_text
from callgauge.dashboard.wording import escape
from lenient import ToolCatalog, ToolDefinition, ToolDefinitionError
from lenient.diagnostics import MAX_DEPTH

LONGEST = 1_000_000
"""Characters of a text that is read; more is not, so that one tab cannot busy the server."""
LONGEST_DEFINITION = 200_000
_UNPACKED = 3_000_000  # bytes that a link may unpack to: both texts, and no bomb

_TEXT_IS = {
    "reserialised": "The log kept only the decoded object: its text was written anew.",
    "truncated": "The log cut the text off; the model may have written more.",
    "missing": "The log kept no text of this call.",
}


@dataclass(frozen=True, slots=True)
class PlaygroundTexts:
    """What the editors hold, and sentences on where it comes from and what is wrong with it."""

    raw: str = ""
    definition: str = ""
    notes: tuple[str, ...] = ()


def read_link(parameter: str) -> PlaygroundTexts:
    """The texts that a link carries. Raises LinkError."""
    try:
        carried = json.loads(unpack_text(parameter, _UNPACKED))
    except (ValueError, RecursionError) as damaged:
        if isinstance(damaged, LinkError):
            raise
        raise LinkError("The link is damaged: it carries something else than a call.") from None
    found = carried if isinstance(carried, dict) else {}
    raw, definition = found.get("raw"), found.get("definition")
    if not (
        isinstance(raw, str)
        and isinstance(definition, str)
        and _is_writable(raw)
        and _is_writable(definition)
    ):
        raise LinkError("The link is damaged: it carries something else than a call.")
    return PlaygroundTexts(raw, definition)


def _is_writable(text: str) -> bool:
    """Return True when it can be written out, with no half of a character in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_link_parameter(raw: str, definition: str) -> str:
    """What `linked` reads. Raises LinkError when a link would be too long."""
    return pack_text(json.dumps({"raw": raw, "definition": definition}, ensure_ascii=False))


def texts_of_call(call: Mapping[Any, Any], description: str | None) -> PlaygroundTexts:
    """The texts of a stored call: a row of the metric `call`, and what its tool was described as."""
    notes = []
    raw = call["raw_arguments"]
    if call["args_source"] in _TEXT_IS or raw is None:
        notes.append(_TEXT_IS.get(call["args_source"], _TEXT_IS["missing"]))
    if raw is not None and len(raw) > LONGEST:
        notes.append(f"Its text has {len(raw):,} characters; the playground takes {LONGEST:,} at most.")
        raw = None
    if call["definition"] is None:
        notes.append("The store knows no definition of its tool.")
        return PlaygroundTexts(raw or "", "", tuple(notes))
    told = definition_text(call["tool"] or "unknown", description, call["definition"])
    return PlaygroundTexts(raw or "", told, tuple(notes))


def definition_text(name: str, description: str | None, definition: str | None) -> str:
    """A stored definition as a text to edit, one parameter's schema a block."""
    try:
        schema = json.loads(definition or "null")
        declared: dict[str, Any] = {"name": name, "description": description or ""}
        if schema is not None:
            declared["input_schema"] = schema
        return escape(json.dumps(declared, indent=2, ensure_ascii=False))
    except (ValueError, RecursionError):
        return definition or ""


def parse_tools(text: str) -> list[ToolDefinition]:
    """The tools that a text defines, none for a blank one. Raises ToolDefinitionError: a sentence why not."""
    if not text.strip():
        return []
    if len(text) > LONGEST_DEFINITION:
        raise ToolDefinitionError(
            f"it has {len(text):,} characters; the playground takes {LONGEST_DEFINITION:,} at most"
        )
    try:
        # Decoded here: the catalog would take a text that is not JSON for the path of a file.
        decoded = json.loads(text)
    except RecursionError:
        raise ToolDefinitionError("it is nested too deep") from None
    except ValueError as no_json:
        raise ToolDefinitionError(str(no_json)) from None
    if not _is_shallow(decoded):
        raise ToolDefinitionError("it is nested too deep")
    tools = list(ToolCatalog.load(decoded)) if isinstance(decoded, dict | list) else []
    if not tools:
        raise ToolDefinitionError("it holds no tool: it must be a JSON object or a list of them")
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
    """The tool as one of EXPORTS; JSON in which nothing is invisible, ready to be copied."""
    if shape == "Markdown":
        return tool.to_markdown()
    written = {
        "Anthropic": tool.to_anthropic,
        "OpenAI": tool.to_openai,
        "MCP": tool.to_mcp,
        "Gemini": tool.to_gemini,
    }[shape]()
    return escape(json.dumps(written, indent=2, ensure_ascii=False))
