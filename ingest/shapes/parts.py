"""Content parts as Gemini's API has them in; words, calls and answers of tools out.

The shape (https://ai.google.dev/api/caching#Content): `parts[].{text, thought, functionCall: {id, name,
args}, functionResponse: {id, name, response}}`. Gemini CLI and its forks keep conversations in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ingest.fields import table, tables, text
from ingest.shapes.chat import content_text
from ingest.shapes.dialogue import decoded, native


def spoken(parts: Any) -> str | None:
    """The text of parts that are no thoughts; None where there is none."""
    words = [
        text(part.get("text")) or ""
        for part in tables(parts)
        if isinstance(part.get("text"), str) and part.get("thought") is not True
    ]
    return "\n".join(words) if words else None


def calls_among(parts: Any) -> Iterator[dict[str, Any]]:
    """The fields of `CallMade` for each function call."""
    for part in tables(parts):
        call = table(part.get("functionCall"))
        if call:
            call_id = text(call.get("id"))
            yield {
                **decoded(call.get("args")),
                "tool": text(call.get("name")),
                **native(call_id),
            }


def answered(parts: Any) -> str | None:
    """What tools answered: the output or error of function responses, else the text of the parts."""
    answers = [table(table(part.get("functionResponse")).get("response")) for part in tables(parts)]
    told = [
        text(answer.get("output")) or text(answer.get("error")) or json.dumps(answer)
        for answer in answers
        if answer
    ]
    return "\n".join(told) if told else content_text(parts)
