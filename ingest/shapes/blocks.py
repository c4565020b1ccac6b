"""Content blocks as Anthropic's Messages API has them in; an agent's words, calls and results out.

The shape (https://platform.claude.com/docs/en/api/messages): `{type: text, text}`, `{type: tool_use, id,
name, input}`, `{type: tool_result, tool_use_id, content, is_error}`. Several agents keep their
conversations in it, whatever model they talk to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.events import FaultLayer
from ingest.fields import tables, text
from ingest.shapes.chat import Flag, content_text
from ingest.shapes.dialogue import decoded, native
from ingest.shapes.verdicts import PASSED, Texts, failed, layer_in


def blocks_in(content: Any) -> list[dict[str, Any]]:
    """The blocks of a message; a plain text is one of them."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else tables(content)


def words_in(blocks: list[dict[str, Any]]) -> str | None:
    """The text of a message; None where it has no text block at all."""
    words = [text(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
    return "\n".join(words) if words else None


def calls_in(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The fields of `CallMade` for each call of a message."""
    for block in blocks:
        if block.get("type") == "tool_use":
            call_id = text(block.get("id"))
            yield {
                **decoded(block.get("input")),
                "tool": text(block.get("name")),
                **native(call_id),
            }


def results_in(blocks: list[dict[str, Any]], texts: Texts) -> Iterator[dict[str, Any]]:
    """The fields of `ResultSeen` for each result in a message; `texts` tell the layers of failures apart."""
    for block in blocks:
        if block.get("type") == "tool_result":
            content = content_text(block.get("content"))
            flag = flag_of(block, content or "", texts)
            yield {
                "tool_call_id": text(block.get("tool_use_id")),
                "status": flag.status,
                "flag_source": flag.source,
                "content": content,
                **flag.facts,
            }


def flag_of(block: Mapping[str, Any], content: str, texts: Texts) -> Flag:
    """What `is_error` says; where it is absent, the agent may just not write it."""
    if block.get("is_error") is True:
        return failed(content, layer_in(content, texts) or FaultLayer.EXECUTION)
    return PASSED if block.get("is_error") is False else Flag()
