"""Checks the user of each request before the server's routes handle it. A user without access sees only the
sign-in page.

The gate also checks the user at each message of an open websocket, so that removed users receive no more
data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from callgauge.configuration.settings import SignInSettings
from callgauge.serving.access_log import AccessLog
from callgauge.serving.clients import ClientAddresses, is_of_this_machine
from callgauge.serving.identity import (
    LOCAL_USER,
    NETWORK_USER,
    ROLE_HEADER,
    USER_HEADER,
    WRITES_HEADER,
    User,
    read_bearer,
    write_headers,
)
from callgauge.serving.open_pages import OpenPage, SentMedia
from callgauge.serving.request_limits import OpenCount, RateLimit
from callgauge.serving.sign_in.admission import Admission, Identity
from callgauge.serving.sign_in.page import FILES
from callgauge.serving.sign_in.proxy_identity import ProxyIdentity
from callgauge.serving.sign_in.routes import PLACE, SIGN_OUT, SignInRoutes, refuse_account, sign_in_address
from callgauge.serving.sign_in.sessions import COOKIE, Sessions, SignInSession

HEALTH = ("/healthz", "/_stcore/health")
"""Routes that report that the server lives. The only store data they show is the age of the last load."""
PROGRAMS = ("/api/", "/mcp", "/metrics")
"""Routes for programs, which send a token. They accept a browser's session, too."""
MEDIA = "/media/"
# paths of files and connections that pages use, but not the paths of pages
_PARTS = re.compile(r"/(static|app|media|component|_stcore)/|.*/_stcore/")
_STATIC = ("/static/", "/app/static/")
_OURS = tuple(name.encode() for name in (USER_HEADER, ROLE_HEADER, WRITES_HEADER))
_NO_TOKEN = {
    "type": "about:blank",
    "title": "A token is needed",
    "status": int(HTTPStatus.UNAUTHORIZED),
    "detail": "Send a valid token: Authorization: Bearer TOKEN; "
    "create one with `callgauge token create NAME --store DIR`.",
}  # the API's errors have this format (RFC 9457)
MOST_BODY = 1_000_000
"""The maximum size of a request body, in bytes."""
MOST_MESSAGE = 10_000_000
"""The maximum size of a websocket message from a page, in bytes; a text in an editor can be long."""
MOST_MESSAGES = 1_200
"""The maximum number of messages from a page per minute: keys typed into a search, and data updates."""


class Gate:
    """Rejects requests of users who are unknown or have no access.

    `find_token` returns the user of a token. On a server without sign-in, users on this machine are admins,
    and users on the network may only read. Limits apply to each user. A request without a user counts for the
    client's address.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: SignInSettings,
        find_token: Callable[[str], User | None],
        sessions: Sessions | None = None,
        routes: SignInRoutes | None = None,
        admission: Admission | None = None,
        log: AccessLog | None = None,
    ) -> None:
        self._app = app
        self._method = settings.method
        self._find_token = find_token
        self._sessions = sessions
        self._routes = routes
        self._admission = admission or Admission(settings)
        self._log = log
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._proxy = ProxyIdentity(settings) if settings.method == "header" else None
        self._requests = RateLimit(1_200, 60)
        self._pages = OpenCount(each=200, most=1_000)
        self._media = SentMedia()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        # A client could send forged user headers, so they are removed.
        scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0].lower() not in _OURS]}
        path, is_page = scope["path"], scope["type"] == "http"
        is_for_all = is_page and _is_for_all(path, scope["method"])
        is_sign_in = is_page and self._routes is not None and _is_sign_in(path)
        visitor = _Visitor(scope, self._clients.find(scope))
        if not is_for_all and not is_sign_in:
            self._find_user(visitor)
        if not path.startswith(_STATIC) and not self._requests.take(visitor.key):
            refusal = PlainTextResponse("Too many requests.", 429, {"retry-after": "10"})
            await self._refuse(scope, receive, send, refusal)
        elif visitor.announces_too_much():
            await self._refuse(scope, receive, send, PlainTextResponse("Too many requests.", 413))
        elif is_for_all:
            await self._app(scope, receive, send)
        elif is_sign_in and self._routes is not None:
            answer = await self._routes.answer(Request(scope, _LimitedBody(receive)))
            await answer(scope, receive, send)
        elif visitor.user is None:
            await self._refuse(scope, receive, send, self._turn_away(visitor))
        else:
            await self._let_through(visitor, visitor.user, receive, send)

    def _find_user(self, visitor: _Visitor) -> None:
        request = visitor.request
        if visitor.path.startswith(PROGRAMS) and request.headers.get("authorization"):
            token = read_bearer(request.headers)
            visitor.user = None if token is None else self._find_token(token)
        elif self._method == "none":
            is_local = is_of_this_machine(visitor.scope, self._clients)
            visitor.user = LOCAL_USER if is_local else NETWORK_USER
        elif self._proxy is not None:
            visitor.identity = self._proxy.read(visitor.scope)
        elif self._sessions is not None:
            visitor.session = self._sessions.read(request.cookies.get(COOKIE, ""))
            visitor.identity = visitor.session.identity if visitor.session else None
        if visitor.identity is not None:
            visitor.user = self._admission.admit(visitor.identity)

    def _turn_away(self, visitor: _Visitor) -> Response:
        request = visitor.request
        if visitor.path.startswith(PROGRAMS):
            return JSONResponse(
                _NO_TOKEN,
                HTTPStatus.UNAUTHORIZED,
                {"www-authenticate": 'Bearer realm="callgauge"', "cache-control": "no-store"},
                "application/problem+json",
            )
        if visitor.identity is not None:
            return refuse_account(visitor.identity.name)
        is_page = "text/html" in request.headers.get("accept", "") and not _PARTS.match(visitor.path)
        if visitor.scope["type"] == "http" and is_page:
            place = sign_in_address(visitor.path, visitor.query)
            return RedirectResponse(place, HTTPStatus.SEE_OTHER)
        return PlainTextResponse("Sign in first.", HTTPStatus.UNAUTHORIZED)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, answer: Response) -> None:
        if scope["type"] == "websocket":
            await receive()
            # closing before the handshake makes the answer HTTP 403
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)

    async def _let_through(self, visitor: _Visitor, user: User, receive: Receive, send: Send) -> None:
        scope = {**visitor.scope, "headers": [*visitor.scope["headers"], *write_headers(user)]}
        if scope["type"] == "websocket":
            await self._open_page(scope, visitor, user, receive, send)
            return
        path = scope["path"]
        if path.startswith(MEDIA) and self._method != "none":
            if not self._media.was_sent(user, path.removeprefix(MEDIA)):
                await PlainTextResponse("No such file.", 404)(scope, receive, send)
                return
            if scope["method"] == "GET":
                send = _NotedDownload(send, self._log, user)
        elif path.startswith(PROGRAMS) and self._log is not None:
            self._log.write("api", user, client=visitor.client, path=path)
        await self._app(scope, _LimitedBody(receive), send)

    async def _open_page(
        self, scope: Scope, visitor: _Visitor, user: User, receive: Receive, send: Send
    ) -> None:
        key = visitor.key
        if not self._pages.begin(key):
            await self._refuse(scope, receive, send, PlainTextResponse(""))
            return
        # each page has its own limit: a browser may have many pages open
        messages = RateLimit(MOST_MESSAGES, 60, keys=1)
        page = OpenPage(
            receive,
            send,
            is_admitted=lambda: self._is_still_admitted(visitor),
            may_send=lambda size: size <= MOST_MESSAGE and messages.take(key),
            note_media=lambda name: self._media.note(user, name),
        )
        try:
            await self._app(scope, page.receive, page.send)
        finally:
            self._pages.end(key)

    def _is_still_admitted(self, visitor: _Visitor) -> bool:
        if visitor.identity is None:
            return True  # a server without sign-in
        if visitor.session is not None and not (self._sessions and self._sessions.is_open(visitor.session)):
            return False
        return self._admission.admit(visitor.identity) == visitor.user


class _Visitor:
    def __init__(self, scope: Scope, client: str) -> None:
        self.scope = scope
        self.client = client
        # Request.url would contain the Host header, which the client chooses.
        self.path: str = scope["path"]
        self.query: str = scope.get("query_string", b"").decode("latin-1")
        # A websocket handshake has headers and cookies like an HTTP request.
        self.request = Request({"method": "GET", **scope, "type": "http"})
        self.identity: Identity | None = None
        self.session: SignInSession | None = None
        self.user: User | None = None

    @property
    def key(self) -> str:
        """Return the user's name as the key for limits. Return the address if there is no user."""
        return self.user.name if self.user and self.user.name else self.client

    def announces_too_much(self) -> bool:
        length = self.request.headers.get("content-length", "0")
        return not (length.isascii() and length.isdigit() and len(length) < 20 and int(length) <= MOST_BODY)


class _LimitedBody:
    """Reads a request body of at most MOST_BODY bytes. Reports a disconnect if the body is longer."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = MOST_BODY

    async def __call__(self) -> Any:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                return {"type": "http.disconnect"}
        return message


class _NotedDownload:
    """Writes each downloaded file into the access log."""

    def __init__(self, send: Send, log: AccessLog | None, user: User) -> None:
        self._send = send
        self._log = log
        self._user = user

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start" and self._log is not None:
            headers = dict(message["headers"])
            disposition = headers.get(b"content-disposition", b"").decode("latin-1")
            is_sent = message["status"] in (
                HTTPStatus.OK,
                HTTPStatus.PARTIAL_CONTENT,
            )  # a partial answer may contain the whole file, so it is logged, too
            if disposition.startswith("attachment") and is_sent:
                size = headers.get(b"content-length", b"").decode("latin-1")
                file = disposition.partition("filename")[2].lstrip("*=").strip('"')
                self._log.write("export", self._user, file=file, bytes=int(size) if size.isdigit() else None)
        await self._send(message)


def _is_for_all(path: str, method: str) -> bool:
    return path in (*FILES, *HEALTH) and method in ("GET", "HEAD")


def _is_sign_in(path: str) -> bool:
    return path in (PLACE, SIGN_OUT) or path.startswith(f"{PLACE}/")
