"""Raw streams: a part of another stream, a rewindable stream, and a stream made of pieces."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from ingest.errors import CutOffError


class StreamPart(io.RawIOBase):
    """A part of a stream: `size` bytes from offset `start` on. If `size` is None, the part ends with the
    stream.

    If the source can seek, the part keeps its own position, so several parts can be read in turn. With
    `owner`, closing the part closes the source. With `exact`, reading raises CutOffError when the source ends
    too early.
    """

    def __init__(
        self,
        source: io.RawIOBase,
        start: int = 0,
        size: int | None = None,
        *,
        owner: bool = True,
        exact: bool = False,
    ) -> None:
        self._source = source
        self._start, self._size = start, size
        self._seeks = source.seekable()
        self._owner = owner
        self._exact = exact
        self.at = 0
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seeks

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_END:
            end = self._source.seek(0, io.SEEK_END) - self._start
            offset += end if self._size is None else min(self._size, end)
        elif whence == io.SEEK_CUR:
            offset += self.at
        self.at = max(0, offset)
        return self.at

    def tell(self) -> int:
        return self.at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._size is not None:
            view = view[: max(0, self._size - self.at)]
        if not len(view):
            return 0
        if self._seeks:
            self._source.seek(self._start + self.at)
        count = self._source.readinto(view) or 0
        if not count and self._exact:
            raise CutOffError("it ends in the middle")
        self.at += count
        self.bytes_read += count
        return count

    def close(self) -> None:
        if self._owner:
            self._source.close()
        super().close()


class RewindableStream(io.RawIOBase):
    """A stream whose beginning can be read several times before the final reading.

    Until `rewind`, at most `keeps` bytes are kept in memory. If more bytes are read, `rewinds` becomes False.
    If `keeps` is 0, the source must be able to seek. Closing or deleting the stream closes the source, unless
    `detach` was called.
    """

    def __init__(self, source: io.RawIOBase, *, keeps: int) -> None:
        self._source = source
        self._limit = keeps
        self._buffer = bytearray()
        self._at = 0
        self._trial = True
        self._detached = False
        self.rewinds = True

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self._detached:
            self._source.close()
        super().close()

    def detach(self) -> io.RawIOBase:
        """Return the source stream at its position. Closing this stream then no longer closes the source."""
        self._detached = True
        return self._source

    def head(self, size: int) -> bytes:
        """Return the first `size` bytes, or all bytes if there are fewer.

        Call this before anything is read.
        """
        head = b""
        while len(head) < size and (piece := self.read(size - len(head))):
            head += piece
        self.go_back()
        return head

    def rewind(self) -> None:
        """Go back to the first byte for the final reading. Allowed only while `rewinds` is True."""
        self.go_back()
        self._trial = False

    def go_back(self) -> None:
        """Go back to the first byte. Allowed only while `rewinds` is True."""
        if self._limit:
            self._at = 0
        else:
            self._source.seek(0)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._at < len(self._buffer):
            return self._read_buffer(view)
        count = self._source.readinto(view) or 0
        if self._limit and self._trial and self.rewinds:
            self._keep(view[:count])
        return count

    def _keep(self, data: memoryview) -> None:
        self._buffer += data
        self._at = len(self._buffer)
        if self._at > self._limit:
            self._buffer, self._at, self.rewinds = bytearray(), 0, False

    def _read_buffer(self, view: memoryview) -> int:
        count = min(len(view), len(self._buffer) - self._at)
        view[:count] = self._buffer[self._at : self._at + count]
        self._at += count
        if not self._trial and self._at == len(self._buffer):
            self._buffer, self._at = bytearray(), 0
        return count


class Closeable(Protocol):
    def close(self) -> object: ...


From = TypeVar("From", bound=Closeable)


class PieceStream(io.RawIOBase, Generic[From]):
    """A stream whose content is made from `source` in pieces. Closing the stream closes `source`."""

    def __init__(self, source: From) -> None:
        self._source = source
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._source.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if not self._ready and view:
            self._ready = memoryview(self._next_content(len(view)))
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    @abstractmethod
    def _next_content(self, limit: int) -> bytes:
        """Return the next piece of content, of about `limit` bytes. Return empty bytes only at the end."""
