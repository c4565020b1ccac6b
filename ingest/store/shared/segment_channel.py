"""Lets a process without credentials read the segments of a shared store through another process.

The process that executes a user's SQL has none of the server's environment variables. It can only request
bytes of segments through a socket.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from ingest.errors import StoreError
from ingest.store.shared.place import FileState, UnreachableError
from ingest.store.shared.segment_files import SegmentFiles, segment_files, use_segment_files

_LARGEST = 64 * 1024 * 1024  # largest number of bytes in one answer


class ChannelPlace(msgspec.Struct, frozen=True):
    """The segments of a shared store, read through another process."""

    address: str
    channel: socket.socket
    lock: threading.Lock

    def find(self, name: str) -> FileState | None:
        """Return the state of a segment. Return None when it does not exist. Raises UnreachableError."""
        size, _ = self._ask({"name": name})
        now = datetime.now(UTC)
        return FileState("", size, now, now) if size is not None else None

    def read_range(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes of a segment from `start` to before `end`. Raises UnreachableError."""
        return self._ask({"name": name, "start": start, "end": end})[1]

    def _ask(self, question: dict[str, Any]) -> tuple[int | None, bytes]:
        with self.lock, self.channel.makefile("rwb") as stream:
            stream.write(json.dumps(question).encode() + b"\n")
            stream.flush()
            answer = json.loads(stream.readline() or b'{"problem": "the server is gone"}')
            data = stream.read(answer.get("bytes", 0))
        if "problem" in answer:
            raise UnreachableError(answer["problem"])
        return answer["size"], data


def open_channel(address: str) -> socket.socket:
    """Return the child process's end of a channel.

    In this process, a thread answers requests until the channel is closed.
    """
    ours, childs = socket.socketpair()
    threading.Thread(target=_answer, args=(ours, segment_files(address)), daemon=True).start()
    return childs


def read_through(address: str, channel: int) -> None:
    """Make this process read a shared store's segments through the channel with this file descriptor."""
    place = ChannelPlace(address, socket.socket(fileno=channel), threading.Lock())
    use_segment_files(address, SegmentFiles(place))


def _answer(channel: socket.socket, files: SegmentFiles) -> None:
    with suppress(OSError), channel, channel.makefile("rwb") as stream:
        for line in stream:
            answer, data = _read_part(json.loads(line), files)
            stream.write(json.dumps(answer).encode() + b"\n" + data)
            stream.flush()


def _read_part(question: dict[str, Any], files: SegmentFiles) -> tuple[dict[str, Any], bytes]:
    name, start = str(question["name"]), int(question.get("start", 0))
    try:
        size = files.find_size(name)
        end = min(int(question.get("end", start)), size, start + _LARGEST)
        data = files.read_bytes(name, start, end) if 0 <= start < end else b""
    except FileNotFoundError:
        return {"size": None}, b""
    except StoreError as problem:
        return {"problem": str(problem)}, b""
    return {"size": size, "bytes": len(data)}, data
