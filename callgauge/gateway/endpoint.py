"""Send requests to an endpoint, with waits, retries and a limit on concurrent requests."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import urlsplit

from callgauge.gateway.apis import WIRES, BrokenReplyError, ErrorInReplyError, ReplyStream, Wire
from callgauge.gateway.apis.messages import (
    Call,
    CallSource,
    ChatRequest,
    FinishReason,
    Reply,
    TextPiece,
)
from callgauge.gateway.capabilities import Capabilities, known_of_server
from callgauge.gateway.provider_errors import (
    NoReplyError,
    Trouble,
    find_trouble,
    read_model_call,
    shorten_error,
)
from callgauge.gateway.retry_after import read_retry_after
from lenient.calls.refusals import ServerRefusal

if TYPE_CHECKING:
    import httpx2

_REPLIES_FOR_ONE_MORE = 20
MOST_BYTES = 64 << 20  # most bytes of one answer
SHORTEST_KEY = 8
"""In characters. A shorter key is a placeholder such as "ollama" or "none", a word that texts contain."""
_TOO_MANY_REQUESTS = 429
_OK = 200
_WRONG_PATH = (404, 405)
_VERSION = re.compile(r"/v\d")


class RequestSlots:
    """Limits concurrent requests.

    The limit is halved when the endpoint answers 429. It rises by one after 20 replies, up to `most`.
    """

    def __init__(self, most: int) -> None:
        self.most = max(1, most)
        self.allowed = self.most
        self._used = 0
        self._replies = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a slot, and keep it until the block ends."""
        while self._used >= self.allowed:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._used += 1
        try:
            yield
        finally:
            self._used -= 1
            self._wake_next()

    def count_reply(self) -> None:
        """Count a reply. After 20 replies, raise the limit by one request."""
        self._replies += 1
        if self._replies >= _REPLIES_FOR_ONE_MORE and self.allowed < self.most:
            self.allowed, self._replies = self.allowed + 1, 0
            self._wake_next()

    def count_overload(self) -> None:
        """Halve the limit, to at least one request, because the endpoint answered "too many requests"."""
        self.allowed, self._replies = max(1, self.allowed // 2), 0

    def _wake_next(self) -> None:
        while self._waiting and self._used < self.allowed:
            turn = self._waiting.popleft()
            if not turn.done():  # A cancelled request no longer waits.
                turn.set_result(None)
                return


class _AskAgainError(Exception):
    """Raised when a network or server problem prevented the reply, and another attempt may succeed.

    `wait` is the number of seconds that the endpoint asks to wait. `is_sent` is False when the request did
    not reach a server.
    """

    def __init__(
        self, message: str, wait: float = 0.0, status: int | None = None, *, is_sent: bool = True
    ) -> None:
        super().__init__(message)
        self.message = message
        self.wait = wait
        self.status = status
        self.is_sent = is_sent


class _ShownText:
    """Shows the text of one reply piece by piece, then marks its end.

    Each attempt to get a reply needs a new object.
    """

    def __init__(self, on_text: Callable[[TextPiece], None] | None) -> None:
        self._on_text = on_text
        self._shown: list[str] = []

    def add(self, text: str) -> None:
        if self._on_text is not None and text:
            self._on_text(TextPiece(text, is_first=not self._shown))
            self._shown.append(text)

    def end(self, text: str) -> None:
        """Show the rest of the reply's text as the last piece. Without a stream, the last piece is the whole
        text.
        """
        if self._on_text is not None:
            shown = "".join(self._shown)
            rest = text[len(shown) :] if text.startswith(shown) else ""
            self._on_text(TextPiece(rest, is_first=not self._shown, is_last=True))


class RequestMeter(Protocol):
    """Counts the requests of one conversation, including repeated attempts.

    `begin` is called before each request and may delay it. `size` is the body's size in bytes. After the
    request, either `book` is called with the reply, or `fail` is called. `is_charged` is True when the
    provider may charge for a reply that never arrived.
    """

    async def begin(self, request: ChatRequest, size: int) -> None: ...

    def book(self, reply: Reply) -> None: ...

    def fail(self, *, is_charged: bool) -> None: ...


class Endpoint:
    """A server with models, reached by one of the four APIs.

    `url` is the address without the path of the API (`https://api.openai.com/v1`). `key` is sent to the
    server and never logged. `server` names the server software if it is known (`llama.cpp`, `vllm`,
    `ollama`), because some software rewrites the arguments of calls. If `streams` is False, replies are
    requested without a stream. `timeout` is the limit for one reply, in seconds. A request is sent at most
    `attempts` times. The wait between attempts is 0.5 s · 2ⁿ or the time that the endpoint asks for, but at
    most `longest_wait` seconds. Use the endpoint as an asynchronous context manager.
    """

    def __init__(
        self,
        url: str,
        *,
        wire: str = "openai-chat",
        key: str = "",
        server: str | None = None,
        streams: bool = True,
        concurrency: int = 4,
        timeout: float = 120.0,
        attempts: int = 5,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        if wire not in WIRES:
            raise ValueError(f"{wire!r} is not an API: use {', '.join(WIRES)}.")
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is not an address; it must begin with http:// or https://.")
        if not (key.isascii() and key.isprintable()):
            raise ValueError(
                "the key has characters that a header cannot have (a line break, a letter outside ASCII); "
                "set its variable again."
            )
        self.url = url.rstrip("/")
        self.wire: Wire = WIRES[wire]
        self.server = server
        self.streams = streams
        self.timeout = timeout
        self.attempts = max(1, attempts)
        self.first_wait = first_wait
        self.longest_wait = longest_wait
        self.requests_sent = 0
        self.slots = RequestSlots(concurrency)
        self._key = key
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None
        self._meter: RequestMeter | None = None
        self._is_shared = False
        self._clean: Callable[[str], str] | None = None

    @property
    def name(self) -> str:
        """Return the host and port of the address, without user name, password and path."""
        parts = urlsplit(self.url)
        return parts.hostname or "" if parts.port is None else f"{parts.hostname}:{parts.port}"

    @property
    def known(self) -> Capabilities:
        """Return what is known about every model behind this endpoint."""
        return known_of_server(self.wire.name, urlsplit(self.url).hostname, self.server)

    def to_log(self) -> dict[str, str]:
        """Return the API and the server software (if it is known) for a session log."""
        return {"wire": self.wire.name} | ({"server": self.server} if self.server else {})

    def share(self, meter: RequestMeter, clean: Callable[[str], str] | None = None) -> Endpoint:
        """Return a copy of this open endpoint for one of several concurrent conversations.

        `meter` counts the requests of the copy. All copies share the connections and the limit of concurrent
        requests. Closing a copy does not close the connections. `clean` changes every error message before
        the message is logged or raised.
        """
        shared = copy.copy(self)
        shared._meter, shared._is_shared, shared._clean = meter, True, clean
        return shared

    async def __aenter__(self) -> Self:
        if self._client is None and not self._is_shared:
            http = load_httpx()
            waits = http.Timeout(self.timeout, connect=min(10.0, self.timeout))
            self._client = http.AsyncClient(timeout=waits, transport=self._transport)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None and not self._is_shared:
            client, self._client = self._client, None
            await client.aclose()

    async def ask(self, request: ChatRequest, on_text: Callable[[TextPiece], None] | None = None) -> Reply:
        """Return the model's reply. Call `on_text` with each piece of the reply's text as the piece arrives.

        If the server reports that it could not parse a tool call, the reply has `refused`. Raises
        NoReplyError when every attempt fails.
        """
        request = replace(request, streams=request.streams and self.streams)
        wire_request = self.wire.write(request)
        content = json.dumps(wire_request.body, separators=(",", ":"), default=str).encode()
        again = _AskAgainError("it was never asked")
        for attempt in range(self.attempts):
            if attempt:
                await asyncio.sleep(self._wait_before(attempt, again.wait))
            try:
                async with self.slots.take():
                    if self._meter is not None:
                        await self._meter.begin(request, len(content))
                    started = time.monotonic()
                    shown = _ShownText(on_text)
                    reply = await self._ask_metered(wire_request.path, content, request, shown)
            except _AskAgainError as error:
                again = error
                continue
            self.slots.count_reply()
            shown.end(reply.text)
            return replace(reply, seconds=time.monotonic() - started, resent=attempt)
        raise NoReplyError(
            Trouble.NETWORK,
            f"{self.name} gave no reply in {self.attempts} attempts; the last time: {again.message}",
            again.status,
        )

    def _wait_before(self, attempt: int, asked_for: float) -> float:
        grown = self.first_wait * 2.0 ** (attempt - 1) * random.uniform(0.75, 1.25)  # noqa: S311 no secret
        return min(max(asked_for, grown), self.longest_wait)

    async def _ask_metered(self, path: str, content: bytes, request: ChatRequest, shown: _ShownText) -> Reply:
        meter = self._meter
        if meter is None:
            return await self._ask_once(path, content, request, shown)
        try:
            reply = await self._ask_once(path, content, request, shown)
        except (_AskAgainError, NoReplyError) as error:
            meter.fail(
                is_charged=isinstance(error, _AskAgainError) and error.status is None and error.is_sent
            )
            raise
        except BaseException:
            meter.fail(is_charged=True)
            raise
        meter.book(reply)
        return reply

    async def _ask_once(self, path: str, content: bytes, request: ChatRequest, shown: _ShownText) -> Reply:
        """Send the request once.

        Raises _AskAgainError if another attempt may succeed, and NoReplyError if not.
        """
        if self._client is None:
            raise RuntimeError("An endpoint is used within `async with`.")
        http = load_httpx()
        self.requests_sent += 1
        headers = {"content-type": "application/json", **self.wire.headers(self._key)}
        url = self.url + path
        try:
            async with (
                asyncio.timeout(self.timeout),
                self._client.stream("POST", url, content=content, headers=headers) as answer,
            ):
                if answer.status_code != _OK:
                    body = (await _read_bytes(answer)).decode("utf-8", "replace")
                    return self._read_error(answer, body, bool(request.tools))
                return await self._read_answer(answer, request.streams, shown)
        except TimeoutError:
            raise _AskAgainError(f"no answer within {self.timeout:g} s") from None
        except (http.TransportError, http.DecodingError) as error:
            is_sent = not isinstance(error, (http.ConnectError, http.ConnectTimeout, http.PoolTimeout))
            message = self._clean_message(f"{type(error).__name__}: {error}".rstrip(": "))
            raise _AskAgainError(message, is_sent=is_sent) from None
        except (http.InvalidURL, http.UnsupportedProtocol) as error:
            raise NoReplyError(Trouble.REQUEST, self._clean_message(f"{self.name}: {error}")) from None
        except BrokenReplyError as error:
            raise _AskAgainError(self._clean_message(str(error))) from None
        except ErrorInReplyError as error:
            return self._judge_error(None, str(error), bool(request.tools))

    async def _read_answer(self, answer: httpx2.Response, streams: bool, shown: _ShownText) -> Reply:
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise BrokenReplyError(f"The answer is a web page{self._hint_path()}")
        # Some servers never stream, even when a stream is requested.
        if not streams or kind == "application/json":
            return self.wire.read_body(await _read_bytes(answer))
        stream = ReplyStream(self.wire, shown.add)
        async for data in _read_stream(answer):  # Read to the end, so that the connection can be used again.
            stream.add(data)
        return stream.complete()

    def _read_error(self, answer: httpx2.Response, body: str, has_tools: bool) -> Reply:
        if answer.status_code == _TOO_MANY_REQUESTS:
            self.slots.count_overload()
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        body = "a web page" if is_page else body
        return self._judge_error(
            answer.status_code, body, has_tools, read_retry_after(answer.headers.get("retry-after"))
        )

    def _judge_error(self, status: int | None, body: str, has_tools: bool, wait: float = 0.0) -> Reply:
        """Return a reply if the error says that the server could not parse a tool call. Raise for any other
        error.
        """
        unparsed = read_model_call(body)
        if unparsed is not None:
            return _reply_with_unparsed(unparsed, self._clean_message(shorten_error(body)))
        trouble = find_trouble(status, body, has_tools=has_tools)
        code = "an error in the answer" if status is None else f"HTTP {status}"
        message = self._clean_message(f"{code}: {shorten_error(body)}" if body.strip() else code)
        if status in _WRONG_PATH:
            message += self._hint_path()
        if trouble is Trouble.NETWORK:
            raise _AskAgainError(message, wait, status)
        raise NoReplyError(trouble, f"{self.name}: {message}", status)

    def _hint_path(self) -> str:
        """Return a hint about the URL's path if the address has no version such as /v1, else ''."""
        parts = urlsplit(self.url)
        if _VERSION.search(parts.path) is not None:
            return ""
        version = "/v1beta" if self.wire.name == "gemini" else "/v1"
        return f"; the address may lack {version}: try {parts.scheme}://{self.name}{parts.path}{version}"

    def _clean_message(self, text: str) -> str:
        hidden = text.replace(self._key, "[key]") if len(self._key) >= SHORTEST_KEY else text
        return hidden if self._clean is None else self._clean(hidden)


def load_httpx() -> Any:
    """Return the package httpx2, imported late so that commands without an endpoint start faster."""
    import httpx2

    return httpx2


async def _read_bytes(answer: httpx2.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in answer.aiter_bytes():
        size += len(part)
        if size > MOST_BYTES:
            raise BrokenReplyError(f"The answer is longer than {MOST_BYTES >> 20} MiB.")
        parts.append(part)
    return b"".join(parts)


async def _read_stream(answer: httpx2.Response) -> AsyncIterator[str]:
    """Yield the data of each event of a stream, at most 64 MiB in all."""
    size = 0
    async for event in load_httpx().EventSource(answer, max_event_size=MOST_BYTES):
        size += len(event.data)
        if size > MOST_BYTES:
            raise BrokenReplyError(f"The answer is longer than {MOST_BYTES >> 20} MiB.")
        if event.data:
            yield event.data


def _reply_with_unparsed(unparsed: ServerRefusal, message: str) -> Reply:
    source = CallSource.LOST if unparsed.raw is None else CallSource.RAW
    return Reply(
        stop=FinishReason.OTHER,
        stop_word="unparsed_call",
        refused=message,
        refused_call=Call("", "", unparsed.raw or "", source),
    )
