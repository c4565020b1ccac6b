"""Reads bodies of chat APIs: OpenAI's Chat Completions and compatible APIs.

A request (https://platform.openai.com/docs/api-reference/chat) has `messages`, `tools`; a reply has
`choices[].{message, finish_reason}`, `usage`. Azure, Mistral, Groq, vLLM, OpenRouter, Writer and others use
the same format. Cohere's v2 API and Ollama's own API have one `message` instead of `choices`. A server that
cannot parse the model's call answers with an HTTP error instead of a reply (the texts:
lenient/calls/refusals.py). The error is read as the model's tool call, not as a transport error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import count_whole_input, read_count, read_object, read_objects, read_text
from ingest.events import ArgsSource, FaultLayer
from ingest.formats.provider_messages.chat_messages import (
    argument_fields,
    join_content,
    join_result,
    list_calls,
)
from ingest.formats.provider_messages.embedded_json import open_json
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    ItemKind,
    ModelCall,
    ModelReply,
    ModelRequest,
    RequestResult,
    StopReason,
    join_texts,
    parse_instant,
    read_stop_reason,
)
from ingest.formats.provider_messages.message_hashes import call_mark, words_mark
from lenient.calls.refusals import read_server_refusal

_ANNOUNCED = "the finish reason is tool calls, but the reply has none"


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    messages: list[Mapping[str, Any]] = list(read_objects(body.get("messages")))
    return ModelRequest(
        parts=messages,
        read=read_items,
        prompt=join_texts(leading_prompt(messages)),
        tools=client_tools(body),
        model=read_text(body.get("model")),
        user=read_text(body.get("user")),
        max_tokens=read_count(body.get("max_completion_tokens", body.get("max_tokens"))),
        result=read_result,
    )


def leading_prompt(messages: list[Mapping[str, Any]]) -> Iterator[str | None]:
    """Yield the texts of the system messages at the beginning of a conversation.

    Later system messages are left out.
    """
    for message in messages:
        if message.get("role") not in ("system", "developer"):
            return
        yield join_content(message.get("content"))


def client_tools(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the definitions of the tools that the client runs.

    The definition of a custom tool has no schema, because its input is free text.
    """
    definitions: list[Mapping[str, Any]] = list(read_objects(body.get("functions")))
    for tool in read_objects(body.get("tools")):
        if tool.get("type") == "custom":
            definitions.append({"name": read_object(tool.get("custom")).get("name")})
        elif "function" in tool or (tool.get("type") in (None, "function") and "name" in tool):
            definitions.append(tool)
    return definitions


def read_replies(body: Mapping[str, Any]) -> Iterator[ModelReply]:
    """Yield one reply for each choice.

    The token counts of a body are sums over all choices. They are stored with the first reply.
    """
    usage = read_object(body.get("usage"))
    for number, choice in enumerate(list_choices(body)):
        message = read_object(choice.get("message"))
        word = read_text(choice.get("finish_reason"))
        calls = list(read_calls(message))
        words = join_content(message.get("content"))
        refusal = read_text(message.get("refusal"))
        if not message and isinstance(choice.get("text"), str):
            words = read_text(choice.get("text"))
        end = StopReason.BROKEN if body.get("unfinished") is True and word is None else read_stop_reason(word)
        if end is StopReason.CALLS and not calls:
            calls = ModelCall.from_stop_reason(words, _ANNOUNCED)
        yield ModelReply(
            id=read_text(body.get("id")),
            model=read_text(body.get("model")),
            ts=parse_instant(body.get("created", body.get("created_at"))),
            text=words if refusal is None else refusal,
            calls=calls,
            word="refusal" if refusal is not None else word,
            end=StopReason.REFUSED if refusal is not None else end,
            **(count_input(usage, body) if number == 0 else {}),
            output_tokens=count_tokens(usage, body, "completion") if number == 0 else None,
            marks=message_marks(message),
        )


def read_unparsed_call(error: Any, request_body: Mapping[str, Any]) -> ModelReply | None:
    """Return a reply with the tool call that, according to a server's error, could not be parsed.

    `error` is the field `error` of the response body. The raw arguments are the model's text, if the error
    quotes it completely. Return None for any other error, and for an error about a call from an earlier reply
    that the request repeats.
    """
    unparsed = read_server_refusal(error)
    if unparsed is None or (unparsed.raw is None and _repeats_unparsed_call(request_body)):
        return None
    source = ArgsSource.MISSING if unparsed.raw is None else ArgsSource.RAW
    fields = {"raw_arguments": unparsed.raw, "args_source": source}
    call = ModelCall(None, None, fields, unparsed.message, FaultLayer.SYNTAX)
    return ModelReply(calls=[call], word=read_text(read_object(error).get("code")), end=StopReason.CALLS)


def _repeats_unparsed_call(request_body: Mapping[str, Any]) -> bool:
    sent = (
        read_object(call.get("function")).get("arguments")
        for message in read_objects(request_body.get("messages"))
        for call in read_objects(message.get("tool_calls"))
    )
    return any(isinstance(raw, str) and not isinstance(open_json(raw), dict) for raw in sent)


def list_choices(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if isinstance(body.get("choices"), list):
        return list(read_objects(body["choices"]))
    word = body.get("finish_reason", body.get("done_reason"))
    return [{"message": body.get("message"), "finish_reason": word}]


def count_input(usage: Mapping[str, Any], body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the counts of input tokens, as OpenAI, DeepSeek, Moonshot or LiteLLM name them."""
    details = read_object(usage.get("prompt_tokens_details")) or read_object(
        usage.get("input_tokens_details")
    )
    cached = details.get("cached_tokens", usage.get("prompt_cache_hit_tokens", usage.get("cached_tokens")))
    if cached is None:
        cached = usage.get("cache_read_input_tokens")
    written = details.get("cache_write_tokens", usage.get("cache_creation_input_tokens"))
    return count_whole_input(count_tokens(usage, body or {}, "prompt"), cached, written)


def count_tokens(usage: Mapping[str, Any], body: Mapping[str, Any], side: str) -> int | None:
    """Return the number of input tokens (`side` is `prompt`) or of output tokens (`side` is `completion`).

    The field names of four APIs are tried. Return None when the number is absent or 0, which means unknown.
    """
    cohere = read_object(usage.get("tokens"))
    other, ollama = ("input", "prompt_eval") if side == "prompt" else ("output", "eval")
    for holder, name in (
        (usage, f"{side}_tokens"),
        (usage, f"{other}_tokens"),
        (cohere, f"{other}_tokens"),
        (body, f"{ollama}_count"),
    ):
        if count := read_count(holder.get(name)):
            return count
    return None


def read_items(message: Mapping[str, Any]) -> Iterator[ConversationItem]:
    """Yield the conversation item of a message. A system message yields nothing."""
    role = message.get("role")
    if role == "user":
        words = join_content(message.get("content"))
        yield ConversationItem(ItemKind.USER, ("user:" + (words or ""),), text=words)
    elif role in ("assistant", "model"):
        ids = tuple(read_text(call.get("id")) for call in list_calls(message))
        yield ConversationItem(ItemKind.MODEL, message_marks(message), ids)
    elif role in ("tool", "function"):
        yield ConversationItem(ItemKind.RESULT, ids=(read_text(message.get("tool_call_id")),), body=message)


def message_marks(message: Mapping[str, Any]) -> tuple[str, ...]:
    calls = tuple(call_mark(call["name"], call["id"], call["arguments"]) for call in list_calls(message))
    return calls or words_mark(join_content(message.get("content")))


def read_calls(message: Mapping[str, Any]) -> Iterator[ModelCall]:
    for call in read_objects(message.get("tool_calls")):
        if isinstance(call.get("custom"), dict):
            custom = call["custom"]
            yield ModelCall.from_api(
                custom.get("name"), call.get("id"), free_text_fields(custom.get("input"))
            )
    for call in list_calls(message):
        if call["name"] is not None or call["arguments"] is not None:
            yield ModelCall.from_api(call["name"], call["id"], argument_fields(call["arguments"]))


def free_text_fields(words: Any) -> dict[str, Any]:
    """Return the `CallMade` fields for the input of a custom tool.

    The input is free text. It is stored as the object {"input": text}.
    """
    return {"arguments": {"input": words}, "args_source": ArgsSource.RESERIALISED}


def read_result(message: Mapping[str, Any]) -> RequestResult:
    return RequestResult(join_result(message.get("content")), read_text(message.get("name")))
