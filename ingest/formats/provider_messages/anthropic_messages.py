"""Reads bodies of Anthropic's Messages API, and the API's content blocks in other logs.

A request (https://platform.claude.com/docs/en/api/messages) has `system`, `messages[].content` (text or
blocks), `tools[].{name, input_schema}`; a reply has `content`, `stop_reason`, `usage`. Results are
`tool_result` blocks of a user message. No other API has an error flag for results: `is_error`, which is
absent for false.

`server_tool_use` blocks belong to tools that the provider runs, and are not counted as calls. A `tool_use`
block with a code execution as `caller` was made by a program that the model wrote. It counts as a call, but
its arguments are not the model's own text. A joined stream (`ingest.formats.provider_messages.reply_streams`)
has the text of the arguments in `partial_json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import count_input_parts, read_count, read_object, read_objects, read_text
from ingest.events import ArgsSource, FlagSource, ResultStatus
from ingest.formats.provider_messages.chat_messages import name_images
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

# Tools that Anthropic defines and the client runs: they have a name but no schema in the request.
_CLIENT_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_")
_ANNOUNCED = "stop_reason is tool_use, but the message has no tool call"
_REMINDER = "<system-reminder>"  # Claude Code adds such reminders to the user's text and removes them later.
_BY_PROGRAM = "called by a program that the model wrote"


def content_blocks(content: Any) -> list[Mapping[str, Any]]:
    """Return the content blocks of a message. A string as content becomes one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(read_objects(content))


def join_block_texts(blocks: list[Mapping[str, Any]]) -> str | None:
    """Join the texts of the text blocks with newlines. Return None when there is no text."""
    return join_texts(read_text(block.get("text")) for block in blocks if block.get("type") == "text")


def count_input(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of input tokens. Unlike the field `input_tokens`, they include cached tokens."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return count_input_parts(*map(usage.get, names))


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    return ModelRequest(
        parts=list(read_objects(body.get("messages"))),
        read=read_items,
        prompt=join_block_texts(content_blocks(body.get("system"))),
        tools=client_tools(body.get("tools")),
        model=read_text(body.get("model")),
        user=read_text(read_object(body.get("metadata")).get("user_id")),
        max_tokens=read_count(body.get("max_tokens")),
        result=read_result,
    )


def client_tools(tools: Any) -> list[Mapping[str, Any]]:
    """Return the definitions of the tools that the client runs. Tools that the provider runs are left out."""
    return [
        tool
        for tool in read_objects(tools)
        if "input_schema" in tool or str(tool.get("type", "custom")).startswith(_CLIENT_TOOLS)
    ]


def read_replies(body: Mapping[str, Any]) -> Iterator[ModelReply]:
    blocks = content_blocks(body.get("content"))
    usage, word = read_object(body.get("usage")), read_text(body.get("stop_reason"))
    calls = [read_call(block) for block in blocks if block.get("type") == "tool_use"]
    end = StopReason.BROKEN if body.get("unfinished") is True and word is None else read_stop_reason(word)
    at_server = [block for block in blocks if str(block.get("type")).startswith(("server_", "mcp_"))]
    if end is StopReason.CALLS and not calls and not at_server:
        calls = ModelCall.from_stop_reason(join_block_texts(blocks), _ANNOUNCED)
    yield ModelReply(
        id=read_text(body.get("id")),
        model=read_text(body.get("model")),
        text=join_block_texts(blocks),
        calls=calls,
        word=word,
        end=end,
        **count_input(usage),
        # An incomplete stream has only the preliminary count from its beginning, so the count is not used.
        output_tokens=read_count(usage.get("output_tokens")) or None
        if end is not StopReason.BROKEN
        else None,
        marks=block_marks(blocks),
        ties=tuple(id_ for block in at_server if (id_ := read_text(block.get("id"))) is not None),
        refers=tuple(referred_ids(blocks)),
    )


def read_call(block: Mapping[str, Any]) -> ModelCall:
    """Return the tool call in a `tool_use` block."""
    by_program = read_object(block.get("caller")).get("type", "direct") != "direct"
    streamed = read_text(block.get("partial_json"))
    if streamed:
        arguments: dict[str, Any] = {"raw_arguments": streamed, "args_source": ArgsSource.RAW}
    elif "input" in block:
        arguments = {"arguments": block["input"], "args_source": ArgsSource.RESERIALISED}
    else:
        arguments = {"args_source": ArgsSource.MISSING}
    return ModelCall.from_api(
        block.get("name"), block.get("id"), arguments, _BY_PROGRAM if by_program else None
    )


def read_result(block: Mapping[str, Any]) -> RequestResult:
    """Return the content and status of a `tool_result` block.

    The status is UNKNOWN when the block has no `is_error`.
    """
    blocks = content_blocks(block.get("content"))
    content = join_block_texts(blocks)
    if not content:
        content = name_images(sum(part.get("type") == "image" for part in blocks)) or content
    flag = block.get("is_error")
    if not isinstance(flag, bool):
        return RequestResult(content)
    return RequestResult(
        content, status=ResultStatus.ERROR if flag else ResultStatus.OK, flag_source=FlagSource.EXPLICIT
    )


def read_items(message: Mapping[str, Any]) -> Iterator[ConversationItem]:
    """Yield the conversation items of a message.

    An assistant message is one item. A user message is one item for each tool result. A user message without
    results is one item with the user's text. Text beside results is left out, because the client added it as
    a reminder.
    """
    blocks = content_blocks(message.get("content"))
    if message.get("role") == "assistant":
        ids = tuple(read_text(block.get("id")) for block in blocks if block.get("type") == "tool_use")
        yield ConversationItem(ItemKind.MODEL, block_marks(blocks), ids)
        return
    if message.get("role") != "user":
        return
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield ConversationItem(ItemKind.RESULT, ids=(read_text(block.get("tool_use_id")),), body=block)
    if not results:
        words = join_block_texts(
            [block for block in blocks if not str(block.get("text")).startswith(_REMINDER)]
        )
        yield ConversationItem(ItemKind.USER, ("user:" + (words or ""),), text=words)


def block_marks(blocks: list[Mapping[str, Any]]) -> tuple[str, ...]:
    calls = tuple(
        call_mark(block.get("name"), block.get("id"), block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    return calls or words_mark(join_block_texts(blocks))


def referred_ids(blocks: list[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        for id_ in (block.get("tool_use_id"), read_object(block.get("caller")).get("tool_id")):
            if isinstance(id_, str):
                yield id_
