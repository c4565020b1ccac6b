"""What the gateway says to the model: the two templates, and the sentences that go back after a bad call.

Seed 002 fixes the templates: with tools, no JSON in the text; without, one fenced example and no narration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lenient import ToolCallRequest, ToolDefinition
from lenient.diagnostics.codes import Severity

USE_TOOLS = "Use the tools by calling them. Do not write JSON or tool calls into your answer."
_WRITE_JSON = """You can use these tools:

{tools}
To use a tool, answer with exactly one fenced block and nothing else, neither before nor after it:

```json
{{"tool": "<name of the tool>", "input": {{<its arguments>}}}}
```

When you need no tool, answer in plain text without such a block."""
CALL_BY_INTERFACE = "No tool was run: the call stands in your text. Call the tool by its interface instead."
NO_READABLE_BLOCK = (
    "No tool was run: no call could be read in your answer. "
    "Answer with exactly one fenced block as described, and nothing else."
)
_MOST_SENTENCES = 8


def write_json_template(tools: Iterable[ToolDefinition]) -> str:
    """Return the template of the JSON fallback, for models without tool use only."""
    return _WRITE_JSON.format(tools="\n".join(definition.to_markdown() for definition in tools))


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


def say_unread(raw: str, told: str | None) -> str:
    """Return the text that stands for a call of which no arguments could be read (seed 002)."""
    return f"[tool_use parse error] {told or 'unreadable'}; raw: {raw}"


def say_server_refused(told: str) -> str:
    """Return what a model is told about its call when the server could not parse it."""
    return f"The tool was not run: the server could not read your call ({told}). Call the tool again."


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
