"""Reads content blocks in the format of Anthropic's Messages API: an agent's text, calls and results.

The blocks (https://platform.claude.com/docs/en/api/messages) are `{type: text, text}`, `{type: tool_use, id,
name, input}` and `{type: tool_result, tool_use_id, content, is_error}`. Several agents store conversations in
this format, whichever model they use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_objects, read_text
from ingest.events import FaultLayer
from ingest.formats.conversations.agent_session import decoded_argument_fields, native_call_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_result


def list_blocks(content: Any) -> list[dict[str, Any]]:
    """Return the content blocks of a message. A string as content becomes one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else read_objects(content)


def join_text(blocks: list[dict[str, Any]]) -> str | None:
    """Join the text blocks of a message with newlines. Return None when there is no text block."""
    words = [read_text(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
    return "\n".join(words) if words else None


def call_fields(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the fields of `CallMade` for each tool call in a message."""
    for block in blocks:
        if block.get("type") == "tool_use":
            call_id = read_text(block.get("id"))
            yield {
                **decoded_argument_fields(block.get("input")),
                "tool": read_text(block.get("name")),
                **native_call_fields(call_id),
            }


def result_fields(blocks: list[dict[str, Any]], texts: Texts) -> Iterator[dict[str, Any]]:
    """Yield the `ResultSeen` fields of each tool result.

    The first pattern in `texts` that matches a failed result gives the failure stage.
    """
    for block in blocks:
        if block.get("type") == "tool_result":
            content = join_result(block.get("content"))
            flag = read_flag(block, content or "", texts)
            yield {
                "tool_call_id": read_text(block.get("tool_use_id")),
                "status": flag.status,
                "flag_source": flag.source,
                "content": content,
                **flag.facts,
            }


def read_flag(block: Mapping[str, Any], content: str, texts: Texts) -> ResultFlag:
    """Return the status that `is_error` gives. Return the status UNKNOWN when the block has no `is_error`."""
    if block.get("is_error") is True:
        return failed_flag(content, find_layer(content, texts) or FaultLayer.EXECUTION)
    return PASSED if block.get("is_error") is False else ResultFlag()
