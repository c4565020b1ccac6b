"""Reads bytes of a shared store's segments, so that DuckDB can attach segments without a download.

DuckDB reads through an fsspec file system. Blocks that were read stay in memory, up to a limit.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, Protocol

from fsspec import AbstractFileSystem

from ingest.errors import StoreError
from ingest.store.shared.place import FileState, SharedPlace, UnreachableError
from ingest.store.shared.pointer import SEGMENT

PROTOCOL = "shared"
_BLOCK = 1024 * 1024  # bytes; DuckDB requests a quarter of a block at a time
_AHEAD = 8  # number of blocks in one request when a file is read sequentially
_KEPT = 128 * 1024 * 1024  # bytes of blocks in memory, for all segments of a store
_ASKED_AT_ONCE = 16  # number of parallel requests; the object store takes some milliseconds for each
_NEVER = datetime(2000, 1, 1, tzinfo=UTC)  # a segment never changes, so the date does not matter


class SegmentSource(Protocol):
    """The source from which segments are read: an object store, or a process that reads the object store."""

    @property
    def address(self) -> str: ...

    def find(self, name: str) -> FileState | None: ...

    def read_range(self, name: str, start: int, end: int) -> bytes: ...


class SegmentFiles(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The segments of one shared store, by paths that end in a segment's name. Thread-safe."""

    protocol: ClassVar[str] = PROTOCOL
    cachable: ClassVar[bool] = False

    def __init__(self, place: SegmentSource) -> None:
        super().__init__()
        self._place = place
        self._sizes: dict[str, int] = {}
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        name = path.rpartition("/")[2]
        return {"name": path, "size": self.find_size(name), "type": "file"}

    def exists(self, path: str, **_: Any) -> bool:
        try:
            self.info(path)
        except FileNotFoundError:
            return False
        return True

    def modified(self, path: str) -> datetime:  # noqa: ARG002 - fsspec names them
        return _NEVER

    def _open(self, path: str, mode: str = "rb", **_: Any) -> SegmentStream:  # noqa: ARG002
        name = path.rpartition("/")[2]
        return SegmentStream(self, name, self.find_size(name))

    def find_size(self, name: str) -> int:
        """Return the size of a segment in bytes.

        Raises FileNotFoundError for a missing file, such as DuckDB's .wal files.
        """
        if name not in self._sizes:
            entry = self._place.find(name) if SEGMENT.fullmatch(name) else None
            if entry is None or entry.size is None:
                raise FileNotFoundError(name)
            self._sizes[name] = entry.size
        return self._sizes[name]

    def fetch_ends(self, names: Sequence[str]) -> None:
        """Fetch the first and the last block of several segments in parallel. ATTACH usually reads no other
        block.

        Errors are ignored, because ATTACH will report them.
        """
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as threads:
            list(threads.map(self._fetch_ends_of, names))

    def _fetch_ends_of(self, name: str) -> None:
        with suppress(OSError, StoreError):
            for place in (0, self.find_size(name) - 1):
                self.read_bytes(name, place, place + 1)

    def read_bytes(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes of a segment from `start` to before `end`."""
        first, last = start // _BLOCK, (end - 1) // _BLOCK
        data = b"".join(self._read_blocks(name, first, last))
        return data[start - first * _BLOCK : end - first * _BLOCK]

    def _read_blocks(self, name: str, first: int, last: int) -> Iterator[bytes]:
        number = first
        while number <= last:
            with self._lock:
                first_block = self._blocks.get((name, number))
                if first_block is not None:
                    self._blocks.move_to_end((name, number))
                is_next = (name, number - 1) in self._blocks
            blocks = (
                [first_block] if first_block is not None else self._fetch(name, number, last, is_next=is_next)
            )
            number += len(blocks)
            yield from blocks

    def _fetch(self, name: str, first: int, last: int, *, is_next: bool) -> list[bytes]:
        """Fetch a block and the following blocks in one request, and cache the blocks.

        Return the blocks up to `last`.
        """
        count = _AHEAD if is_next else last - first + 1
        end = min((first + count) * _BLOCK, self.find_size(name))
        data = self._place.read_range(name, first * _BLOCK, end)
        if len(data) != end - first * _BLOCK:
            raise UnreachableError(f"{name} in {self._place.address} ended too early and may be damaged")
        blocks = [data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)]
        with self._lock:
            self._blocks.update({(name, first + at): block for at, block in enumerate(blocks)})
            while len(self._blocks) > _KEPT // _BLOCK:
                self._blocks.popitem(last=False)
        return blocks[: last - first + 1]


class SegmentStream(io.RawIOBase):
    """A segment as DuckDB reads it. Each thread that uses the stream has its own position."""

    def __init__(self, files: SegmentFiles, name: str, size: int) -> None:
        self._files, self._name = files, name
        self.size = size
        self._at: dict[int, int] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at.get(threading.get_ident(), 0)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self.size}[whence]
        self._at[threading.get_ident()] = base + offset
        return base + offset

    def read(self, size: int = -1, /) -> bytes:
        start = self.tell()
        end = self.size if size < 0 else min(start + size, self.size)
        data = self._files.read_bytes(self._name, start, end) if start < end else b""
        self._at[threading.get_ident()] = start + len(data)
        return data


_opened: dict[str, SegmentFiles] = {}
_OPENING = threading.Lock()


def segment_files(address: str) -> SegmentFiles:
    """Return the segments of the shared store at an address. In a process, each address has one cache."""
    with _OPENING:
        if address not in _opened:
            _opened[address] = SegmentFiles(SharedPlace(address))
        return _opened[address]


def use_segment_files(address: str, files: SegmentFiles) -> None:
    """Make `segment_files` return these segments for an address."""
    _opened[address] = files
