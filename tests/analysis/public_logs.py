"""Writes session logs whose tool calls have known errors by the public definition of tool-call errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

SEARCH = {
    "name": "search",
    "description": "Find tickets.",
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "state": {"enum": ["open", "done"]},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}
Call = tuple[str, str | Mapping[str, Any]]
"""The name of the called tool, and the arguments: the model's own text, or an object without this text."""
VALID: Call = ("search", '{"query": "x", "limit": 5}')
REPAIRED: Call = ("search", "{'query': 'x', 'limit': 5,}")
COERCED: Call = ("search", '{"query": "x", "limit": "5"}')
RENAMED: Call = ("search", '{"Query": "x"}')
UNDECLARED: Call = ("search", '{"query": "x", "page": 2}')
INVALID: Call = ("search", '{"limit": 5}')
CUT_OFF: Call = ("search", '{"query": "x", "lim')
UNKNOWN: Call = ("serach", '{"query": "x"}')
NO_TEXT: Call = ("search", {"query": "x"})


def write_session(
    name: str,
    requests: Sequence[Sequence[Call]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = (SEARCH,),
    model: str = "owl",
    host: str = "east",
    day: str = "2026-11-09",
) -> str:
    """Return the session log of one session. Each request is a list of calls. With `tools=None`, the log
    lists no tools.
    """
    return "".join(
        json.dumps({"ts": f"{day}T08:15:00.000Z", "sessionId": name, **event}) + "\n"
        for event in _list_events(requests, tools, {"model": model, "provider": host})
    )


def _list_events(
    requests: Sequence[Sequence[Call]], tools: Sequence[Mapping[str, Any]] | None, served: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    offered = {} if tools is None else {"tools": list(tools)}
    yield {"type": "session_start", "role": "system", "content": "Be kind.", "meta": {**served, **offered}}
    yield {"type": "turn_start", "turn": 1, "content": "Do it."}
    for step, calls in enumerate(requests):
        blocks = [
            {"id": f"c{step}-{place}", "name": tool, "raw" if isinstance(sent, str) else "input": sent}
            for place, (tool, sent) in enumerate(calls)
        ]
        place = {"turn": 1, "step": step}
        yield {**place, "type": "assistant", "role": "assistant", "content": "", "meta": dict(served)}
        yield {**place, "type": "action", "meta": {"toolBlocks": blocks}}
        for block in blocks:
            answer = {"action_id": block["id"], "tool": block["name"], "status": "success"}
            yield {**place, "type": "observation", "content": "ok", "meta": answer}
    yield {"type": "turn_end", "turn": 1, "meta": {"status": "ok"}}


def write_log(folder: Path, *sessions: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "sessions.jsonl"
    path.write_text("".join(sessions), encoding="utf-8")
    return path
