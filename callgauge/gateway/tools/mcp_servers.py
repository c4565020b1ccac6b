"""Offer the tools of MCP servers, which are started by a command or have a URL (streamable HTTP).

If a server fails, the conversation continues and the model is told. Protocol:
https://modelcontextprotocol.io/specification
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO
from urllib.parse import urlsplit

from callgauge.gateway.tools.toolbox import Tool, ToolContext, ToolFailed, ToolRejected, make_safe_name
from ingest.version import install_command
from lenient import ToolDefinition, ToolDefinitionError
from lenient.calls.refusals import refuses_arguments

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

_LOG = logging.getLogger("callgauge.Tools")
_MOST_PAGES = 100  # most pages of a list of tools
_CLOSING = 15.0  # seconds; a process that does not end is killed after six seconds
_TAIL = 4_000  # characters to keep from the end of a server's standard error
_SECRET_NAMES = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SHORTEST_SECRET = 4  # Shorter values are not secrets, because they occur in any text.
_FIRST_ERROR = 400  # the lowest HTTP status that is an error
_INVALID_PARAMETERS, _CONNECTION_CLOSED = -32602, -32000  # the codes of JSON-RPC and of the SDK


class McpServerError(Exception):
    """Raised when an MCP server cannot be used. The message names the server and the reason."""


class _ServerRejected(ToolRejected):
    """Raised when a server rejects the arguments. The message comes from the server."""

    def __init__(self, message: str) -> None:
        super().__init__("arguments_rejected", message)

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: a `command` with arguments, a `url`, or a `program` in this process (an `MCPServer`).

    A command runs in `folder`. Its environment contains a few variables of this process (such as PATH and
    HOME) and the variables named in `environment`. `key` is sent to a `url` as a bearer token. If two servers
    have a tool of the same name, `name` is its prefix; the default is the server's own name. The server has
    `timeout` seconds to start and to list its tools.
    """

    name: str = ""
    command: tuple[str, ...] = ()
    url: str | None = None
    program: Any = None
    environment: tuple[str, ...] = ()
    key: str = field(default="", repr=False)
    folder: Path | None = None
    timeout: float = 30.0

    def __post_init__(self) -> None:
        if sum((bool(self.command), self.url is not None, self.program is not None)) != 1:
            raise ValueError("An MCP server is a command, an address or a program: one of the three.")

    @property
    def label(self) -> str:
        """Return a name for messages: `name`, the program and its first argument, or the host of the URL."""
        if self.url is not None:
            return self.name or urlsplit(self.url).hostname or "at an address"
        named = [Path(word).name for word in self.command if not word.startswith("-")]
        return self.name or " ".join(named[:2]) or "in this process"

    def find_secrets(self) -> dict[str, str]:
        """Return the secrets that no log may contain, each with the word that replaces it."""
        values = {f"[{name}]": os.environ.get(name, "") for name in self.environment if is_secret(name)}
        values["[key]"] = self.key
        return {value: word for word, value in values.items() if len(value) >= _SHORTEST_SECRET}


def is_secret(name: str) -> bool:
    """Return True when a variable with this name probably holds a secret, such as TOKEN or API_KEY."""
    return _SECRET_NAMES.search(name) is not None


@asynccontextmanager
async def open_mcp_servers(
    servers: Iterable[McpServer], *, taken: Collection[str] = ()
) -> AsyncIterator[list[Tool]]:
    """Start or reach the servers, and yield their tools until the block ends.

    A tool name that two servers have, or that is in `taken`, gets the server's name as a prefix. Characters
    that the models' APIs do not accept in names become `_`. Raises McpServerError when a server cannot be
    used, or when the package mcp is missing.
    """
    connections = [_Connection(server) for server in servers]
    try:
        await asyncio.gather(*(connection.start() for connection in connections))
        yield _make_tools(connections, taken)
    finally:
        await asyncio.gather(*(connection.close() for connection in connections))


def _make_tools(connections: Sequence[_Connection], taken: Collection[str]) -> list[Tool]:
    listed = [(connection, declared) for connection in connections for declared in connection.declared]
    name_counts = Counter(make_safe_name(declared["name"]) for _, declared in listed)
    used = set(taken)
    tools = []
    for connection, declared in listed:
        sent = declared["name"]
        name = make_safe_name(sent)
        if name_counts[name] > 1 or name in taken:
            name = make_safe_name(f"{connection.name}_{sent}")
        if name in used:
            raise McpServerError(f"MCP server {connection.server.label}: there are two tools {name}.")
        used.add(name)
        try:
            definition = ToolDefinition.from_mcp({**declared, "name": name})
        except ToolDefinitionError as problem:
            _LOG.warning("MCP server %s: its tool %s is left out: %s", connection.server.label, sent, problem)
            continue
        tools.append(Tool(definition, _McpTool(connection, sent)))
    return tools


@dataclass(frozen=True, slots=True)
class _McpTool:
    """The function that runs a server's tool."""

    connection: _Connection
    name: str

    async def __call__(self, context: ToolContext) -> str:
        return await self.connection.call(self.name, context.request.arguments or {})


class _Connection:
    """The connection to a server. `declared` are the server's tools, `name` is the prefix of their names."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.name = server.name
        self.declared: list[dict[str, Any]] = []
        self._secrets = server.find_secrets()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._failure: str | None = None
        self._has_rubbish = False
        self._last_status: int | None = None

    async def start(self) -> None:
        """Connect and list the tools. Raises McpServerError."""
        _load_mcp()
        self._task = asyncio.create_task(self._hold(), name=f"MCP server {self.server.label}")
        try:
            async with asyncio.timeout(self.server.timeout):
                await self._ready.wait()
        except TimeoutError:
            self._failure = f"it did not answer within {self.server.timeout:g} s."
        if self._client is None:
            raise McpServerError(f"MCP server {self.server.label}: {self._failure}")

    async def close(self) -> None:
        """Close the connection. If a command started the server, end its process."""
        if self._task is None:
            return
        self._stop.set()
        if self._client is None:
            self._task.cancel()
        _, pending = await asyncio.wait({self._task}, timeout=_CLOSING)
        if pending:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSING)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool. Raises ToolRejected and ToolFailed with the server's message."""
        if self._client is None or self._task is None:
            raise ToolFailed(self._say_gone())
        calling = asyncio.ensure_future(self._client.call_tool(name, dict(arguments)))
        try:
            await asyncio.wait({calling, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not calling.done():
                calling.cancel()
        if not calling.done() or calling.cancelled():
            raise ToolFailed(self._say_gone())
        return self._read_answer(calling)

    def _read_answer(self, calling: asyncio.Future[CallToolResult]) -> str:
        error = calling.exception()
        if error is not None:
            code = getattr(error, "code", None)
            if code == _CONNECTION_CLOSED:
                raise ToolFailed(self._say_gone())
            message = self._hide(str(error))
            if code == _INVALID_PARAMETERS:
                raise _ServerRejected(message)
            raise ToolFailed(
                message if code is not None else f"The server's answer cannot be read: {message}"
            )
        result = calling.result()
        text = self._hide(_write_content(result))
        if not result.is_error:
            return text
        if refuses_arguments(text):
            raise _ServerRejected(text)
        raise ToolFailed(text or "The tool failed, and its server does not say why.")

    def _say_gone(self) -> str:
        if self.server.url is not None:
            return f"The MCP server {self.name} cannot be reached."
        return f"The MCP server {self.name} has ended; its tools cannot be used any more."

    async def _hold(self) -> None:
        """Keep the connection open until `close`, even if the server fails."""
        try:
            async with AsyncExitStack() as stack:
                tail = stack.enter_context(_StderrTail())
                try:
                    client = await stack.enter_async_context(await self._make_client(stack, tail.file))
                    self.declared = await _list_tools(client)
                except Exception as error:
                    why = f"{_explain(error, self.server)}{await tail.quote()}{self._say_status()}"
                    raise McpServerError(why) from error
                own = client.server_info.name if client.server_info is not None else ""
                self.name = self.name or own or self.server.label
                self._client = client
                self._ready.set()
                await self._stop.wait()
        except McpServerError as failure:
            self._failure = self._hide(str(failure))
        except Exception as error:
            self._failure = self._hide(_explain(error, self.server))
            _LOG.warning("MCP server %s: %s", self.server.label, self._failure)
        finally:
            self._client = None
            self._ready.set()

    async def _make_client(self, stack: AsyncExitStack, stderr: TextIO) -> Client:
        mcp = _load_mcp()
        client: Client = mcp.Client(
            await self._make_transport(stack, stderr),
            message_handler=self._take_message,
            client_info=mcp.Implementation(name="callgauge", version="1"),
        )
        return client

    async def _make_transport(self, stack: AsyncExitStack, stderr: TextIO) -> Any:
        from mcp.client.stdio import StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        server = self.server
        if server.program is not None:
            return server.program
        if server.url is not None:
            import httpx2

            headers = {"authorization": f"Bearer {server.key}"} if server.key else {}
            waits = httpx2.Timeout(30.0, read=300.0)  # A server may keep a stream open.
            hooks = {"response": [self._remember_status]}
            client = httpx2.AsyncClient(headers=headers, timeout=waits, event_hooks=hooks)
            http = await stack.enter_async_context(client)
            return streamable_http_client(server.url, http_client=http)
        command = StdioServerParameters(
            command=server.command[0],
            args=list(server.command[1:]),
            env=_read_variables(server),
            cwd=server.folder,
            encoding_error_handler="replace",
        )
        return stdio_client(command, errlog=stderr)

    async def _remember_status(self, answer: Any) -> None:
        self._last_status = answer.status_code

    def _say_status(self) -> str:
        """Return the HTTP status of a rejected request in brackets, or '' if no request was rejected."""
        status = self._last_status
        if status is None or status < _FIRST_ERROR:
            return ""
        wants_key = ": it wants a key, or another one" if status in (401, 403) else ""
        return f" (HTTP {status}{wants_key})"

    async def _take_message(self, message: Any) -> None:
        """Handle a notification of the server, or an exception for printed output that is not a message."""
        if isinstance(message, Exception) and not self._has_rubbish:
            self._has_rubbish = True
            _LOG.warning(
                "MCP server %s prints lines that are not messages; they are skipped.", self.server.label
            )

    def _hide(self, text: str) -> str:
        for value, word in self._secrets.items():
            text = text.replace(value, word)
        return text


def _load_mcp() -> Any:
    try:
        import mcp
    except ModuleNotFoundError:
        raise McpServerError(f"MCP servers need the package mcp: {install_command('mcp')}") from None
    # Log nothing until the program configures logging.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    return mcp


def _read_variables(server: McpServer) -> dict[str, str]:
    missing = [name for name in server.environment if name not in os.environ]
    if missing:
        raise McpServerError(f"the environment has no variable {', '.join(missing)}.")
    return {name: os.environ[name] for name in server.environment}


async def _list_tools(client: Client) -> list[dict[str, Any]]:
    declared: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        declared += [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return declared
    raise McpServerError(f"its list of tools has no end after {_MOST_PAGES} pages.")


def _explain(error: BaseException, server: McpServer) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, McpServerError):
        return str(error)
    if isinstance(error, FileNotFoundError) and server.command:
        return f"command not found: {server.command[0]}."
    if getattr(error, "code", None) == _CONNECTION_CLOSED:
        return "it ended before it answered."
    message = " ".join(str(error).split())
    return f"{type(error).__name__}{f': {message}' if message else ''}"


def _write_content(result: CallToolResult) -> str:
    """Return a tool result as text. Images, audio and files are described by their kind, type and size."""
    parts = [_write_block(block.model_dump(by_alias=True, mode="json")) for block in result.content]
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":")))
    return "\n".join(parts)


def _write_block(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block["text"])
    if kind == "resource":
        resource = block["resource"]
        if resource.get("text") is not None:
            return str(resource["text"])
        return _name_block("resource", resource.get("uri"), resource.get("mimeType"), resource.get("blob"))
    return _name_block(str(kind), block.get("uri"), block.get("mimeType"), block.get("data"))


def _name_block(kind: str, address: str | None, mime_type: str | None, encoded: str | None) -> str:
    size = f"{len(encoded.rstrip('=')) * 3 // 4:,} bytes" if encoded is not None else None
    parts = [part for part in (address, mime_type, size) if part]
    return f"[{kind}{': ' if parts else ''}{', '.join(parts)}]"


class _StderrTail:
    """A file that keeps only the end of a server's standard error."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file: TextIO = os.fdopen(writing, "w")
        self._last_bytes = b""
        self._reader = threading.Thread(target=self._read, args=(reading,), daemon=True)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while part := pipe.read(_TAIL):
                self._last_bytes = (self._last_bytes + part)[-_TAIL:]

    async def quote(self) -> str:
        """Return the last lines of standard error in brackets, or ''. Call this method only after the server
        has ended.
        """
        self.file.close()
        await asyncio.to_thread(self._reader.join, 1.0)
        lines = self._last_bytes.decode("utf-8", "replace").split("\n")
        output = " ".join(line.strip() for line in lines[-6:] if line.strip())
        return f" (its last output: {output[-500:]})" if output else ""
