"""Converts messages in OpenAI's chat format or in Inspect's format to the messages of a task file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from callgauge.trials.planning.foreign_tasks.records import ForeignTaskError

_PARSE_ERROR = re.compile(
    r"Error parsing the following tool call arguments:\n\n(?P<raw>.*)\n\nError details:", re.DOTALL
)
_ROLES = ("system", "developer", "user", "assistant", "tool")


def read_messages(messages: Any) -> list[dict[str, Any]]:
    """Convert messages to OpenAI's chat format. Raises ForeignTaskError.

    Arguments that Inspect could not parse keep their original text.
    """
    if not isinstance(messages, list) or not messages:
        raise ForeignTaskError("the messages are not a list, or an empty one")
    read = [_read_message(message, place) for place, message in enumerate(messages, start=1)]
    _complete_ids(read)
    if read[-1]["role"] not in ("user", "tool"):
        raise ForeignTaskError(
            "the last message must be the user's or a tool's result: the model is asked after it"
        )
    return read


def _complete_ids(messages: list[dict[str, Any]]) -> None:
    """Give an id to each tool call without an id, and the same id to the result of the call."""
    waiting: list[str] = []
    for place, message in enumerate(messages):
        for number, call in enumerate(message.get("tool_calls", ())):
            call["id"] = call["id"] or f"call_{place}_{number}"
            waiting.append(call["id"])
        if message["role"] == "tool":
            message["tool_call_id"] = message["tool_call_id"] or (waiting[0] if waiting else "")
            if message["tool_call_id"] not in waiting:
                raise ForeignTaskError(f"message {place + 1} is the result of no call before it")
            waiting.remove(message["tool_call_id"])


def _read_message(message: Any, place: int) -> dict[str, Any]:
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in _ROLES:
        raise ForeignTaskError(f"message {place} has no role of {', '.join(_ROLES)}")
    text = _join_content(message.get("content"), place)
    if role == "tool":
        return {"role": role, "tool_call_id": str(message.get("tool_call_id") or ""), "content": text}
    read: dict[str, Any] = {"role": "system" if role == "developer" else role}
    calls = message.get("tool_calls") or ()
    if text or not calls:
        read["content"] = text
    if calls:
        read["tool_calls"] = [_read_call(call, place) for call in calls]
    return read


def _join_content(content: Any, place: int) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    texts = [
        part if isinstance(part, str) else part.get("text") if _is_text(part) else None for part in parts
    ]
    if None in texts:
        raise ForeignTaskError(f"message {place} has content other than text, which trials do not support")
    return "\n".join(str(text) for text in texts)


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str)


def _read_call(call: Any, place: int) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    # Inspect puts the name in `function`, and quotes unparsable arguments in `parse_error`.
    described = {"name": function, **call} if isinstance(function, str) else function
    if not isinstance(described, Mapping):
        described = {}
    name, arguments, unread = (described.get(key) for key in ("name", "arguments", "parse_error"))
    if not isinstance(name, str) or not name:
        raise ForeignTaskError(f"a call of message {place} names no tool")
    if isinstance(unread, str) and unread:
        quoted = _PARSE_ERROR.search(unread)
        arguments = quoted["raw"] if quoted else unread
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return {
        "id": str(call.get("id") or ""),
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
