"""The MCP server: serves the agents' tools over standard input and output, or over authenticated HTTP.

Protocol: https://modelcontextprotocol.io/specification. The package mcp is the extra `callgauge[mcp]`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from callgauge.api.agent_tools import (
    INSTRUCTIONS,
    TOOLS,
    AgentTool,
    find_tool,
    write_structure,
    write_texts_of,
)
from callgauge.api.openapi import ANSWER
from callgauge.api.questions.answers import Answer
from callgauge.api.questions.problems import ProblemError
from callgauge.api.questions.store_access import SharedStore, StoreAccess
from callgauge.api.routes import find_user, write_problem
from ingest.version import CALLGAUGE_VERSION, install_command

MOST_BODY = 1_000_000
"""The maximum number of bytes of one message over HTTP."""


class NoMcpError(Exception):
    """Raised when the package mcp is not installed."""

    def __init__(self) -> None:
        super().__init__(f"the MCP server needs the package mcp: {install_command('mcp')}")


def make_server(store: SharedStore) -> Any:
    """Return the MCP server of a store. Raises NoMcpError."""
    try:
        from mcp import types
        from mcp.server.lowlevel import Server
    except ModuleNotFoundError:
        raise NoMcpError from None

    async def list_tools(_: Any, __: Any) -> Any:
        return types.ListToolsResult(tools=[_declare(types, tool) for tool in TOOLS.values()])

    async def call_tool(_: Any, call: Any) -> Any:
        try:
            answer, structure = await answer_tool(store, call.name, call.arguments or {})
        except ProblemError as problem:
            # The problem is sent as a tool result, because a model never sees protocol errors.
            problem_text = types.TextContent(type="text", text=problem.detail)
            return types.CallToolResult(content=[problem_text], is_error=True)
        texts = write_texts_of(answer, structure)
        content: list[Any] = [types.TextContent(type="text", text=text) for text in texts]
        return types.CallToolResult(content=content, structured_content=structure)

    return Server(
        "callgauge",
        version=CALLGAUGE_VERSION,
        title="Callgauge",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _declare(types: Any, tool: AgentTool) -> Any:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=ANSWER if tool.name != "parse_arguments" else {"type": "object"},
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


async def answer_tool(
    store: SharedStore, name: str, arguments: Mapping[str, Any]
) -> tuple[Answer, dict[str, Any]]:
    """Return the result of a tool: first as strings, then as JSON values. Raises ProblemError."""
    tool = find_tool(name)
    parameters = tool.read(arguments)

    def ask(access: StoreAccess) -> tuple[Answer, dict[str, Any]]:
        answer = tool.answer(access, parameters)
        return answer, write_structure(answer, access.generation)

    return await store.answer(ask)


def run_stdio(store: SharedStore) -> None:
    """Serve MCP on standard input and output until the client closes the two streams. Raises NoMcpError."""
    server = make_server(store)
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    anyio.run(serve)


class McpEndpoint:
    """The ASGI application at /mcp: stateless streamable HTTP.

    The package mcp is imported at the first request, because the import is slow.
    """

    def __init__(self, store: SharedStore) -> None:
        self._store = store
        self._manager: Any = None
        self._task: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            _check_request(Request(scope, receive))
            manager = await self._start()
        except ProblemError as problem:
            await write_problem(problem)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _start(self) -> Any:
        async with self._starting:
            if self._manager is None:
                self._manager = await asyncio.to_thread(self._make_manager)
                ready = asyncio.Event()
                self._task = asyncio.create_task(self._hold(ready))
                await ready.wait()
        return self._manager

    def _make_manager(self) -> Any:
        try:
            server = make_server(self._store)
        except NoMcpError as missing:
            raise ProblemError(503, f"{str(missing)[0].upper()}{str(missing)[1:]}.") from None
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        # The server has already checked Host and Origin.
        return StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MOST_BODY
        )

    async def _hold(self, ready: asyncio.Event) -> None:
        """Keep the manager's tasks running until the server's event loop ends."""
        async with self._manager.run():
            ready.set()
            await asyncio.Event().wait()


def _check_request(request: Request) -> None:
    find_user(request)
    if request.method != "POST":
        raise ProblemError(405, "Agents send messages here by POST; nothing is sent on its own.")
