"""Passes requests to a server, passes the responses back, and records both.

The bytes are passed on unchanged and without delay.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import orjson
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from callgauge.gateway.endpoint import load_httpx
from callgauge.recorder.exchange import (
    LABELS,
    Captured,
    ExchangeLog,
    Memory,
    PassingExchange,
    keep_readable_codings,
    shorten_address,
)
from callgauge.traces.otlp_requests import TraceRequestError

if TYPE_CHECKING:
    import httpx2

MOST_MEMORY = 512 << 20  # The limit in bytes for the kept bodies of all current exchanges.
_CONNECT = 30.0  # The time limit in seconds for connecting; an answer has no time limit.
# These headers concern one connection only (RFC 9110, 7.6.1), so they are not passed on.
_OF_CONNECTION = frozenset(
    {
        "connection", "expect", "host", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
_BAD_GATEWAY, _FORBIDDEN, _NOT_FOUND = 502, 403, 404
_LOCAL_ONLY = "This address is served to this machine only."
_WENT_AWAY = "the client went away"


class _Target(NamedTuple):
    origin: str
    path: str


def _read_target(address: str) -> _Target:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address!r} is not an address; it must begin with http:// or https://.")
    return _Target(f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/"))


class RecordingProxy:
    """An ASGI application that passes requests to the server `target` and records them in `log`.

    If `target` maps names to servers, the URL path `/NAME/…` goes to the server with that name.

    Only POST requests with a JSON body are recorded. If the target's path, such as `/v1`, is also in the
    client's URL, the path is not added twice. If `is_local` is True, the Host header of a request must name
    this machine. So a foreign web page cannot use the proxy, even if the host name of the page resolves to
    this machine.
    """

    def __init__(
        self,
        target: str | Mapping[str, str],
        log: ExchangeLog | None,
        *,
        memory: Memory | None = None,
        most_body: int = 32 << 20,
        is_local: bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        named = {"": target} if isinstance(target, str) else target
        self._targets = {name: _read_target(address) for name, address in named.items()}
        self._log = log
        self._memory = memory or Memory(MOST_MEMORY)
        self._most_body = most_body
        self._is_local = is_local
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None

    @property
    def target(self) -> str:
        """The URL of the server, with user and password removed."""
        return ", ".join(shorten_address("".join(target)) for target in self._targets.values())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._pass(Request(scope, receive), send)
        else:
            await send({"type": "websocket.close", "code": 1011, "reason": "only HTTP is passed on"})

    def check_sender(self, scope: Scope) -> None:
        """Raise TraceRequestError if only local requests are allowed and the Host header is not local."""
        if not self._may_ask(Headers(scope=scope)):
            raise TraceRequestError(_FORBIDDEN, _LOCAL_ONLY)

    def _may_ask(self, headers: Headers) -> bool:
        return not self._is_local or _is_this_machine(headers.get("host", ""))

    async def _live(self, receive: Receive, send: Send) -> None:
        http = load_httpx()
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._client = http.AsyncClient(
                    timeout=http.Timeout(None, connect=_CONNECT),
                    limits=http.Limits(max_connections=None, max_keepalive_connections=200),
                    transport=self._transport,
                )
                await send({"type": "lifespan.startup.complete"})
            else:
                if self._client is not None:
                    await self._client.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _pass(self, request: Request, send: Send) -> None:
        if not self._may_ask(request.headers):
            await _send_error(send, _FORBIDDEN, _LOCAL_ONLY)
            return
        address = self._find_address(request)
        if address is None:
            names = ", ".join(f"/{name}" for name in self._targets)
            await _send_error(send, _NOT_FOUND, f"callgauge record: the path must begin with {names}.")
            return
        exchange = PassingExchange(
            address=address,
            method=request.method,
            request_headers=dict(request.headers),
            request=Captured(self._most_body, self._memory),
            response=Captured(self._most_body, self._memory),
            started=time.monotonic(),
        )
        is_recorded = self._log is not None and _is_model_request(request)
        try:
            await self._forward_while_wanted(request, send, exchange, is_recorded)
        finally:
            exchange.ended = exchange.ended or time.monotonic()
            if is_recorded and self._log is not None:
                self._log.take(exchange)
            else:
                exchange.free()

    async def _forward_while_wanted(
        self, request: Request, send: Send, exchange: PassingExchange, is_recorded: bool
    ) -> None:
        """Pass a request on. If the client disconnects, cancel the request, so that the server stops
        generating.
        """
        is_read = asyncio.Event()
        passing = asyncio.create_task(self._forward(request, send, exchange, is_recorded, is_read))
        leaving = asyncio.create_task(_wait_for_leaving(request, is_read))
        try:
            await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not passing.done() and exchange.ended is not None:
                await passing  # The answer is complete; only its connection is still open.
            elif not passing.done():
                exchange.problem = _WENT_AWAY
        except asyncio.CancelledError:
            exchange.problem = "the recorder was stopped"
            raise
        finally:
            passing.cancel()
            leaving.cancel()
            await asyncio.wait({passing, leaving})
        if not passing.cancelled() and (failure := passing.exception()) is not None:
            if not isinstance(failure, ClientDisconnect):
                raise failure
            exchange.problem = _WENT_AWAY

    def _find_address(self, request: Request) -> str | None:
        """Return the URL that a request goes to. Return None if no server matches."""
        raw = request.scope.get("raw_path") or request.url.path.encode()
        path = raw.decode("ascii", "replace")
        target = self._targets.get("")
        if target is None:
            name, slash, rest = path.removeprefix("/").partition("/")
            target, path = self._targets.get(name), slash + rest
        if target is None:
            return None
        doubled = path == target.path or path.startswith(target.path + "/")
        query = request.scope["query_string"].decode("ascii", "replace")
        whole = target.origin + (path if doubled else target.path + path)
        return f"{whole}?{query}" if query else whole

    async def _forward(
        self,
        request: Request,
        send: Send,
        exchange: PassingExchange,
        is_recorded: bool,
        is_read: asyncio.Event,
    ) -> None:
        http = load_httpx()
        if self._client is None:
            raise RuntimeError("the proxy is not started")

        async def note_request() -> AsyncIterator[bytes]:
            async for piece in request.stream():
                if is_recorded:
                    exchange.request.take(piece)
                if piece:
                    yield piece
            is_read.set()

        has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        if not has_body:
            is_read.set()
        sent = http.Request(
            request.method,
            exchange.address,
            headers=_pass_headers(request.headers.raw, of_request=True),
            content=note_request() if has_body else None,
        )
        try:
            answer = await self._client.send(sent, stream=True)
        except http.HTTPError as error:
            server = urlsplit(shorten_address(exchange.address)).netloc
            exchange.problem = f"{server} gave no answer: {_describe(error)}"
            exchange.status = _BAD_GATEWAY
            exchange.ended = time.monotonic()
            body = await _send_error(send, _BAD_GATEWAY, f"callgauge record: {exchange.problem}.")
            exchange.response.take(body)
            return
        try:
            await self._send_back(answer, send, exchange, is_recorded)
        finally:
            await answer.aclose()

    async def _send_back(
        self,
        answer: httpx2.Response,
        send: Send,
        exchange: PassingExchange,
        is_recorded: bool,
    ) -> None:
        exchange.status = answer.status_code
        exchange.response_encoding = answer.headers.get("content-encoding", "")
        await send(
            {
                "type": "http.response.start",
                "status": answer.status_code,
                "headers": _pass_headers(answer.headers.raw),
            }
        )
        try:
            async for piece in answer.aiter_raw():
                if exchange.first_byte is None:
                    exchange.first_byte = time.monotonic()
                if is_recorded:
                    exchange.response.take(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except load_httpx().HTTPError as error:
            # The web server then closes the connection early, so the client notices the error.
            exchange.problem = f"the answer broke off: {_describe(error)}"
            return
        exchange.ended = time.monotonic()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_for_leaving(request: Request, is_read: asyncio.Event) -> None:
    """Wait until the client has disconnected. Begin only when the whole request has been read."""
    await is_read.wait()
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _is_model_request(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return request.method == "POST" and (kind == "application/json" or kind.endswith("+json"))


def _pass_headers(
    headers: Iterable[tuple[bytes, bytes]], *, of_request: bool = False
) -> list[tuple[bytes, bytes]]:
    """Return the headers to pass on, without Callgauge's own headers. Remove Brotli from Accept-Encoding."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {
        token.strip().lower()
        for name, value in lowered
        if name == b"connection"
        for token in value.split(b",")
    }
    passed = []
    for name, value in lowered:
        text = name.decode("latin-1")
        if text in _OF_CONNECTION or name in named or (of_request and text in LABELS):
            continue
        if of_request and text == "accept-encoding":
            passed.append((name, keep_readable_codings(value.decode("latin-1")).encode("latin-1")))
        else:
            passed.append((name, value))
    return passed


def _is_this_machine(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": .")


async def _send_error(send: Send, status: int, message: str) -> bytes:
    """Send an error in the format that model clients read. Return the body of the error."""
    body = orjson.dumps({"error": {"message": message, "type": "callgauge_record"}})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
    return body
