"""Base of the streams that make their content from another stream or a generator, a piece at a time."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import Any, Generic, Protocol, TypeVar


class Closeable(Protocol):
    def close(self) -> object: ...


From = TypeVar("From", bound=Closeable)


class PieceStream(io.RawIOBase, Generic[From]):
    """Content made from `source` in pieces; closing it closes the source."""

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
        """Return the next piece of content, at best of `limit` bytes; empty only at the end."""
