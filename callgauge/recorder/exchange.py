"""Records each request with its response as one line in a log. A thread writes one file per hour.

A line has the log format `request_log`: `request` and `response` contain the original bodies. Headers and the
query of the URL are not stored. API keys of the request are removed.

If the log cannot be written (a full disk), requests are passed on without a record. Messages report the start
and the end of this state.
"""

from __future__ import annotations

import base64
import logging
import os
import queue
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import orjson

from callgauge.gateway.endpoint import SHORTEST_KEY
from callgauge.traces.intake import append_line
from ingest.decoding.zstd import ZstdDecompressor, ZstdError

LABELS = ("x-callgauge-session", "x-callgauge-prompt", "x-callgauge-task")
"""Request headers with the session, the prompt (`name@version`) and the task; not sent to the server."""
_KEY_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie")
# Query parameters of a URL that contain an API key.
_KEY_FIELDS = ("key", "api_key", "api-key", "access_token", "token")
_KEY_GONE = "[key]"
_LABEL_LENGTH = 500
MOST_UNPACKED = 64 << 20  # The limit in bytes for one body; ingest has the same limit.
READABLE_CODINGS = re.compile(r"\s*(gzip|x-gzip|deflate|zstd|identity|\*;\s*q=0)\b", re.ASCII)
_LOG = logging.getLogger("callgauge.Recorder")
_WAITING = 10_000  # This many exchanges may wait for the disk; `Memory` limits the size of their bodies.


class Memory:
    """Limits the memory for the bodies of all current requests and responses together."""

    def __init__(self, most: int) -> None:
        self._left = most

    def reserve(self, size: int) -> int:
        """Reserve up to `size` bytes. Return the number of reserved bytes."""
        granted = min(size, self._left)
        self._left -= granted
        return granted

    def free(self, size: int) -> None:
        """Release reserved bytes."""
        self._left += size


class Captured:
    """Keeps the first bytes of a request or response body, at most `most` bytes."""

    def __init__(self, most: int, memory: Memory) -> None:
        self.size = 0
        self._most = most
        self._memory = memory
        self._pieces: list[bytes] = []
        self._reserved = 0

    def take(self, piece: bytes) -> None:
        """Count a piece of the body, and store the piece if the limit allows it."""
        self.size += len(piece)
        room = min(self._most - self._reserved, len(piece))
        if room <= 0 or self._reserved < self.size - len(piece):  # After a gap, later pieces are not kept.
            return
        granted = self._memory.reserve(room)
        if granted:
            self._pieces.append(piece[:granted])
            self._reserved += granted

    @property
    def is_cut(self) -> bool:
        """Return True when some bytes of the body were not kept."""
        return self._reserved < self.size

    def join(self) -> bytes:
        return b"".join(self._pieces)

    def free(self) -> None:
        """Release the memory of the body. Call this after the line has been written."""
        self._memory.free(self._reserved)
        self._reserved = 0
        self._pieces.clear()


@dataclass(slots=True)
class PassingExchange:
    """A request and its response that pass through the proxy. Times are seconds of a monotonic clock."""

    address: str
    method: str
    request_headers: Mapping[str, str]
    request: Captured
    response: Captured
    started: float
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    first_byte: float | None = None
    ended: float | None = None
    status: int | None = None
    response_encoding: str = ""
    problem: str | None = None
    """The reason why the exchange failed: the server was not reached, or one side disconnected."""

    def to_line(self) -> bytes:
        """Return the exchange as one line of JSON."""
        keys = tuple(_find_keys(self.request_headers, self.address))
        ended = self.ended if self.ended is not None else self.started
        line: dict[str, Any] = {
            "ts": self.started_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "method": self.method,
            "url": _drop_keys(shorten_address(self.address), keys),
            "status": self.status,
            "latency_ms": round((ended - self.started) * 1000, 1),
        }
        labels = {name: _drop_keys(text, keys) for name, text in self._read_labels()}
        if labels:
            line["metadata"] = labels
        if self.first_byte is not None:
            line["first_byte_ms"] = round((self.first_byte - self.started) * 1000, 1)
        coding = self.request_headers.get("content-encoding", "")
        line["request"] = _to_text(self.request, coding, keys)
        line["response"] = _to_text(self.response, self.response_encoding, keys)
        cut = {
            name: body.size
            for name, body in (("request", self.request), ("response", self.response))
            if body.is_cut
        }
        if cut:
            line["cut"] = cut
        if self.problem is not None:
            line["problem"] = _drop_keys(self.problem, keys)
        line["recorder"] = "callgauge"
        return orjson.dumps(line) + b"\n"

    def _read_labels(self) -> Iterator[tuple[str, str]]:
        session, prompt, task = (self.request_headers.get(name, "")[:_LABEL_LENGTH] for name in LABELS)
        name, _, version = prompt.partition("@")
        labels = {"session_id": session, "prompt_name": name, "prompt_version": version, "task": task}
        yield from ((field, text) for field, text in labels.items() if text)

    def free(self) -> None:
        """Release the memory of both bodies."""
        self.request.free()
        self.response.free()


def _find_keys(headers: Mapping[str, str], address: str) -> Iterator[str]:
    """Yield the secrets in a request, longest first: API keys, cookies, and the password in the URL."""
    keys: set[str] = set()
    for name in _KEY_HEADERS:
        value = headers.get(name, "").strip()
        keys |= {value, value.partition(" ")[2].strip()}
    parts = urlsplit(address)
    keys |= {value for name, value in parse_qsl(parts.query) if name.lower() in _KEY_FIELDS}
    keys.add(parts.password or "")
    yield from sorted((key for key in keys if len(key) >= SHORTEST_KEY), key=len, reverse=True)


def _drop_keys(text: str, keys: Iterable[str]) -> str:
    for key in keys:
        text = text.replace(key, _KEY_GONE)
    return text


def shorten_address(address: str) -> str:
    """Return a URL without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _to_text(body: Captured, coding: str, keys: Iterable[str]) -> Any:
    """Return a body as a string. If the body is not UTF-8, return base64, as in HTTP archives (HAR 1.2)."""
    raw = _unpack(body.join(), coding)
    try:
        return _drop_keys(raw.decode("utf-8"), keys)
    except UnicodeDecodeError as broken:
        # An incomplete body may end in the middle of a character.
        if body.is_cut and broken.start >= len(raw) - 3:
            return _drop_keys(raw[: broken.start].decode("utf-8"), keys)
    for key in keys:
        raw = raw.replace(key.encode(), _KEY_GONE.encode())
    return {"encoding": "base64", "text": base64.b64encode(raw).decode()}


def _unpack(raw: bytes, coding: str) -> bytes:
    """Decompress a body by its Content-Encoding. A damaged body, or one in an unknown coding, stays."""
    coding = coding.strip().lower()
    try:
        if coding in ("gzip", "x-gzip", "deflate"):
            # With 47, zlib detects from the first bytes whether the data is gzip or zlib.
            return zlib.decompressobj(47).decompress(raw, MOST_UNPACKED)
        if coding == "zstd":
            return ZstdDecompressor().decompress(raw, MOST_UNPACKED)
    except (zlib.error, ZstdError):
        return raw
    return raw


def keep_readable_codings(accepted: str) -> str:
    """Return an Accept-Encoding header with only the codings that the recorder can decompress."""
    codings = [part.strip() for part in accepted.split(",") if READABLE_CODINGS.match(part)]
    return ", ".join(codings) or "identity"


class ExchangeLog:
    """The log files of one recorder in a folder, one file per hour in UTC, such as
    `2026-11-24T19Z.8788.jsonl`.

    `name` is unique among the recorders that share a folder. Only the owner can read the files, because they
    contain conversations. `free` is called with each exchange that is no longer needed.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        free: Callable[[PassingExchange], None] = lambda _exchange: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.folder = folder
        self.written = 0
        self.lost = 0
        self._name = name
        self._free = free
        self._now = now
        self._is_failing = False
        self._waiting: queue.Queue[PassingExchange | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._write_all, name="callgauge-recorder", daemon=True)

    def open(self) -> None:
        """Create the folder and start the writer. Raises OSError when the folder is not writable."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13), str(self.folder))
        self._thread.start()

    def take(self, exchange: PassingExchange) -> None:
        """Put an exchange into the writer's queue without waiting. The proxy's thread calls this method."""
        try:
            self._waiting.put_nowait(exchange)
        except queue.Full:
            self._note_loss("the disk is too slow")
            self._free(exchange)

    def close(self) -> None:
        """Write the waiting exchanges, then stop the writer."""
        self._waiting.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        while (exchange := self._waiting.get()) is not None:
            try:
                self._write(exchange.to_line())
            except OSError as error:
                self._note_loss(error.strerror or str(error))
            except Exception as error:  # An exchange that cannot become a line must not stop the log.
                self._note_loss(f"{type(error).__name__}: {error}")
            else:
                self.written += 1
                if self._is_failing:
                    self._is_failing = False
                    _LOG.warning("Recording continues. %s", self._count_lost())
            finally:
                self._free(exchange)

    def _write(self, line: bytes) -> None:
        path = self.folder / f"{self._now():%Y-%m-%dT%HZ}.{self._name}.jsonl"
        append_line(path, line)

    def _note_loss(self, why: str) -> None:
        self.lost += 1
        if not self._is_failing:
            self._is_failing = True
            _LOG.warning(
                "Not recorded: %s (%s). Requests still pass; free the disk or name another folder.",
                why,
                self.folder,
            )

    def _count_lost(self) -> str:
        return f"{self.lost:,} exchange{'s were' if self.lost > 1 else ' was'} not recorded."
