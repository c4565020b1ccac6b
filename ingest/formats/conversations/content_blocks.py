"""Reads content blocks as Anthropic's Messages API has them: an agent's words, calls and results.

The shape (https://platform.claude.com/docs/en/api/messages): `{type: text, text}`, `{type: tool_use, id,
name, input}`, `{type: tool_result, tool_use_id, content, is_error}`. Several agents keep their
conversations in it, whatever model they talk to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_objects, read_text
from ingest.events import FaultLayer
from ingest.formats.conversations.agent_session import decoded_argument_fields, native_call_fields
from ingest.formats.conversations.result_layers import PASSED, Texts, failed_flag, find_layer
from ingest.formats.provider_messages.chat_messages import ResultFlag, join_content


def list_blocks(content: Any) -> list[dict[str, Any]]:
    """Return the blocks of a message; a plain text is one of them."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else read_objects(content)


def join_text(blocks: list[dict[str, Any]]) -> str | None:
    """Return the text of a message; None where it has no text block at all."""
    words = [read_text(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
    return "\n".join(words) if words else None


def call_fields(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the fields of `CallMade` for each call of a message."""
    for block in blocks:
        if block.get("type") == "tool_use":
            call_id = read_text(block.get("id"))
            yield {
                **decoded_argument_fields(block.get("input")),
                "tool": read_text(block.get("name")),
                **native_call_fields(call_id),
            }


def result_fields(blocks: list[dict[str, Any]], texts: Texts) -> Iterator[dict[str, Any]]:
    """Yield the fields of `ResultSeen` for each result; `texts` tell the layers of failures apart."""
    for block in blocks:
        if block.get("type") == "tool_result":
            content = join_content(block.get("content"))
            flag = read_flag(block, content or "", texts)
            yield {
                "tool_call_id": read_text(block.get("tool_use_id")),
                "status": flag.status,
                "flag_source": flag.source,
                "content": content,
                **flag.facts,
            }


def read_flag(block: Mapping[str, Any], content: str, texts: Texts) -> ResultFlag:
    """Return what `is_error` says; where it is absent, the agent may just not write it."""
    if block.get("is_error") is True:
        return failed_flag(content, find_layer(content, texts) or FaultLayer.EXECUTION)
    return PASSED if block.get("is_error") is False else ResultFlag()
