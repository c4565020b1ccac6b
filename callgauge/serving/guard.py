"""Checks the host, origin and route of each request, and sets the headers of every response.

The guard rejects requests that the pages do not need but that Streamlit would answer. Examples are uploads,
memory figures and requests with any Host header.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callgauge.serving.settings import LOCAL_NAMES
from callgauge.traces.intake import TRACES

# The pages need these routes of Streamlit; the server rejects all other routes.
_CORE = "/_stcore/"
_CORE_ROUTES = ("health", "host-config", "stream", "bidi-components/")
_METHODS = ("GET", "HEAD", "OPTIONS")  # not POST: pages use the websocket, and uploads are rejected
# paths that accept POST: sign-in forms, MCP messages and traces from programs
_POSTED = ("/sign-in", "/sign-out", "/mcp", TRACES)
_STATIC = ("/static/", "/app/static/")  # paths of scripts, styles and fonts, which are the same for all users
_PORTS = {"http": 80, "https": 443}
_PIECE_BYTES = 65_536  # The maximum number of bytes of a body that are sent in one message.
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class ServerGuard:
    """Rejects requests that no page makes, and sets security headers on every response.

    `hosts` contains the host names that the server accepts; `*` accepts any name. The Origin header must
    equal the host and port of the request. If a proxy changes the Host header, the Origin header must name a
    host in `hosts` with the default port, but not this machine. `address` is the server's public address
    behind a proxy. An Origin with the same host name as `address` but another scheme or port is rejected.
    `embed_in` contains the origins that may show the server in a frame.
    """

    def __init__(
        self,
        app: ASGIApp,
        page: str,
        hosts: Sequence[str],
        embed_in: Sequence[str] = (),
        address: str | None = None,
    ) -> None:
        self._app = app
        self._hosts = {_tidy_name(name) for name in hosts}
        self._address = _read_place(address) if address else None
        self._headers = _make_headers(page, embed_in)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = self._find_refusal(scope)
        if scope["type"] == "websocket":
            if refused is None:
                await self._app(scope, receive, send)
            else:
                await receive()
                # closing before the handshake makes the answer HTTP 403
                await send({"type": "websocket.close", "code": 1008})
            return
        sending = _SendWithHeaders(send, self._headers, is_static=scope["path"].startswith(_STATIC))
        if refused is None:
            await self._app(scope, receive, sending)
        else:
            await _send_text(sending, *refused)

    def _find_refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason of a rejection. Return None if the request is accepted."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_known(_read_name(host)):
            return (
                421,
                "The server does not know this host name. Start it with --allowed-host NAME.",
            )
        if (origin is not None and not self._is_own_origin(origin, host)) or _is_asked_by_another(headers):
            return 403, "Pages of another site may not ask this server."
        if scope["type"] == "http" and not _is_method_known(scope["method"], scope["path"]):
            return 405, "This server takes no uploads."
        _, is_core, route = scope["path"].partition(_CORE)
        if is_core and not route.startswith(_CORE_ROUTES):
            return 404, "No such address."
        return None

    def _is_known(self, name: str | None) -> bool:
        return name is not None and ("*" in self._hosts or name in self._hosts)

    def _is_own_origin(self, origin: str, host: str) -> bool:
        page = _read_place(origin)
        if page is None:
            return False
        if self._address is not None and page.name == self._address.name:
            return page == self._address
        if page == _read_place(f"{page.scheme}://{host}"):
            return True
        # A proxy may replace the host name that the browser sent. A page on another port comes from another
        # server, which gets the same cookies, so only the default port is accepted.
        is_named = page.name in self._hosts and page.name not in LOCAL_NAMES
        return is_named and page.port == _PORTS[page.scheme] and page.name != _read_name(host)


class _Place(NamedTuple):
    """The origin of a page (scheme, host and port), as browsers define it."""

    scheme: str
    name: str
    port: int


class _SendWithHeaders:
    """Forwards messages to `send`, adds our headers to each response, and divides long bodies into pieces.

    The next piece is sent when the client has read the previous one. So the server buffers only a small
    amount.
    """

    def __init__(self, send: Send, headers: Iterable[tuple[str, str]], *, is_static: bool) -> None:
        self._send = send
        self._headers = headers
        self._is_static = is_static

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            for name, value in self._headers:
                headers[name] = value
            del headers[
                "access-control-allow-origin"
            ]  # only our own pages need Streamlit's fonts and scripts
            if not self._is_static:
                headers["cache-control"] = "no-store"
            message = {**message, "headers": headers.raw}
        body = memoryview(message.get("body", b""))  # a slice of it is no copy
        while len(body) > _PIECE_BYTES:
            await self._send({**message, "body": bytes(body[:_PIECE_BYTES]), "more_body": True})
            body = body[_PIECE_BYTES:]
        if body:
            message = {**message, "body": bytes(body)}
        await self._send(message)


def _is_asked_by_another(headers: Headers) -> bool:
    """Return True if a page of another site made the request.

    Some requests have no Origin header, for example requests for images. The other site's page could use such
    requests to start queries. Links, and frames in pages of `embed_in`, are allowed.
    """
    fetch_site = headers.get("sec-fetch-site")
    return fetch_site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate"


def _is_method_known(method: str, path: str) -> bool:
    return method in _METHODS or (
        method == "POST" and any(path == place or path.startswith(f"{place}/") for place in _POSTED)
    )


def _make_headers(page: str, embed_in: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the headers of every response.

    `page` is Streamlit's first page. Its inline scripts are allowed by their hashes. Streamlit needs
    `unsafe-inline` for styles, and workers from `blob:` and WebAssembly for charts and tables. Files from
    other servers and the use of `eval` are forbidden.
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in _INLINE.findall(page)
    )
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: 'wasm-unsafe-eval' {hashes}".strip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self' ws: wss:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(embed_in) or "'none'",
    }
    headers = [
        ("content-security-policy", "; ".join(f"{name} {value}" for name, value in policy.items())),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ]
    if not embed_in:
        headers.append(("x-frame-options", "DENY"))
    return tuple(headers)


def read_first_page(static: Path) -> str:
    """Return Streamlit's first page from its folder of static files."""
    return (static / "index.html").read_text(encoding="utf-8")


def _read_name(host: str) -> str | None:
    """Return the name in a Host header. Return None if the header is invalid."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # `port` raises ValueError if the text is not a number
    except ValueError:
        return None
    if parts.hostname is None or parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return _tidy_name(parts.hostname)


def _read_place(address: str) -> _Place | None:
    """Return the origin in an address or an Origin header. Return None if the string is invalid."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return _Place(parts.scheme, _tidy_name(parts.hostname), _PORTS[parts.scheme] if port is None else port)


def _tidy_name(name: str) -> str:
    return name.strip().lower().rstrip(".").strip("[]")


async def _send_text(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
