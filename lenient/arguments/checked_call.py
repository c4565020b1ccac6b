"""Decides whether a tool may be called with the arguments. If not, writes the reply that tells the model the
reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from lenient.arguments.parse import parse_arguments
from lenient.arguments.request import LENIENT, Policy, ToolCallRequest
from lenient.definitions.tools import ToolCatalog, ToolDefinition
from lenient.diagnostics.codes import Severity

_MOST_SENTENCES = 8


class CheckedCall(NamedTuple):
    """The arguments for calling the tool, or the reply that refuses the tool call.

    Exactly one of `arguments` and `reply` is None. `arguments` include the declared defaults. `request`
    contains the diagnostics.
    """

    arguments: dict[str, Any] | None
    reply: str | None
    request: ToolCallRequest


def check_call(
    name: str | None,
    raw: str | bytes | Mapping[str, Any],
    tools: ToolDefinition | ToolCatalog,
    *,
    policy: Policy = LENIENT,
    accepts_lossy: bool = False,
) -> CheckedCall:
    """Return the arguments for calling the tool, or the reply to send to the model as the tool's result.

    `raw` is the string that the model sent, or the object that an SDK decoded from this string. `tools` are
    the definitions that the model was offered.

    A tool call is refused when the tool is unknown, when the arguments cannot be read, or when `policy` does
    not accept the arguments. A call whose arguments lost meaning is refused unless `accepts_lossy` is True.

    Never raises for any string.
    """
    text = json.dumps(raw, default=str) if isinstance(raw, Mapping) else raw
    request = parse_arguments(text, tools, policy=policy, tool_name=name)
    if request.tool is None:
        offered = [tool.name for tool in tools] if isinstance(tools, ToolCatalog) else [tools.name]
        return CheckedCall(None, describe_unknown_tool(request.tool_name, offered), request)
    if not request.accepted_under(policy) or (request.lossy and not accepts_lossy):
        return CheckedCall(None, describe_refusal(request, request.tool), request)
    request = request.with_defaults()
    return CheckedCall(request.arguments, None, request)


def describe_refusal(request: ToolCallRequest, definition: ToolDefinition) -> str:
    """Return the message that tells the model why the tool call was refused, with the tool's parameters."""
    reason = request.parse_error or f"The arguments lost meaning when they were read: {request.parse_warning}"
    grave = [
        diagnostic.message
        for diagnostic in request.diagnostics
        if diagnostic.severity is Severity.ERROR
        or diagnostic.lossy
        or not request.policy.accepts((diagnostic,))
    ]
    lines = [f"- {sentence}" for sentence in grave[:_MOST_SENTENCES]]
    if len(grave) > _MOST_SENTENCES:
        lines.append(f"- and {len(grave) - _MOST_SENTENCES} more")
    wanted = f"Call the tool again with arguments that fit its definition: {_describe_parameters(definition)}"
    return "\n".join([f"The tool was not run. {reason}", *lines, wanted])


def describe_cut_off(definition: ToolDefinition) -> str:
    return (
        "The tool was not run. Your answer ended before the call did. "
        f"Send the whole call again: {_describe_parameters(definition)}"
    )


def describe_unknown_tool(name: str | None, offered: Sequence[str]) -> str:
    near = get_close_matches(name or "", offered, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = f" The tools are: {', '.join(offered)}." if offered else " No tools are available."
    return f"There is no tool {name or '(without a name)'}.{hint}{listed}"


def _describe_parameters(definition: ToolDefinition) -> str:
    """Return the tool's signature in one line: `search_orders(customer: string, limit?: integer)`."""
    schema = definition.to_json_schema()
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    parts = [
        f"{name}{'' if name in required else '?'}: {_name_type(entry)}" for name, entry in properties.items()
    ]
    return f"{definition.name}({', '.join(parts)})"


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
