"""Starts a recorder in front of a scripted server. A client sends and reads exact bytes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import uvicorn

from callgauge.recorder import ExchangeLog, RecordingProxy
from callgauge.recorder.exchange import PassingExchange

WAIT = 60  # seconds; this is enough even on a busy machine

Answer = Callable[["Received", asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Received:
    """One request, as the server behind the recorder received it."""

    head: str
    body: bytes

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.split("\r\n")[1:]
        return {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
        }


@dataclass
class Recorded:
    """A running recorder: a port, a folder, and the requests that the server behind it received."""

    port: int
    folder: Path
    received: list[Received] = field(default_factory=list)

    def lines(self) -> list[dict[str, Any]]:
        return [
            orjson.loads(line)
            for file in sorted(self.folder.glob("*.jsonl"))
            for line in file.read_bytes().splitlines()
        ]


async def read_message(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """Return the head and the body of one HTTP message, with chunks joined."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lowered = head.lower()
    if "transfer-encoding: chunked" in lowered:
        body = b""
        while size := int((await reader.readline()).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return head.strip(), body
    length = next(
        (int(line.split(":")[1]) for line in lowered.split("\r\n") if line.startswith("content-length")), None
    )
    return head.strip(), await reader.readexactly(length or 0)


@asynccontextmanager
async def recording(
    folder: Path, answer: Answer, path: str = "", log: ExchangeLog | None = None, **options: Any
) -> AsyncIterator[Recorded]:
    """Run a recorder during the `with` block. The server behind the recorder responds with `answer`."""
    recorded = Recorded(0, folder)
    connections: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        try:
            while True:
                received = Received(*await read_message(reader))
                recorded.received.append(received)
                await answer(received, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            await close(writer)

    behind = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 26)
    target = f"http://127.0.0.1:{behind.sockets[0].getsockname()[1]}{path}"
    written = log or ExchangeLog(folder, "test", PassingExchange.free)
    written.open()
    proxy = RecordingProxy(options.pop("target", target), written, **options)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    recorded.port = listening.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(proxy, log_level="critical", lifespan="on", server_header=False, date_header=False)
    )
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield recorded
    finally:
        server.should_exit = True
        await serving
        behind.close()
        for connection in filter(None, connections):
            connection.cancel()
            await asyncio.wait({connection})
        await asyncio.to_thread(written.close)


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def connect(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)


async def ask(
    port: int, body: bytes, path: str = "/v1/chat/completions", **headers: str
) -> tuple[str, bytes]:
    reader, writer = await connect(port)
    fields = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
    await writer.drain()
    try:
        return await asyncio.wait_for(read_message(reader), WAIT)
    finally:
        await close(writer)


def whole(content: bytes, kind: str = "application/json", status: str = "200 OK", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n{more}\r\n"
    return head.encode() + content


def chunked(pieces: list[bytes], kind: str = "text/event-stream", more: str = "") -> list[bytes]:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n{more}\r\n".encode()
    return [head, *(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n"]
