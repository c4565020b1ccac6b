"""Makes a conversation of messages in OpenAI's chat format, as test cases and logs have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.gateway.read_calls import native_history, read_native_calls
from callgauge.gateway.tools.executor import ToolResult
from callgauge.gateway.wires.messages import Call, ChatMessage, Reply
from lenient import ToolCatalog


def read_past_messages(messages: Sequence[Mapping[str, Any]], catalog: ToolCatalog) -> list[ChatMessage]:
    """Return the messages as a history that every wire takes.

    Arguments that are no JSON object stand as text, as in a conversation of our own. A call without a result
    gets an empty one.
    """
    past: list[ChatMessage] = []
    for place, message in enumerate(messages):
        role, text = message.get("role"), message.get("content") or ""
        if role == "assistant":
            past += _read_assistant(message, messages[place + 1 :], catalog)
        elif role in ("system", "user"):
            past.append(ChatMessage(role, text))
    return past


def _read_assistant(
    message: Mapping[str, Any], after: Sequence[Mapping[str, Any]], catalog: ToolCatalog
) -> list[ChatMessage]:
    calls = tuple(
        Call(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    reply = Reply(message.get("content") or "", calls)
    if not calls:
        return [ChatMessage("assistant", reply.text)]
    told = {one["tool_call_id"]: one.get("content") or "" for one in after if one.get("role") == "tool"}
    read = read_native_calls(reply, catalog, id_pattern=None, new_id=lambda number: f"call_past_{number}")
    results = [ToolResult("success", told.get(call.id, "")) for call in calls]
    return native_history(reply, read, results, is_serial=False)
