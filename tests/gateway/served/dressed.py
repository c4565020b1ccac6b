"""Implements the four APIs of a model server: reads requests, and writes streamed or complete responses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.gateway import Reply
from callgauge.gateway.apis import ReplyStream, Wire
from tests.gateway.served.brain import Asked, Emitted, RequestMessage, pieces

_NUMBERS = itertools.count(1)
Event = tuple[str, Any]  # (name, data)


@dataclass(frozen=True)
class Dress:
    """The server side of one API. `read` parses the body of a request. `write` returns (events, body) for an
    output.
    """

    read: Callable[[Mapping[str, Any]], list[RequestMessage]]
    write: Callable[[str, Emitted], tuple[list[Event], Any]]


def _ids(emitted: Emitted, prefix: str) -> list[str]:
    if emitted.ids is not None:
        return list(emitted.ids)
    return [f"{prefix}{next(_NUMBERS)}" for _ in emitted.calls]


def _read_chat(body: Mapping[str, Any]) -> list[RequestMessage]:
    return [
        RequestMessage(message["role"], message.get("content") or "", message.get("tool_calls") or ())
        for message in body["messages"]
    ]


def _write_chat(model: str, emitted: Emitted) -> tuple[list[Event], Any]:
    ids = _ids(emitted, "call_")
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": raw}}
        for call_id, (name, raw) in zip(ids, emitted.calls, strict=True)
    ]
    finish = {"length": "length", "refusal": "content_filter"}.get(
        emitted.stop or "", "tool_calls" if calls else "stop"
    )
    usage = {"prompt_tokens": 50, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 10}}

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return "", {"id": "c1", "object": "chat.completion.chunk", "model": model, "choices": [choice]}

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": part}) for part in pieces(emitted.text) if part]
    for index, call in enumerate(calls):
        named = {"name": call["function"]["name"], "arguments": ""}  # type: ignore[index]
        events.append(chunk({"tool_calls": [{"index": index, **call, "function": named}]}))
        events += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
            for part in pieces(call["function"]["arguments"])  # type: ignore[index]
        ]
    events += [chunk({}, finish), ("", {"id": "c1", "choices": [], "usage": usage}), ("", "[DONE]")]
    message = {
        "role": "assistant",
        "content": emitted.text or None,
        **({"tool_calls": calls} if calls else {}),
    }
    whole = {"id": "c1", "model": model, "choices": [{"message": message, "finish_reason": finish}]}
    return events, whole | {"usage": usage}


def _read_responses(body: Mapping[str, Any]) -> list[RequestMessage]:
    messages: list[RequestMessage] = []
    for item in body["input"]:
        kind = item.get("type")
        if kind == "function_call":
            messages.append(RequestMessage("assistant", "", [item]))
        elif kind == "function_call_output":
            messages.append(RequestMessage("tool", item["output"]))
        elif kind != "reasoning":
            messages.append(RequestMessage(item["role"], item["content"]))
    return messages


def _write_responses(model: str, emitted: Emitted) -> tuple[list[Event], Any]:
    ids = _ids(emitted, "call_")
    items: list[dict[str, Any]] = []
    if emitted.text:
        part = {"type": "output_text", "text": emitted.text, "annotations": []}
        items.append({"type": "message", "id": "m1", "role": "assistant", "content": [part]})
    for call_id, (name, raw) in zip(ids, emitted.calls, strict=True):
        items.append(
            {"type": "function_call", "id": f"f{call_id}", "call_id": call_id, "name": name, "arguments": raw}
        )
    usage = {"input_tokens": 50, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 10}}
    whole: dict[str, Any] = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "status": "completed",
        "output": items,
        "usage": usage,
    }
    reason = {"length": "max_output_tokens", "refusal": "content_filter"}.get(emitted.stop or "")
    if reason:
        whole |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
    events: list[Event] = [
        ("response.created", {"type": "response.created", "response": {**whole, "output": []}})
    ]
    for at, item in enumerate(items):
        empty: dict[str, Any] = {"arguments": ""} if "arguments" in item else {"content": []}
        added = {"type": "response.output_item.added", "output_index": at, "item": {**item, **empty}}
        events.append(("response.output_item.added", added))
        kind = (
            "response.function_call_arguments.delta" if "arguments" in item else "response.output_text.delta"
        )
        events += [
            (kind, {"type": kind, "output_index": at, "delta": part})
            for part in pieces(item.get("arguments", emitted.text))
        ]
        done = {"type": "response.output_item.done", "output_index": at, "item": item}
        events.append(("response.output_item.done", done))
    last = "response.incomplete" if reason else "response.completed"
    return [*events, (last, {"type": last, "response": whole})], whole


def _read_anthropic(body: Mapping[str, Any]) -> list[RequestMessage]:
    messages = [RequestMessage("system", body["system"])] if body.get("system") else []
    for message in body["messages"]:
        text = "".join(block.get("text", "") for block in message["content"] if block["type"] == "text")
        uses = [block for block in message["content"] if block["type"] == "tool_use"]
        messages += [
            RequestMessage("tool", block["content"])
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        if text or uses:
            messages.append(RequestMessage(message["role"], text, uses))
    return messages


def _named(kind: str, **fields: Any) -> Event:
    """Return an event whose name is its type, because Anthropic's SDK needs this name."""
    return kind, {"type": kind, **fields}


def _write_anthropic(model: str, emitted: Emitted) -> tuple[list[Event], Any]:
    stop = {"length": "max_tokens", "refusal": "refusal"}.get(
        emitted.stop or "", "tool_use" if emitted.calls else "end_turn"
    )
    usage = {"input_tokens": 40, "cache_read_input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    events: list[Event] = [
        ("message_start", {"type": "message_start", "message": {**message, "usage": usage}})
    ]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": emitted.text}] if emitted.text else []
    for call_id, (name, raw) in zip(_ids(emitted, "toolu_"), emitted.calls, strict=True):
        blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": raw})
    for at, block in enumerate(blocks):
        is_call = block["type"] == "tool_use"
        begun = {**block, "input": {}} if is_call else {**block, "text": ""}
        events.append(_named("content_block_start", index=at, content_block=begun))
        for part in pieces(block["input"] if is_call else block["text"]):
            delta = (
                {"type": "input_json_delta", "partial_json": part}
                if is_call
                else {"type": "text_delta", "text": part}
            )
            events.append(_named("content_block_delta", index=at, delta=delta))
        events.append(_named("content_block_stop", index=at))
    ended = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 20}}
    events += [("message_delta", ended), ("message_stop", {"type": "message_stop"})]
    content = [{**block, "input": _decode(block["input"])} if "input" in block else block for block in blocks]
    return events, {
        **message,
        "content": content,
        "stop_reason": stop,
        "usage": {**usage, "output_tokens": 20},
    }


def _decode(raw: str) -> Any:
    """Return the object in raw arguments, or `{}` if they are no object, as APIs do that decode arguments."""
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _read_gemini(body: Mapping[str, Any]) -> list[RequestMessage]:
    system = body.get("systemInstruction")
    messages = [RequestMessage("system", system["parts"][0]["text"])] if system else []
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                messages.append(RequestMessage("tool", json.dumps(part["functionResponse"]["response"])))
            elif "functionCall" in part:
                messages.append(RequestMessage("assistant", "", [part["functionCall"]]))
            else:
                role = "assistant" if content["role"] == "model" else content["role"]
                messages.append(RequestMessage(role, part.get("text", "")))
    return messages


def _write_gemini(model: str, emitted: Emitted) -> tuple[list[Event], Any]:
    parts: list[dict[str, Any]] = [{"text": emitted.text}] if emitted.text else []
    finish = {"length": "MAX_TOKENS", "refusal": "SAFETY"}.get(emitted.stop or "", "STOP")
    candidate: dict[str, Any] = {"index": 0}
    for name, raw in emitted.calls:
        try:
            args = json.loads(raw)
        except ValueError:
            args = None
        if not isinstance(args, dict):
            parts, finish = [], "MALFORMED_FUNCTION_CALL"
            candidate["finishMessage"] = f"Malformed function call: {name}({raw})"
            break
        parts.append({"functionCall": {"name": name, "args": args}, "thoughtSignature": "c2ln"})
    candidate |= {"content": {"role": "model", "parts": parts}, "finishReason": finish}
    counts = {"promptTokenCount": 50, "candidatesTokenCount": 20, "cachedContentTokenCount": 10}
    whole = {"candidates": [candidate], "usageMetadata": counts, "modelVersion": model}
    return [("", whole)], whole


DRESSES = {
    "openai-chat": Dress(_read_chat, _write_chat),
    "openai-responses": Dress(_read_responses, _write_responses),
    "anthropic": Dress(_read_anthropic, _write_anthropic),
    "gemini": Dress(_read_gemini, _write_gemini),
}


def wire_of(path: str) -> str:
    """Return the model API of a URL path."""
    for end, name in (
        ("/chat/completions", "openai-chat"),
        ("/responses", "openai-responses"),
        ("/messages", "anthropic"),
    ):
        if path.endswith(end):
            return name
    return "gemini"


def read_asked(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Asked:
    model = body.get("model") or path.partition("/models/")[2].partition(":")[0]
    return Asked(model, DRESSES[wire_of(path)].read(body), bool(body.get("tools")), body, path, headers)


def write_emitted(request: Asked, emitted: Emitted) -> tuple[bytes, str]:
    events, whole = DRESSES[wire_of(request.path)].write(request.model, emitted)
    if not (request.body.get("stream") or "streamGenerateContent" in request.path):
        return json.dumps(whole).encode(), "application/json"
    written = "".join(
        (f"event: {name}\n" if name else "")
        + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
        for name, data in events
    )
    return written.encode(), "text/event-stream"


def read_events(wire: Wire, events: Iterable[str]) -> Reply:
    """Return the reply that an endpoint reads from the events of a stream."""
    stream = ReplyStream(wire)
    for data in events:
        stream.add(data)
    return stream.complete()
