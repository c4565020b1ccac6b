"""Reads content parts in the format of Gemini's API: text, calls and the answers of tools.

The parts (https://ai.google.dev/api/caching#Content) are `parts[].{text, thought, functionCall: {id, name,
args}, functionResponse: {id, name, response}}`. Gemini CLI and its forks store conversations in this format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.formats.conversations.agent_session import decoded_argument_fields, native_call_fields
from ingest.formats.provider_messages.chat_messages import join_content


def join_visible_texts(parts: Any) -> str | None:
    """Join the texts of all parts except the model's thoughts with newlines. Return None without a text."""
    words = [
        read_text(part.get("text")) or ""
        for part in read_objects(parts)
        if isinstance(part.get("text"), str) and part.get("thought") is not True
    ]
    return "\n".join(words) if words else None


def call_fields(parts: Any) -> Iterator[dict[str, Any]]:
    """Yield the fields of `CallMade` for each function call."""
    for part in read_objects(parts):
        call = read_object(part.get("functionCall"))
        if call:
            call_id = read_text(call.get("id"))
            yield {
                **decoded_argument_fields(call.get("args")),
                "tool": read_text(call.get("name")),
                **native_call_fields(call_id),
            }


def join_answers(parts: Any) -> str | None:
    """Join the output or error of each function response with newlines.

    A response with neither field is written as JSON. If there is no response, the texts of the parts are
    joined.
    """
    answers = [
        read_object(read_object(part.get("functionResponse")).get("response")) for part in read_objects(parts)
    ]
    texts = [
        read_text(answer.get("output")) or read_text(answer.get("error")) or json.dumps(answer)
        for answer in answers
        if answer
    ]
    return "\n".join(texts) if texts else join_content(parts)
