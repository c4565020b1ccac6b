"""Builds the event fields of one tool call item in a Codex rollout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import read_text
from ingest.events import Visibility
from ingest.formats.conversations.agent_session import decoded_argument_fields, native_call_fields
from ingest.formats.provider_messages.chat_messages import argument_fields

_REMOTE = "mcp__"  # tools of MCP servers: how those word a refusal of arguments is theirs


def function_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call of a Codex or MCP function; the arguments are the model's own text."""
    name, server = read_text(payload.get("name")), read_text(payload.get("namespace"))
    if name is not None and server:
        name = f"{server.rstrip('_')}__{name.lstrip('_')}"
    refusals_show = name is not None and not name.startswith(_REMOTE)
    return {
        **_shared_fields(payload),
        **argument_fields(payload.get("arguments")),
        "tool": name,
        "schema_seen": Visibility.FAILURES if refusals_show else Visibility.NONE,
    }


def custom_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call of a free-text tool; its input is no JSON and gets no syntax verdict."""
    said = read_text(payload.get("input"))
    sent = decoded_argument_fields(None if said is None else {"input": said})
    return {**_shared_fields(payload), **sent, "tool": read_text(payload.get("name"))}


def built_in_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call of a tool that the API itself defines.

    The tool is named by the item's type; its arguments are an object.
    """
    name = (read_text(payload.get("type")) or "").removesuffix("_call")
    return {
        **_shared_fields(payload),
        **decoded_argument_fields(payload.get("action", payload.get("arguments"))),
        "tool": name,
    }


def _shared_fields(payload: Mapping[str, Any]) -> dict[str, Any]:
    return native_call_fields(read_text(payload.get("call_id")))
