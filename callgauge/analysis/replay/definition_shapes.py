"""Writes a tool definition in the shape in which people write it: of a provider, or as a Python function."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Mapping
from typing import Any

from callgauge.analysis.replay.definition_edits import list_types
from callgauge.analysis.texts.text_diff import unified_diff
from lenient import ToolDefinition

SHAPES: Mapping[str, str] = {
    "openai": "OpenAI",
    "openai-responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "mcp": "MCP",
    "json-schema": "JSON Schema",
    "python": "Python",
}
_BY_FORMAT = {
    "claude_code": "anthropic", "claude_trace": "anthropic", "claude_ai_export": "anthropic",
    "gemini_cli": "gemini", "gemini_contents": "gemini", "antigravity": "gemini", "qwen_code": "gemini",
    "mcp_messages": "mcp", "codex": "openai-responses", "openai_agents": "openai-responses",
    "openai_run_state": "openai-responses",
}  # fmt: skip
_WRITERS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "openai": ToolDefinition.to_openai,
    "openai-responses": ToolDefinition.to_openai_responses,
    "anthropic": ToolDefinition.to_anthropic,
    "gemini": ToolDefinition.to_gemini,
    "mcp": ToolDefinition.to_mcp,
}
_PYTHON_TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None",
    "object": "dict[str, Any]",
}  # fmt: skip
_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "pattern", "format", "example", "examples",
)  # fmt: skip


def choose_shape(source: str, mcp_server: str) -> str:
    """Return the shape in which a definition was most likely written.

    `source` is the log format. Tools of an MCP server are declared by this server. Unknown log formats
    contain requests in the shape of OpenAI.
    """
    return "mcp" if mcp_server else _BY_FORMAT.get(source, "openai")


def write_definition(shape: str, tool: str, definition: Mapping[str, Any]) -> str:
    """Return a definition with the keys description and schema as text. `shape` is a key of SHAPES."""
    schema, description = definition["schema"], definition["description"]
    if shape == "python":
        return _write_function(tool, description, schema)
    if shape == "json-schema":
        written = {"title": tool, **({"description": description} if description else {}), **schema}
    else:
        declared = ToolDefinition.from_json_schema(name=tool, description=description, schema=schema)
        written = _WRITERS[shape](declared, defaults=True)
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


def write_difference(shape: str, tool: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the unified diff of two definitions of a tool in one shape."""
    return unified_diff(write_definition(shape, tool, before), write_definition(shape, tool, after))


# --- Python --------------------------------------------------------------------------------------------


def _write_function(tool: str, description: str, schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    needed = schema.get("required")
    required = needed if isinstance(needed, list) else []
    names = sorted(properties, key=lambda name: name not in required)
    lines = [f"def {_write_name(tool)}("]
    # A parameter without a default cannot follow a parameter with one.
    for name in names:
        declared = properties[name] if isinstance(properties[name], dict) else {}
        hint = _write_type(declared)
        if name in required:
            lines.append(f"    {_write_name(name)}: {hint},")
        elif "default" in declared:
            lines.append(f"    {_write_name(name)}: {hint} = {declared['default']!r},")
        else:
            optional = hint if "None" in hint.split(" | ") else f"{hint} | None"
            lines.append(f"    {_write_name(name)}: {optional} = None,")
    lines = [*lines, ") -> Any:"] if names else [f"def {_write_name(tool)}() -> Any:"]
    docstring = [*_write_text(description)]
    described = [(name, properties[name]) for name in names if isinstance(properties[name], dict)]
    entries = [(name, text) for name, declared in described if (text := _describe(declared))]
    if entries:
        docstring += [*([""] if docstring else []), "Args:"]
        docstring += [f"    {_write_name(name)}: {text}" for name, text in entries]
    body = [f"    {line}".rstrip() for line in docstring]
    if body:
        body = [f'    """{body[0].lstrip()}', *body[1:], '    """']
    return "\n".join([*lines, *body, "    ..."]) + "\n"


def _write_text(text: str) -> list[str]:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').splitlines()


def _describe(declared: Mapping[str, Any]) -> str:
    """Return the description of a parameter on one line, with the limits that a type hint cannot express."""
    written = declared.get("description")
    text = " ".join(" ".join(_write_text(written)).split()) if isinstance(written, str) else ""
    limits = [
        f"{name} {json.dumps(declared[name], ensure_ascii=False)}" for name in _BOUNDS if name in declared
    ]
    extra = "; ".join(_write_text(limit)[0] for limit in limits)
    return f"{text} ({extra})".strip() if extra else text


def _write_type(declared: Mapping[str, Any], depth: int = 0) -> str:
    listed = declared.get("enum")
    if isinstance(listed, list) and listed:
        values = [value for value in listed if value is not None]
        literal = f"Literal[{', '.join(map(repr, values))}]"
        return literal if len(values) == len(listed) else f"{literal} | None"
    for name in ("anyOf", "oneOf"):
        branches = declared.get(name)
        if isinstance(branches, list) and depth < 4:
            hints = [_write_type(each, depth + 1) for each in branches if isinstance(each, dict)]
            return " | ".join(dict.fromkeys(hints)) or "Any"
    hints = []
    for name in list_types(declared):
        items = declared.get("items")
        if name == "array":
            inner = _write_type(items, depth + 1) if isinstance(items, dict) and depth < 4 else "Any"
            hints.append(f"list[{inner}]")
        else:
            hints.append(_PYTHON_TYPES.get(name, "Any"))
    return " | ".join(dict.fromkeys(hints)) or "Any"


def _write_name(name: str) -> str:
    clean = "".join(each if each.isalnum() or each == "_" else "_" for each in name) or "_"
    clean = f"_{clean}" if clean[0].isdigit() else clean
    return f"{clean}_" if keyword.iskeyword(clean) else clean
