"""Reads training data: ShareGPT's messages, and calls that Hermes models write as text.

A ShareGPT message is `{from: human | gpt | function_call | observation | …, value}`. In the Hermes convention
a model writes `<tool_call>{"name": …, "arguments": {…}}</tool_call>` and gets
`<tool_response>…</tool_response>`; its tools are in `<tools>` of the system prompt. Qwen's chat template uses
the same convention. Text is searched for calls only in ShareGPT's messages and in Hermes conversations. In
other conversations such a text means that the model failed to make a call.

Sources: https://llamafactory.readthedocs.io/en/latest/getting_started/data_preparation.html,
https://github.com/NousResearch/Hermes-Function-Calling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.formats.provider_messages.embedded_json import decode_json, open_json
from lenient.calls import TextCall, extract_tool_calls
from lenient.regex import compile_regex

WRITTEN = (
    # `unify_messages` sets this key in a message whose calls were written in its text.
    "calls_written_as_text"
)

_ROLES = {
    "system": "system",
    "human": "user", "user": "user",
    "gpt": "assistant", "assistant": "assistant", "model": "assistant", "chatgpt": "assistant",
    "function_call": "assistant", "function-call": "assistant", "tool_call": "assistant",
    "observation": "tool", "tool": "tool", "function_response": "tool", "function-response": "tool",
    "tool_response": "tool", "function": "tool",
}  # fmt: skip
_CALLS = ("function_call", "function-call", "tool_call")
_TOOLS = compile_regex(r"<tools>(.*?)</tools>", re.DOTALL)
_RESPONSE = "<tool_response>"
_RESPONSES = compile_regex(r"\s*<tool_response>(.*?)(?:</tool_response>|\Z)", re.DOTALL)
# Glaive's data sets write the arguments as JSON between single quotes.
_QUOTED = compile_regex(
    r"""\s*\{\s*"name":\s*"(?P<name>[^"]+)",\s*"arguments":\s*'(?P<arguments>.*)'\s*\}\s*""", re.DOTALL
)


def unify_messages(messages: list[Any]) -> list[Any]:
    """Return the messages in OpenAI's format. Messages that are not training data stay unchanged."""
    is_share_gpt = any(isinstance(raw, dict) and "from" in raw and "role" not in raw for raw in messages)
    if is_share_gpt:
        messages = [_translate_message(raw) if isinstance(raw, dict) else raw for raw in messages]
    if not is_share_gpt and not any(map(_follows_hermes, messages)):
        return messages
    return [message for raw in messages for message in _read_written(raw)]


def read_prompt_tools(prompt: str | None) -> list[dict[str, Any]]:
    """Return the tool definitions in the `<tools>` tag of a system prompt.

    The tag contains a JSON array, or one JSON object per line.
    """
    for block in reversed(_TOOLS.findall(prompt) if prompt and "<tools>" in prompt else ()):
        listed = open_json(block.strip())
        if isinstance(listed, list | dict):
            return read_objects(listed if isinstance(listed, list) else [listed])
        lines = [decode_json(line) for line in block.splitlines() if line.strip()]
        if lines and all(isinstance(line, dict) for line in lines):
            return lines
    return []


def _translate_message(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a ShareGPT message in OpenAI's format. A message with an unknown `from` stays unchanged."""
    speaker, value = raw.get("from"), raw.get("value")
    role = _ROLES.get(speaker) if isinstance(speaker, str) else None
    if role is None or "role" in raw:
        return raw
    rest = {key: inner for key, inner in raw.items() if key not in ("from", "value")}
    if speaker not in _CALLS:
        return {**rest, "role": role, "content": value}
    calls = list(_read_call_value(value))
    return {**rest, "role": role, "content": None, "tool_calls": calls} if calls else raw


def _read_call_value(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the tool calls of a `function_call` message, whose value is JSON: one call or a list of calls."""
    text = read_text(value)
    if text is not None and (quoted := _QUOTED.fullmatch(text)):
        yield {"function": quoted.groupdict()}
        return
    if text is not None and (calls := extract_tool_calls(text)):
        yield from map(_make_call, calls)
        return
    decoded = open_json(value)
    for call in read_objects(decoded if isinstance(decoded, list) else [decoded]):
        inner = read_object(call.get("function")) or call
        yield {"function": {"name": inner.get("name"), "arguments": inner.get("arguments")}}


def _make_call(call: TextCall) -> dict[str, Any]:
    arguments = call.request.raw_arguments if call.offset is not None else call.request.arguments
    return {"function": {"name": call.name, "arguments": arguments}}


def _follows_hermes(raw: Any) -> bool:
    """Return True when the message shows that the conversation uses the Hermes format.

    Signs are `<tools>` in a system prompt and the form of a tool result.
    """
    content = raw.get("content") if isinstance(raw, dict) else None
    if not isinstance(content, str):
        return False
    if raw.get("role") == "system":
        return "<tool_call>" in content or "<tools>" in content
    return raw.get("role") in ("tool", "user") and content.lstrip().startswith(_RESPONSE)


def _read_written(raw: Any) -> Iterable[Any]:
    """Return a message of a Hermes conversation with the tool calls and results that its text contains."""
    content = raw.get("content") if isinstance(raw, dict) else None
    if not isinstance(content, str) or raw.get("tool_calls"):
        return (raw,)
    if raw.get("role") == "assistant" and "<tool_call>" in content:
        return (_read_written_calls(raw, content),)
    if raw.get("role") in ("tool", "user") and content.lstrip().startswith(_RESPONSE):
        return tuple(_read_responses(raw, content))
    return (raw,)


def _read_written_calls(raw: dict[str, Any], content: str) -> dict[str, Any]:
    calls = extract_tool_calls(content, dialect="hermes")
    if not calls:
        return raw
    beside, at = [], 0
    for call in calls:
        beside.append(content[at : call.start])
        at = call.end
    words = "".join([*beside, content[at:]]).replace("<tool_call>", "").replace("</tool_call>", "").strip()
    return {**raw, "content": words or None, "tool_calls": [*map(_make_call, calls)], WRITTEN: True}


def _read_responses(raw: dict[str, Any], content: str) -> Iterator[Mapping[str, Any]]:
    """Yield a tool message for each tool result in a text.

    The results have no ids. They are in the order of the tool calls.
    """
    for response in _RESPONSES.finditer(content):
        text = response[1].strip()
        answer = read_object(decode_json(text)) if text.startswith("{") else {}
        name = read_text(answer.get("name")) if "content" in answer else None
        yield {**raw, "role": "tool", "content": text, **({"name": name} if name else {})}
