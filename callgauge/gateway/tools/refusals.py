"""What a model is told about a call for which no tool was run."""

from __future__ import annotations

from collections.abc import Sequence

from lenient import ToolCallRequest, ToolDefinition
from lenient.diagnostics.codes import Severity

_MOST_SENTENCES = 8


def say_refusal(request: ToolCallRequest, definition: ToolDefinition) -> str:
    """Return why a call was not run: the parser's codes, its sentences, and what the tool takes."""
    told = request.parse_error or f"The arguments lost meaning when they were read: {request.parse_warning}"
    grave = [
        found.message
        for found in request.diagnostics
        if found.severity is Severity.ERROR or found.lossy or not request.policy.accepts((found,))
    ]
    lines = [f"- {sentence}" for sentence in grave[:_MOST_SENTENCES]]
    if len(grave) > _MOST_SENTENCES:
        lines.append(f"- and {len(grave) - _MOST_SENTENCES} more")
    wanted = f"Call the tool again with arguments that fit its definition: {describe_parameters(definition)}"
    return "\n".join([f"The tool was not run. {told}", *lines, wanted])


def say_cut_off(definition: ToolDefinition) -> str:
    """Return what a model is told about a call that the end of its answer cut off."""
    return (
        "The tool was not run. Your answer ended before the call did. "
        f"Send the whole call again: {describe_parameters(definition)}"
    )


def say_unknown_tool(name: str | None, near: Sequence[str], offered: Sequence[str]) -> str:
    """Return what a model is told that called a tool which is not there."""
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = f" The tools are: {', '.join(offered)}." if offered else " There are no tools."
    return f"There is no tool {name or '(without a name)'}.{hint}{listed}"


def describe_parameters(definition: ToolDefinition) -> str:
    """Return a definition in one line: `search_orders(customer: string, limit?: integer)`."""
    schema = definition.to_json_schema()
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    parts = [
        f"{name}{'' if name in required else '?'}: {_name_type(entry)}" for name, entry in properties.items()
    ]
    return f"{definition.name}({', '.join(parts)})"


def describe_call(request: ToolCallRequest) -> str:
    """Return a call in one short line, for a program's own log."""
    return f"{request.tool_name}[{request.tool_call_id}]"


def _name_type(entry: object) -> str:
    if not isinstance(entry, dict):
        return "any"
    if isinstance(entry.get("enum"), list):
        return " | ".join(map(repr, entry["enum"]))
    kind = entry.get("type", "any")
    named = " | ".join(kind) if isinstance(kind, list) else str(kind)
    low, high = entry.get("minimum"), entry.get("maximum")
    bounds = "".join([f" ≥ {low}" if low is not None else "", f" ≤ {high}" if high is not None else ""])
    return named + bounds
