"""Reads an object from a server as a seekable stream; a failed request is repeated.

An object of up to `PIECE` bytes is fetched in one request, a larger one in pieces. When the object changes
during the reading, the reading fails, so that two versions are never mixed.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PIECE = 4 * 1024 * 1024  # bytes of one request
_TRIES = 3


class ObjectChangedError(OSError):
    """The object on the server has changed since it was found."""

    def __init__(self) -> None:
        super().__init__("it changed after it was found; load it again")


class ObjectStream(io.RawIOBase):
    """The content of an object on a server as a stream.

    `files` is the fsspec driver, `path` the object's path for that driver. `size` is in bytes; None when the
    server does not tell it. `is_same` asks the server and returns True when the object has not changed.
    """

    def __init__(self, files: Any, path: str, size: int | None, is_same: Callable[[], bool]) -> None:
        self._files, self._path = files, path
        self._size = size
        self._is_same = is_same
        self._handle: Any = None
        self._whole = size is None  # the server gives no parts, only all of it from the first byte on
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._size is not None

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size or 0}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._drop_connection()
        super().close()

    def _drop_connection(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(Exception):  # of a broken connection
                handle.close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if self._size is not None:
            view = view[: max(0, self._size - self._at)]
        if not len(view):
            return 0
        data = self._read(len(view))
        if not data and self._size is not None:
            raise OSError(f"the server ended at byte {self._at:,} of {self._size:,}")
        view[: len(data)] = data
        self._at += len(data)
        if self._at == self._size and self._size > PIECE:
            self._check_same()
        return len(data)

    def _check_same(self) -> None:
        try:
            same = self._is_same()
        except Exception as error:
            raise _failure_at(error, self._at) from error
        if not same:
            raise ObjectChangedError

    def _read(self, size: int) -> bytes:
        tries = _TRIES
        while True:
            try:
                return self.request_bytes(size)
            except ObjectChangedError:
                raise
            except Exception as error:
                self._drop_connection()
                if isinstance(error, ValueError) and not self._whole:
                    self._whole = True  # what fsspec raises where a server gives no parts
                    continue
                tries -= 1
                if not tries:
                    raise _failure_at(error, self._at) from error
                self._check_same()

    def request_bytes(self, size: int) -> bytes:
        if self._handle is None or (self._whole and self._handle.tell() > self._at):
            self._drop_connection()
            self._handle = self._open_remote()
        if not self._whole:
            self._handle.seek(self._at)
        while (gap := self._at - self._handle.tell()) > 0:
            if not self._handle.read(min(PIECE, gap)):
                return b""
        data: bytes = self._handle.read(min(size, PIECE))
        return data

    def _open_remote(self) -> Any:
        if self._whole or self._size is None:
            return self._files.open(self._path, "rb", block_size=0)
        if self._size > PIECE:
            return self._files.open(self._path, "rb", block_size=PIECE, cache_type="readahead")
        data = self._files.cat_file(self._path)
        if len(data) != self._size:
            raise ObjectChangedError
        return io.BytesIO(data)


def _failure_at(error: Exception, at: int) -> OSError:
    said = " ".join(str(error).split())[:200]
    return OSError(f"the server failed at byte {at:,} ({type(error).__name__}: {said})")
