"""One call item of a Codex rollout in, the fields of its event out; keeps no state between records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.events import Seen
from ingest.fields import text
from ingest.shapes.chat import arguments_of
from ingest.shapes.dialogue import decoded, native

_REMOTE = "mcp__"  # tools of MCP servers: how those word a refusal of arguments is theirs


def function_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A function of Codex or of an MCP server; its arguments are the model's own text."""
    name, server = text(payload.get("name")), text(payload.get("namespace"))
    if name is not None and server:
        name = f"{server.rstrip('_')}__{name.lstrip('_')}"
    refusals_show = name is not None and not name.startswith(_REMOTE)
    return {
        **_shared(payload),
        **arguments_of(payload.get("arguments")),
        "tool": name,
        "schema_seen": Seen.FAILURES if refusals_show else Seen.NONE,
    }


def custom_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that takes free text: no JSON, so its syntax is not judged."""
    said = text(payload.get("input"))
    sent = decoded(None if said is None else {"input": said})
    return {**_shared(payload), **sent, "tool": text(payload.get("name"))}


def built_in_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that the API itself defines: named by the item's type, its arguments an object."""
    name = (text(payload.get("type")) or "").removesuffix("_call")
    return {**_shared(payload), **decoded(payload.get("action", payload.get("arguments"))), "tool": name}


def _shared(payload: Mapping[str, Any]) -> dict[str, Any]:
    return native(text(payload.get("call_id")))
