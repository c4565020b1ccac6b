"""Changes Streamlit's responses: compresses scripts, sends our first page, drops useless log messages."""

from __future__ import annotations

import asyncio
import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ingest.decoding.zstd import compress

_ASSETS = "/static/"  # Streamlit's own scripts and styles; their names contain a hash of the content
_PACKED = (".js", ".css")  # fonts and images are already compressed
_ZSTD_LEVEL, _GZIP_LEVEL = 9, 6  # at these levels, Plotly's 4.7 MB take about 0.15 s (zstd) and 0.3 s (gzip)
_ASKED_FOR_LESS = (b"if-none-match", b"if-modified-since", b"range", b"accept-encoding")
_VALIDATORS = ("etag", "last-modified", "accept-ranges")
# Starlette raises an error with this message when a closed connection is closed again.
_CLOSED_ALREADY = 'Cannot call "send" once a close message has been sent.'
# Parts of Streamlit's first page, and their replacements. Our pages do not use Streamlit's font.
_TITLE = re.compile("(?<=<title>)Streamlit(?=</title>)")
_FONT = re.compile(r'\./static/media/SourceSans[^"]*\.woff2')
_OUR_FONT = "./app/static/inter-latin.woff2"
SCRIPTS = Path(st.__file__).parent / "static" / "static" / "js"
# Every page has these elements. The first page names their scripts, so that browsers load them early.
EARLY = ("BidiComponent", "Button", "Multiselect", "PageLink", "Selectbox")
_IMPORT = re.compile(r'\b(?:from|import)"\./([^"/]+\.js)"')


@dataclass(slots=True)
class _Answer:
    """A complete response of the application. If the browser disconnects, the response may never start."""

    start: Message = field(default_factory=dict)
    body: bytes = b""

    async def read(self, app: ASGIApp, scope: Scope, receive: Receive) -> bool:
        """Read the application's response. Return False if the response never started."""

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.start = message
            elif message["type"] == "http.response.body":
                self.body += message.get("body", b"")

        await app(scope, receive, note)
        return bool(self.start)

    @property
    def headers(self) -> MutableHeaders:
        return MutableHeaders(raw=self.start["headers"])

    def replace_body(self, body: bytes) -> None:
        self.body = body
        headers = self.headers
        for name in _VALIDATORS:
            del headers[name]  # these headers describe the old body
        headers["content-length"] = str(len(body))

    async def send(self, send: Send) -> None:
        await send(self.start)
        await send({"type": "http.response.body", "body": self.body})


class CompressedAssets:
    """Compresses Streamlit's scripts and styles once, and keeps the result in memory.

    Streamlit itself sends the files uncompressed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressed: dict[tuple[str, str], _Answer] = {}
        self._compressing = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        coding = _chosen_coding(scope)
        if coding is None:
            await self._app(scope, receive, send)
            return
        # One at a time: hundreds of first requests would read and compress the same file in parallel.
        async with self._compressing:
            answer = await self._find_compressed(coding, scope, receive)
        if answer is not None:
            await answer.send(send)

    async def _find_compressed(self, coding: str, scope: Scope, receive: Receive) -> _Answer | None:
        """Return the compressed response. Return an incomplete response unchanged. Return None if the
        response never started.
        """
        key = (scope["path"], coding)
        if key in self._compressed:
            return self._compressed[key]
        answer = _Answer()
        if not await answer.read(self._app, scope, receive):
            return None
        whole = answer.headers.get("content-length") == str(len(answer.body))
        # Keep only complete answers with status 200: this bounds the memory.
        if answer.start["status"] == 200 and whole:
            answer.replace_body(await asyncio.to_thread(_compress, answer.body, coding))
            answer.headers["content-encoding"] = coding
            answer.headers["vary"] = "Accept-Encoding"
            self._compressed[key] = answer
        return answer


def _chosen_coding(scope: Scope) -> str | None:
    """Return the content coding for the response. Return None if the response stays uncompressed."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    path, headers = scope["path"], Headers(scope=scope)
    if _ASSETS not in path or not path.endswith(_PACKED) or {"range", "if-none-match"} & set(headers):
        return None
    accepted = {part.split(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")}
    return next((coding for coding in ("zstd", "gzip") if coding in accepted), None)


def _compress(text: bytes, coding: str) -> bytes:
    if coding == "zstd":
        return compress(text, level=_ZSTD_LEVEL)
    return gzip.compress(text, _GZIP_LEVEL)


class FirstPage:
    """Puts our title, font and style into Streamlit's first page, so that the layout does not shift later.

    The page also lists the scripts that every page needs, so that browsers load them early.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._style = (
            f"<style>\n{Path(__file__).with_name('shell.css').read_text(encoding='utf-8')}</style>\n"
        )
        self._early = _early_scripts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self._app(scope, receive, send)
            return
        # The browser's cached page may have an older style, so request the whole page, uncompressed.
        headers = [pair for pair in scope["headers"] if pair[0] not in _ASKED_FOR_LESS]
        answer = _Answer()
        if not await answer.read(self._app, {**scope, "headers": headers}, receive):
            return
        if answer.headers.get("content-type", "").startswith("text/html"):
            answer.replace_body(self._with_our_head(answer.body.decode()).encode())
        await answer.send(send)

    def _with_our_head(self, page: str) -> str:
        page = _FONT.sub(_OUR_FONT, _TITLE.sub("Callgauge", page, 1), 1)
        links = [
            f'<link rel="modulepreload" crossorigin href="./static/js/{name}">\n'
            for name in self._early
            if name not in page
        ]
        return page.replace("</head>", f"{''.join(links)}{self._style}</head>", 1)


def _early_scripts() -> list[str]:
    """Return the names of the scripts for the elements in EARLY, and of all scripts that they import."""
    names: list[str] = []
    left = [path.name for name in EARLY for path in SCRIPTS.glob(f"{name}.*.js")]
    while left:
        name = left.pop()
        if name not in names:
            names.append(name)
            left += _IMPORT.findall((SCRIPTS / name).read_text(encoding="utf-8"))
    return names


class GoneBrowsers:
    """Ends a connection without an error if the browser disconnects while the server sends.

    Otherwise Streamlit 1.67 would write a traceback into the log for each such browser.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except RuntimeError as problem:
            if scope["type"] != "websocket" or str(problem) != _CLOSED_ALREADY:
                raise
