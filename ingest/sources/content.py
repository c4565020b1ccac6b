"""A file of any kind in, its content out: one stream of bytes, bounded, fingerprinted as it passes."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

from ingest.sources.inspect_eval import EvalLines, documents_of
from ingest.sources.zips import SIGNATURES, members_of

_BUFFER = 1024 * 1024


class BoundedFile(io.RawIOBase):
    """The first `size` bytes of a raw stream (None = all) that takes their fingerprint as they pass."""

    def __init__(self, file: io.RawIOBase, size: int | None) -> None:
        self._file = file
        self._left = size
        self._digest = new_fingerprint()
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._left]
        count = self._file.readinto(view) or 0
        self._digest.update(view[:count])
        self._left = None if self._left is None else self._left - count
        self.bytes_read += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()

    @property
    def fingerprint(self) -> str:
        """Of the bytes read so far; of the file, when all were read."""
        return self._digest.hexdigest()

    def buffered(self) -> io.BufferedReader:
        return io.BufferedReader(self, _BUFFER)


def bounded(path: Path, size: int) -> BoundedFile:
    """The content of a file as far as its first `size` bytes tell. Raises OSError."""
    file = path.open("rb", buffering=0)
    try:
        if file.read(4) in SIGNATURES:
            documents = documents_of(members_of(file))
            if documents is not None:
                return BoundedFile(EvalLines(file, documents), None)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return BoundedFile(file, size)


def fingerprint_of(path: Path, size: int) -> str:
    """The fingerprint of a whole file; the same as reading it computes. Raises OSError."""
    with bounded(path, size) as content:
        buffer = bytearray(_BUFFER)
        while content.readinto(buffer):
            pass
        return content.fingerprint


def new_fingerprint() -> hashlib._Hash:
    """SHA-256: processors have it built in, and nobody can make two logs that look alike."""
    return hashlib.sha256()
