"""Measures the overhead of `callgauge record`, compared with the model server alone and with a plain proxy.

The server, the proxy and the recorder are measured in turn, in one process. `streams` parallel agents each
send a request of 20 KB. The reply is streamed in pieces with pauses, as a model does. Prints the time to the
first and the last piece in milliseconds (median and 95th percentile), the time added to the server's time,
and the CPU time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from callgauge.recorder import ExchangeLog, RecordingProxy
from callgauge.recorder.exchange import PassingExchange

_PIECE = b"data: " + b"x" * 120 + b"\n\n"
_PATH = "/v1/chat/completions"


def _make_model(pieces: int, pause: float) -> Any:

    async def answer(request: Request) -> StreamingResponse:
        await request.body()

        async def write() -> AsyncIterator[bytes]:
            for _ in range(pieces):
                yield _PIECE
                await asyncio.sleep(pause)

        return StreamingResponse(write(), media_type="text/event-stream")

    return Starlette(routes=[Route(_PATH, answer, methods=["POST"])])


def _make_plain_proxy(target: str) -> Any:
    client = httpx2.AsyncClient(
        timeout=None, limits=httpx2.Limits(max_connections=None, max_keepalive_connections=200)
    )

    async def forward(request: Request) -> StreamingResponse:
        sent = client.build_request("POST", target + request.url.path, content=request.stream())
        answer = await client.send(sent, stream=True)
        return StreamingResponse(answer.aiter_raw(), media_type="text/event-stream")

    return Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])


@asynccontextmanager
async def _serve(app: Any) -> AsyncIterator[str]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(2048)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


async def _ask(client: httpx2.AsyncClient, url: str, body: bytes) -> tuple[float, float]:
    started = time.perf_counter()
    first = 0.0
    headers = {"content-type": "application/json"}
    async with client.stream("POST", url + _PATH, content=body, headers=headers) as answer:
        async for _ in answer.aiter_raw():
            first = first or time.perf_counter() - started
    return first, time.perf_counter() - started


async def _measure(streams: int, rounds: int, pieces: int, pause: float, folder: Path) -> None:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "word " * 4_000}]})
    log = ExchangeLog(folder, "bench", PassingExchange.free)
    log.open()
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(_serve(_make_model(pieces, pause)))
        plain = await stack.enter_async_context(_serve(_make_plain_proxy(model)))
        recorder = await stack.enter_async_context(_serve(RecordingProxy(model, log)))
        unrecorded = await stack.enter_async_context(_serve(RecordingProxy(model, None)))
        ways = {
            "server alone": model,
            "plain proxy": plain,
            "not recording": unrecorded,
            "recorder": recorder,
        }
        limits = httpx2.Limits(max_connections=None)
        client = await stack.enter_async_context(httpx2.AsyncClient(timeout=None, limits=limits))
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        cpu = dict.fromkeys(ways, 0.0)
        for round_ in range(rounds + 1):
            for name, url in ways.items():
                before = time.process_time()
                got = await asyncio.gather(*(_ask(client, url, body) for _ in range(streams)))
                if round_:  # the first round only opens connections
                    times[name] += got
                    cpu[name] += time.process_time() - before
    await asyncio.to_thread(log.close)
    print(
        f"{streams} streams at once, {rounds} rounds, {pieces} pieces {pause * 1000:.0f} ms apart, "
        f"{os.cpu_count()} cores"
    )
    print(f"{'':16}{'first piece ms':>22}{'last piece ms':>22}{'added ms':>12}{'CPU ms each':>14}")
    base = statistics.median(last for _, last in times["server alone"])
    for name, samples in times.items():
        first, last = ([sample[at] * 1000 for sample in samples] for at in (0, 1))
        added = statistics.median(last) - base * 1000
        print(
            f"{name:16}{_spread(first):>22}{_spread(last):>22}{added:>12.1f}"
            f"{cpu[name] / len(samples) * 1000:>14.2f}"
        )
    print(f"recorded: {log.written} exchanges, lost: {log.lost}")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.1f} / {statistics.quantiles(values, n=20)[-1]:.1f}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench recorder", description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pieces", type=int, default=40)
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between pieces")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(options.streams, options.rounds, options.pieces, options.pause, Path(folder)))
    return 0
