"""Reads bodies of Amazon Bedrock's Converse API.

A request (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html) has
`system[].text`, `messages[].content[]` with one key per block, `toolConfig.tools[].toolSpec`; a reply has
`output.message`, `stopReason`, `usage`. Calls are `toolUse.{toolUseId, name, input}` with decoded arguments.
Results are `toolResult.{toolUseId, status, content}` blocks of a user message. `status` is optional, so its
absence means nothing. Only the URL contains the model (`/model/<id>/converse`). A joined stream
(`ingest.formats.provider_messages.reply_streams`) has the text of the arguments in `partial_json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ingest.decoding.fields import count_input_parts, read_count, read_object, read_objects, read_text
from ingest.events import ArgsSource, FaultLayer, FlagSource, ResultStatus
from ingest.formats.provider_messages.exchange import (
    ConversationItem,
    ItemKind,
    ModelCall,
    ModelReply,
    ModelRequest,
    RequestResult,
    StopReason,
    join_texts,
    read_stop_reason,
)
from ingest.formats.provider_messages.message_hashes import call_mark, words_mark
from ingest.formats.provider_messages.message_parts import read_tool_result

_BLOCKS = frozenset(
    ("text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent", "cachePoint",
     "reasoningContent", "citationsContent", "searchResult")
)  # fmt: skip
_MALFORMED = ("malformed_tool_use", "malformed_model_output")


def is_reply(body: Mapping[str, Any]) -> bool:
    return "stopReason" in body and isinstance(read_object(body.get("output")).get("message"), dict)


def is_message(value: Any) -> bool:
    """Return True when every content block has a key of the Converse API and no `type`.

    Blocks of Anthropic and OpenAI have a `type`.
    """
    if not isinstance(value, dict) or value.get("role") not in ("user", "assistant"):
        return False
    content = value.get("content")
    return isinstance(content, list) and all(
        isinstance(block, dict) and "type" not in block and bool(_BLOCKS & block.keys()) for block in content
    )


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    tools = read_objects(read_object(body.get("toolConfig")).get("tools"))
    return ModelRequest(
        parts=list(read_objects(body.get("messages"))),
        read=read_items,
        prompt=join_text(read_objects(body.get("system"))),
        tools=[tool for tool in tools if "toolSpec" in tool],
        model=read_text(body.get("modelId")),
        max_tokens=read_count(read_object(body.get("inferenceConfig")).get("maxTokens")),
        result=read_result,
    )


def read_replies(body: Mapping[str, Any]) -> Iterator[ModelReply]:
    message = read_object(read_object(body.get("output")).get("message"))
    blocks = read_objects(message.get("content"))
    word, usage = read_text(body.get("stopReason")), read_object(body.get("usage"))
    calls = [read_call(block["toolUse"]) for block in _with_key(blocks, "toolUse")]
    end = StopReason.BROKEN if body.get("unfinished") is True and word is None else read_stop_reason(word)
    if word in _MALFORMED or (end is StopReason.CALLS and not calls):
        reason = f"stopReason is {word}, and the call is not there"
        calls += ModelCall.from_stop_reason(join_text(blocks), reason)
    yield ModelReply(
        text=join_text(blocks),
        calls=calls,
        word=word,
        end=end,
        **count_input(usage),
        output_tokens=read_count(usage.get("outputTokens")),
        marks=block_marks(blocks),
    )


def count_input(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of input tokens. Unlike the field `inputTokens`, they include cached tokens."""
    return count_input_parts(
        usage.get("inputTokens"), usage.get("cacheReadInputTokens"), usage.get("cacheWriteInputTokens")
    )


def model_in_address(url: str | None) -> str | None:
    """Return the model in a URL such as `…/model/us.amazon.nova-lite-v1%3A0/converse`."""
    _, separator, behind = (url or "").partition("/model/")
    return unquote(behind.split("/", 1)[0]) or None if separator else None


def read_call(call: Mapping[str, Any]) -> ModelCall:
    streamed = read_text(call.get("partial_json"))
    arguments: dict[str, Any] = {"args_source": ArgsSource.MISSING}
    if streamed:
        arguments = {"raw_arguments": streamed, "args_source": ArgsSource.RAW}
    elif "input" in call:
        arguments = {"arguments": call["input"], "args_source": ArgsSource.RESERIALISED}
    return ModelCall.from_api(call.get("name"), call.get("toolUseId"), arguments)


def read_result(block: Mapping[str, Any]) -> RequestResult:
    """Return the content and status of a `toolResult` block.

    The status is UNKNOWN when the block has no status.
    """
    result = read_tool_result(block)
    if result.failed is None and read_object(block.get("toolResult")).get("status") != "success":
        return RequestResult(result.content)
    return RequestResult(
        result.content,
        status=ResultStatus.ERROR if result.failed else ResultStatus.OK,
        flag_source=FlagSource.EXPLICIT,
        fault_layer=FaultLayer.EXECUTION if result.failed else None,
    )


def read_items(message: Mapping[str, Any]) -> Iterator[ConversationItem]:
    """Yield the conversation items of a message, like `anthropic_messages.read_items`."""
    blocks = read_objects(message.get("content"))
    if message.get("role") == "assistant":
        ids = tuple(read_text(block["toolUse"].get("toolUseId")) for block in _with_key(blocks, "toolUse"))
        yield ConversationItem(ItemKind.MODEL, block_marks(blocks), ids)
        return
    results = _with_key(blocks, "toolResult")
    for block in results:
        yield ConversationItem(
            ItemKind.RESULT, ids=(read_text(block["toolResult"].get("toolUseId")),), body=block
        )
    if not results:
        words = join_text(blocks)
        yield ConversationItem(ItemKind.USER, ("user:" + (words or ""),), text=words)


def join_text(blocks: list[dict[str, Any]]) -> str | None:
    return join_texts(read_text(block.get("text")) for block in blocks)


def block_marks(blocks: list[dict[str, Any]]) -> tuple[str, ...]:
    calls = tuple(
        call_mark(call.get("name"), call.get("toolUseId"), call.get("input"))
        for block in _with_key(blocks, "toolUse")
        for call in (block["toolUse"],)
    )
    return calls or words_mark(join_text(blocks))


def _with_key(blocks: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [block for block in blocks if isinstance(block.get(key), dict)]
