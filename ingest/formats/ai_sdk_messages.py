"""Messages of the Vercel AI SDK, as applications store their chats.

**Files.** Applications save `messages` (of `useChat` or `generateText`) in their own files. No real file was
available; the fields come from the documentation (https://ai-sdk.dev/docs/reference/ai-sdk-core).

**Fields.** A file is an array of messages, one message per line, or objects with `messages` and `id`, each of
them one chat.
- Interface messages: `{id, role, parts[]}` with `{type: "tool-<name>" | "dynamic-tool", toolCallId, state,
  input, output, errorText}`. Before version 5.0: `{type: "tool-invocation", toolInvocation.{state,
  toolCallId, toolName, args, result}}`, or `toolInvocations` next to a text.
- Model messages: `{role, content[]}` with `tool-call` and `tool-result` parts.

**Rules.**
- An interface message may contain several steps (`step-start`), each with its calls and results.
- `state` is the error flag: `output-available`, `output-error`, `output-denied`. Before 5.0, `result` does
  not show whether the call failed.
- A call with invalid arguments has `rawInput`, the model's text. Its `errorText` is the reason.
- Calls with `providerExecuted` ran at the provider and are not counted.

**Not in the log.** Tool definitions, and the model's own argument text if the SDK could parse it. Tokens and
model are known only if the application writes them into `metadata`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text, read_time
from ingest.events import FaultLayer, ResultStatus
from ingest.formats.conversations.ai_sdk_prompt import output_status
from ingest.formats.conversations.message_dump import Conversation, MessageDump
from ingest.log_format import About, Source, Translator
from lenient.regex import compile_regex

SOURCE = Source(
    name="ai_sdk_messages",
    title="AI SDK messages",
    raw_arguments="partly: of calls with invalid arguments",
    argument_failures="yes: the SDK marks all invalid arguments",
    error_flag="yes: a part's state, or the type of a tool's output",
    definitions="no: supply them with --tools",
    system_prompt="partly: where it is among the messages",
    model="partly: where the application writes it into metadata",
    turn_end="partly: an answer ends a turn, without a verdict",
    cannot_tell="Clean and repaired calls cannot be distinguished without the model's own text.",
)

_PART = "tool-"

_OTHERS = frozenset(("sessionId", "model", "response", "choices", "parentUuid", "type"))
_FAULTS = (
    (FaultLayer.REFUSED, compile_regex(r'\{"type":"execution-denied"')),
    (
        FaultLayer.SYNTAX,
        compile_regex(r"(?:AI_InvalidTool\w+: )?Invalid \w+ for tool [^\n]{0,300}JSON parsing failed"),
    ),
    (FaultLayer.SCHEMA, compile_regex(r"(?:AI_InvalidTool\w+: )?Invalid (?:input|arguments) for tool ")),
    (FaultLayer.SCHEMA, compile_regex(r"(?:AI_NoSuchToolError: )?Model tried to call unavailable tool")),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(map(_is_ours, head)) and any(map(_has_sign, head))


def _is_ours(value: Mapping[str, Any]) -> bool:
    if value.keys() & _OTHERS:
        return False
    messages = value.get("messages")
    if isinstance(messages, list):
        return bool(messages) and all(map(_is_message, messages))
    return _is_message(value)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("role") not in (
        "system",
        "user",
        "assistant",
        "tool",
        "data",
    ):
        return False
    if "tool_calls" in value or "function_call" in value:
        return False
    listed = value.get("parts", value.get("content"))
    return isinstance(listed, str) or (
        isinstance(listed, list) and all(isinstance(part, dict) and "type" in part for part in listed)
    )


def _has_sign(value: Mapping[str, Any]) -> bool:
    """Return True when a message has a part or a field that only the AI SDK writes."""
    return any(
        isinstance(message.get("toolInvocations"), list)
        or any(_is_sign(message, part) for part in _list_parts(message))
        for message in (value, *read_objects(value.get("messages")))
    )


def _is_sign(message: Mapping[str, Any], part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("tool-call", "tool-result"):
        return "toolCallId" in part
    return "parts" in message and (kind in ("step-start", "dynamic-tool") or _is_tool_part(part))


def _is_tool_part(part: Mapping[str, Any]) -> bool:
    kind = read_text(part.get("type")) or ""
    if kind == "tool-invocation":
        return isinstance(part.get("toolInvocation"), dict)
    return "toolCallId" in part and (kind == "dynamic-tool" or kind.startswith(_PART))


def _list_parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    return read_objects(message.get("parts", message.get("content")))


def translator(about: About) -> Translator:
    return _AiSdkMessages(about)


class _AiSdkMessages(MessageDump):
    harness = "ai_sdk"
    fault_texts = _FAULTS

    def split(self, value: Mapping[str, Any]) -> list[Conversation] | None:
        messages = value.get("messages")
        if not isinstance(messages, list):
            return None
        chat = next((ident for key in ("id", "chatId") if (ident := read_text(value.get(key)))), None)
        return [Conversation(messages, chat, system=read_text(value.get("system")))]

    def unwrap(self, message: Mapping[str, Any]) -> Iterator[Any]:
        if "parts" in message or isinstance(message.get("toolInvocations"), list):
            yield from _split_steps(message)
        else:
            parts = message.get("content")
            listed = [_plain_part(part) for part in read_objects(parts)] if isinstance(parts, list) else parts
            yield {"role": message.get("role"), "content": listed}

    def step_facts(self, message: Mapping[str, Any]) -> dict[str, Any]:
        metadata = read_object(message.get("metadata"))
        return {"model": read_text(metadata.get("model")) or read_text(metadata.get("modelId"))}

    def read_time(self, message: Mapping[str, Any]) -> datetime | None:
        return read_time(message.get("createdAt", read_object(message.get("metadata")).get("createdAt")))


def _plain_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content part of a model message. A tool result also gets an error flag.

    A tool call that the provider ran itself is replaced by an empty part.
    """
    if part.get("providerExecuted") is True:
        return {"type": "at-the-provider"}
    status = output_status(part)
    if part.get("type") == "tool-result" and status is not ResultStatus.UNKNOWN:
        return {**part, "is_error": status is not ResultStatus.OK}
    return dict(part)


def _split_steps(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Split a message in the AI SDK's interface format into model messages.

    The results of a step's tool calls follow the step.
    """
    invocations = [
        {"type": "tool-invocation", "toolInvocation": invocation}
        for invocation in read_objects(message.get("toolInvocations"))
    ]
    parts = _list_parts(message)
    if not any(_is_tool_part(part) for part in parts):
        parts = [*invocations, *parts]
    if not parts and isinstance(message.get("content"), str):
        parts = [{"type": "text", "text": message["content"]}]
    step_parts: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for part in [*parts, {"type": "step-start"}]:
        if part.get("type") == "step-start" or (results and part.get("type") == "text"):
            if step_parts:
                yield {"role": message.get("role"), "content": step_parts}
            if results:
                yield {"role": "tool", "content": results}
            step_parts, results = [], []
        if _is_tool_part(part):
            call, result = _read_tool_part(part)
            step_parts.append(call)
            results += [result] if result else []
        elif part.get("type") == "text":
            step_parts.append(part)


def _read_tool_part(part: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the tool call and its result from a part of a message in the AI SDK's interface format.

    The result is None when the part contains no result.
    """
    inner = read_object(part.get("toolInvocation")) or part
    if inner.get("providerExecuted") is True:
        return {"type": "at-the-provider"}, None
    kind = read_text(part.get("type")) or ""
    name = read_text(inner.get("toolName")) or kind.removeprefix(_PART)
    shared = {"toolCallId": inner.get("toolCallId"), "toolName": name}
    arguments = next(
        (inner[key] for key in ("input", "args", "rawInput") if inner.get(key) is not None), None
    )
    call = {"type": "tool-call", **shared, "input": arguments}
    state = inner.get("state")
    if state == "output-denied":
        denied = {"type": "execution-denied", "reason": read_object(inner.get("approval")).get("reason")}
        return call, _plain_part({"type": "tool-result", **shared, "output": denied})
    if state in ("output-available", "output-error"):
        kind, key = ("json", "output") if state == "output-available" else ("error-text", "errorText")
        output = {"type": kind, "value": inner.get(key)}
        return call, _plain_part({"type": "tool-result", **shared, "output": output})
    if state == "result" or "result" in inner:
        return call, {"type": "tool-result", **shared, "result": inner.get("result")}
    return call, None
