"""MCP traffic: the JSON-RPC messages between a client and a server, as proxies and inspectors log them.

**Files.** One message per line, as in standard input and output, or inside an object such as `{timestamp,
direction, message}`; `message` may be JSON text. No standard for such logs exists; the messages follow the
specification (https://modelcontextprotocol.io/specification).

**Fields.** `{jsonrpc: "2.0", id, method: "tools/call", params: {name, arguments}}`, answered by `{id, result:
{content, isError}}` or `{id, error: {code, message}}`. `tools/list` lists definitions. `initialize` names the
client and the server. Other messages are skipped.

**Sessions.** A session lasts from one `initialize` to the next, or has the id in the enclosing object
(`session_id`). Each call is a step. If the log names the server, the tool's name is `mcp__<server>__<tool>`,
as in agents' logs.

**Rules.**
- `isError` marks a failure of the tool. The error -32602 means invalid arguments or an unknown tool.
- The agent's own log contains the same calls. Load only one of the two.

**Not in the log.** The model, prompts and turns: all calls of a connection form one turn without an end. The
model's own argument text, because clients send decoded arguments.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.events import Event, FaultLayer, LogLine, ResultSeen, SessionSeen, ToolsOffered
from ingest.formats.conversations.agent_session import (
    AgentSession,
    decoded_argument_fields,
    native_call_fields,
)
from ingest.formats.conversations.result_layers import PASSED, failed_flag
from ingest.formats.provider_messages.chat_messages import ResultFlag
from ingest.formats.provider_messages.embedded_json import open_json, to_text
from ingest.formats.provider_messages.exchange import parse_instant
from ingest.formats.provider_messages.message_parts import read_result
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="mcp_messages",
    title="MCP messages (JSON-RPC)",
    raw_arguments="no: only decoded objects",
    argument_failures="partly: the error -32602, and what the listed definitions show",
    error_flag="yes: isError and JSON-RPC's errors",
    definitions="partly: where the log has an answer to tools/list",
    system_prompt="no",
    model="no",
    turn_end="no",
    cannot_tell="Who made the calls and why: a connection has no prompts, models or turns.",
)

_FRAMES = frozenset({"message", "payload", "data", "body", "msg", "raw", "request", "response", "content"})
_TIMES = ("timestamp", "ts", "time", "created_at")
_SESSIONS = ("session_id", "sessionId", "mcp_session_id", "mcpSessionId", "connection_id", "connectionId")
_METHODS = frozenset({"tools/call", "tools/list"})
_INVALID_PARAMS = -32602
_WAITING = 1_000  # maximum number of calls of one connection that may wait for an answer
_OPEN = 1_000  # maximum number of open connections


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return any(
        read_text(message.get("method")) in _METHODS for record in head for message in _list_messages(record)
    )


def _list_messages(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON-RPC messages in a record. The record is one message, or contains several."""
    if "jsonrpc" in record:
        return [dict(record)]
    if _FRAMES.isdisjoint(record):
        return []
    framed = (inner for key, frame in record.items() if key in _FRAMES for inner in _open_frame(frame))
    return [message for message in framed if "jsonrpc" in message]


def _open_frame(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, str):
        frame = open_json(frame, 1) if '"jsonrpc"' in frame else None
    return [frame] if isinstance(frame, dict) else read_objects(frame)


def translator(about: About) -> Translator:
    return _McpLog(about.identity)


class _WaitingCall(NamedTuple):
    tool: str | None
    ts: datetime | None


class _McpLog:
    """Translator of one file.

    Connections without ids follow one after another in the file.
    """

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._count = 0
        self._open: OrderedDict[str | None, _McpConnection] = OrderedDict()

    def take(self, record: Record) -> Iterator[Event]:
        value = record.value
        ts = next((instant for key in _TIMES if (instant := parse_instant(value.get(key)))), None)
        named = next((name for key in _SESSIONS if (name := read_text(value.get(key)))), None)
        for message in _list_messages(value):
            connection = self._open.get(named)
            begins = message.get("method") == "initialize" and named is None
            if connection is None or (begins and connection.has_calls):
                session = f"{self._identity}/{self._count}" if self._count else self._identity
                self._count += named is None
                self._open[named] = connection = _McpConnection(named or session)
                while len(self._open) > _OPEN:
                    self._open.popitem(last=False)
            yield from connection.take(message, record.where, ts)

    def finish(self) -> Iterator[Event]:
        yield from ()

    def close(self) -> None:
        """Do nothing: no file is open."""


class _McpConnection:
    """One connection between a client and a server."""

    def __init__(self, session_id: str) -> None:
        self._turns = AgentSession(session_id)
        self._waiting: OrderedDict[str, _WaitingCall] = OrderedDict()
        self._server: str | None = None
        self.has_calls = False

    def take(self, message: Mapping[str, Any], where: LogLine, ts: datetime | None) -> Iterator[Event]:
        params, result = read_object(message.get("params")), read_object(message.get("result"))
        ident = None if message.get("id") is None else str(message["id"])
        place: dict[str, Any] = {"session_id": self._turns.session_id, "where": where, "ts": ts}
        if message.get("method") == "initialize":
            client = read_object(params.get("clientInfo"))
            yield SessionSeen(
                **place,
                harness=read_text(client.get("name")),
                harness_version=read_text(client.get("version")),
            )
        elif message.get("method") == "tools/call":
            yield from self._take_call(params, ident, where, ts)
        elif ident is not None and ident in self._waiting and "method" not in message:
            yield self._make_result(message, ident, place)
        elif "serverInfo" in result:
            self._server = read_text(read_object(result["serverInfo"]).get("name"))
        elif (tools := read_objects(result.get("tools"))) and any("inputSchema" in tool for tool in tools):
            offered = ({**tool, "name": self._spell(read_text(tool.get("name")))} for tool in tools)
            yield ToolsOffered(**place, definitions=tuple(offered))

    def _take_call(
        self, params: Mapping[str, Any], ident: str | None, where: LogLine, ts: datetime | None
    ) -> Iterator[Event]:
        tool = self._spell(read_text(params.get("name")))
        self.has_calls = True
        yield from self._turns.add_step(where, ts)
        sent = decoded_argument_fields(params.get("arguments"))
        yield self._turns.add_call(where, ts, tool=tool, **native_call_fields(ident), **sent)
        if ident is not None:
            self._waiting[ident] = _WaitingCall(tool, ts)
        while len(self._waiting) > _WAITING:
            self._waiting.popitem(last=False)

    def _make_result(self, message: Mapping[str, Any], ident: str, place: Mapping[str, Any]) -> ResultSeen:
        call, ended = self._waiting.pop(ident), place["ts"]
        ran = (ended - call.ts).total_seconds() * 1000 if ended and call.ts else None
        error = read_object(message.get("error"))
        content, failed = read_result(message.get("result"))
        flag: ResultFlag = PASSED
        if error:
            content = read_text(error.get("message")) or to_text(error)
            layer = FaultLayer.SCHEMA if error.get("code") == _INVALID_PARAMS else FaultLayer.EXECUTION
            flag = failed_flag(content or "", layer)
        elif failed:
            flag = failed_flag(content or "")
        return ResultSeen(
            **place,
            tool_call_id=ident,
            tool=call.tool,
            content=content,
            latency_ms=ran if ran is not None and ran >= 0 else None,
            **flag.fields,
        )

    def _spell(self, tool: str | None) -> str | None:
        if tool is None or self._server is None:
            return tool
        return f"mcp__{re.sub(r'[^a-zA-Z0-9_-]', '_', self._server)}__{tool}"
