"""Builds a request to a model that continues a session from a given call.

The format is OpenAI chat completions, which nearly every server accepts. Its arguments are JSON text, so even
invalid arguments can be sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

Row = Mapping[Any, Any]

_LONGEST_ID = 40  # longest call id that servers accept, in characters
_NO_RESULT = "(The log keeps no result.)"


def make_chat_request(
    call: Row, messages: Sequence[Row], *, prompt: str | None, description: str | None, ask_again: bool
) -> str:
    """Return the JSON body of a chat-completions request.

    `call` is a row of the metric `call`. `messages` are the rows of `messages_so_far`, up to the call's step.
    With `ask_again`, the messages end before the call's step, and the request forces the model to call the
    tool. Otherwise the messages end with the results of the call's step.
    """
    place = (call["turn"], call["step"] or 0)
    upto = [row for row in messages if (row["turn"], row["step"]) != place or not ask_again]
    name = call["tool_sent"] or call["tool"] or "unknown"
    body: dict[str, Any] = {"model": call["model"] or "MODEL", "messages": list(_make_messages(upto, prompt))}
    if (tool := _tool_data(name, call["definition"], description)) is not None:
        body["tools"] = [tool]
        if ask_again:
            body["tool_choice"] = {"type": "function", "function": {"name": name}}
    return json.dumps(body, indent=1)


def _tool_data(name: str, definition: str | None, description: str | None) -> dict[str, Any] | None:
    try:
        schema = json.loads(definition or "null")
    except (ValueError, RecursionError):
        schema = None
    if schema is None:
        return None
    return {
        "type": "function",
        "function": {"name": name, "description": description or "", "parameters": schema},
    }


def _make_messages(rows: Iterable[Row], prompt: str | None) -> Iterable[dict[str, Any]]:
    if prompt:
        yield {"role": "system", "content": prompt}
    ids: set[str] = set()
    for _, step in groupby(rows, key=lambda row: (row["turn"], row["step"])):
        step_rows = list(step)
        calls = [row for row in step_rows if row["kind"] == "call"]
        words = "\n".join(row["text"] or "" for row in step_rows if row["kind"] != "call")
        if step_rows[0]["kind"] == "user":
            yield {"role": "user", "content": words}
        elif calls:
            yield from _step_messages(words, calls, ids)
        elif words:
            yield {"role": "assistant", "content": words}


def _step_messages(words: str, calls: Sequence[Row], ids: set[str]) -> Iterable[dict[str, Any]]:
    """Yield the messages of one step: the assistant's text and tool calls, then each call's result."""
    named = [(_call_id(row, ids), row) for row in calls]
    made = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": row["tool"] or "unknown", "arguments": row["raw"] or ""},
        }
        for call_id, row in named
    ]
    yield {"role": "assistant", "content": words or None, "tool_calls": made}
    for call_id, row in named:
        yield {"role": "tool", "tool_call_id": call_id, "content": row["result"] or _NO_RESULT}


def _call_id(row: Row, ids: set[str]) -> str:
    """Return the id of the call, or a new id if the id is missing, too long or not unique."""
    own = row["tool_call_id"]
    chosen = own if own and len(own) <= _LONGEST_ID and own not in ids else f"call_{len(ids) + 1}"
    ids.add(chosen)
    return str(chosen)
