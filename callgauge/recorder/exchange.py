"""One exchange as it passes, the line that it becomes, and the log: a file an hour, written by a thread.

The line is one of the format `request_log`: `request` and `response` are the texts as they were sent. No
header is kept, no query of the address, and the keys that the request brought are taken out of every text.

The log must never break an agent: while it cannot be written (a full disk), exchanges pass unrecorded, which
is reported once, and again when recording resumes.
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
"""Headers that name what no body can: the session, the prompt as `name@version`, the task. Not sent on."""
_KEY_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie")
_KEY_FIELDS = ("key", "api_key", "api-key", "access_token", "token")  # of an address
_KEY_GONE = "[key]"
_LABEL_LENGTH = 500
MOST_UNPACKED = 64 << 20  # bytes: what ingest reads of one body
READABLE_CODINGS = re.compile(r"\s*(gzip|x-gzip|deflate|zstd|identity|\*;\s*q=0)\b", re.ASCII)
_LOG = logging.getLogger("callgauge.Recorder")
_WAITING = 10_000  # exchanges that may wait for the disk; their bodies are bounded by `Memory`


class Memory:
    """How many bytes all exchanges under way may hold together."""

    def __init__(self, most: int) -> None:
        self._left = most

    def reserve(self, size: int) -> int:
        """Return how many of `size` bytes may be kept."""
        granted = min(size, self._left)
        self._left -= granted
        return granted

    def free(self, size: int) -> None:
        """Take back what was reserved."""
        self._left += size


class Captured:
    """The first bytes of a body, at most `most` of them, while all of them pass."""

    def __init__(self, most: int, memory: Memory) -> None:
        self.size = 0
        self._most = most
        self._memory = memory
        self._kept: list[bytes] = []
        self._held = 0

    def take(self, piece: bytes) -> None:
        """Note a piece that passed."""
        self.size += len(piece)
        room = min(self._most - self._held, len(piece))
        if room <= 0 or self._held < self.size - len(piece):  # cut once, nothing more is taken
            return
        granted = self._memory.reserve(room)
        if granted:
            self._kept.append(piece[:granted])
            self._held += granted

    @property
    def is_cut(self) -> bool:
        """Return True when more passed than is kept."""
        return self._held < self.size

    def join(self) -> bytes:
        """Return what is kept."""
        return b"".join(self._kept)

    def free(self) -> None:
        """Give back the memory, once the line is written."""
        self._memory.free(self._held)
        self._held = 0
        self._kept.clear()


@dataclass(slots=True)
class PassingExchange:
    """A request and its answer, while they pass. Times are seconds of a clock that only goes forward."""

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
    """What went wrong on the way: the server was not reached, either side went away."""

    def to_line(self) -> bytes:
        """Return the exchange as a line of JSON."""
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
        """Give back the memory of both bodies."""
        self.request.free()
        self.response.free()


def _find_keys(headers: Mapping[str, str], address: str) -> Iterator[str]:
    """Yield the secrets that a request brought: keys, cookies, the password of the address; longest first."""
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
    """Return the address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _to_text(body: Captured, coding: str, keys: Iterable[str]) -> Any:
    """Return a body as text; bytes that are none in base64, as HTTP archives (HAR 1.2) have them."""
    raw = _unpack(body.join(), coding)
    try:
        return _drop_keys(raw.decode("utf-8"), keys)
    except UnicodeDecodeError as broken:
        # A body that was cut may end in the middle of a character.
        if body.is_cut and broken.start >= len(raw) - 3:
            return _drop_keys(raw[: broken.start].decode("utf-8"), keys)
    for key in keys:
        raw = raw.replace(key.encode(), _KEY_GONE.encode())
    return {"encoding": "base64", "text": base64.b64encode(raw).decode()}


def _unpack(raw: bytes, coding: str) -> bytes:
    """Return a body without its Content-Encoding; as it is where that is unknown or the body is damaged."""
    coding = coding.strip().lower()
    try:
        if coding in ("gzip", "x-gzip", "deflate"):
            # 47: gzip or zlib, whichever the first bytes say.
            return zlib.decompressobj(47).decompress(raw, MOST_UNPACKED)
        if coding == "zstd":
            return ZstdDecompressor().decompress(raw, MOST_UNPACKED)
    except (zlib.error, ZstdError):
        return raw
    return raw


def keep_readable_codings(accepted: str) -> str:
    """Return an Accept-Encoding header with what can be unpacked here: no Brotli, no `*`."""
    codings = [part.strip() for part in accepted.split(",") if READABLE_CODINGS.match(part)]
    return ", ".join(codings) or "identity"


class ExchangeLog:
    """The files of one recorder in a folder: `2026-11-24T19Z.8788.jsonl`, by UTC hours.

    `name` tells recorders that share a folder apart. Files are readable for their owner only: they hold what
    people and models said. `free` is called with each exchange once nothing of it is needed any more.
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
        """Make the folder and begin to write. Raises OSError when the folder cannot be written to."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13), str(self.folder))
        self._thread.start()

    def take(self, exchange: PassingExchange) -> None:
        """Write an exchange soon; never waits. Called from the thread of the proxy."""
        try:
            self._waiting.put_nowait(exchange)
        except queue.Full:
            self._note_loss("the disk is too slow")
            self._free(exchange)

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        while (exchange := self._waiting.get()) is not None:
            try:
                self._write(exchange.to_line())
            except OSError as error:
                self._note_loss(error.strerror or str(error))
            except Exception as error:  # a line that cannot be made must not end the log
                self._note_loss(f"{type(error).__name__}: {error}")
            else:
                self.written += 1
                if self._is_failing:
                    self._is_failing = False
                    _LOG.warning("Recording continues. %s", self._count_lost())
            finally:
                self._free(exchange)

    def _write(self, line: bytes) -> None:
        """Append a line whole, or not at all."""
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
