"""A log that was found in, its content out: one stream of bytes, unpacked, bounded and fingerprinted."""

from __future__ import annotations

import hashlib
import io
from typing import Any

from ingest.sources import zips
from ingest.sources.damage import Damaged
from ingest.sources.found import Found
from ingest.sources.inspect_eval import EvalLines, documents_of
from ingest.sources.packing import ArchiveKind, Packing, unpacked
from ingest.sources.places import LocalFile
from ingest.sources.streams import FromStart, Part

HEAD = 64 * 1024  # bytes of content that a log is known by before all of it is read
_BUFFER = 64 * 1024  # bytes; larger reads go past it, and to make one of a megabyte for each file costs more
_PIECE = 1024 * 1024
_KEPT = (
    4 * 1024 * 1024
)  # bytes of content that are kept while its format is looked for; else it is opened again
_KEPT_OF_PIPES = 128 * 1024 * 1024  # … which cannot be done with these


class Content(io.RawIOBase):
    """The content of a log. It can be rewound once, so that a stream's format can be found before it is read.

    `packed` = the bytes as stored are not the content itself.
    """

    def __init__(self, found: Found) -> None:
        self._found = found
        self._open()

    def _open(self) -> None:
        place = self._found.place
        self._stored = Part(place.open(), 0, self._found.seen.size if place.random_access else None)
        try:
            self._stream, self.packed = _unpacked(self._stored, self._found)
        except BaseException:
            self._stored.close()
            raise
        self._begin()

    def _begin(self) -> None:
        # Processors have SHA-256 built in, and nobody can make two logs that look alike.
        self._digest = hashlib.sha256()
        self._head: str | None = None
        self._stored_before = self._stored.bytes_read
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def back(self) -> None:
        """To the first byte, for another look. Raises OSError."""
        if not self._stream.rewinds:
            if not self._found.place.again:
                raise Damaged(f"no format shows in its first {_KEPT_OF_PIPES:,} bytes; name the file instead")
            self._stream.close()
            self._open()
        self._stream.back()

    def rewind(self) -> None:
        """To the first byte, to be read for good; what was read before counts for nothing. Raises OSError."""
        self.back()
        self._stream.rewind()
        self._begin()

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer unless the content ends: a piece's size must not depend on how it was packed."""
        view = memoryview(buffer)
        filled = 0
        while filled < len(view) and (count := self._stream.readinto(view[filled:]) or 0):
            filled += count
        self._pass(view[:filled])
        return filled

    def _pass(self, data: memoryview) -> None:
        split = max(0, HEAD - self.bytes_read)
        self._digest.update(data[:split])
        if self._head is None and self.bytes_read + len(data) >= HEAD:
            self._head = self._digest.hexdigest()
        self._digest.update(data[split:])
        self.bytes_read += len(data)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the bytes read so far; of the content, when all were read."""
        return self._digest.hexdigest()

    def fingerprint_of(self, size: int) -> str:
        """SHA-256 of the first bytes, where all up to there was read: they are read again, if it was more."""
        if size == self.bytes_read:
            return self.fingerprint
        digest, left, buffer = hashlib.sha256(), size, memoryview(bytearray(_PIECE))
        with opened(self._found) as again:
            while left > 0 and (count := again.readinto(buffer[:left])):
                digest.update(buffer[:count])
                left -= count
        return digest.hexdigest()

    @property
    def head(self) -> str:
        """SHA-256 of the first `HEAD` bytes, of all when there are fewer; to be asked when they were read."""
        return self._head or self.fingerprint

    @property
    def stored_read(self) -> int:
        """How many bytes were read of what is stored, since the beginning: how far a load is."""
        return self._stored.bytes_read - self._stored_before

    def buffered(self, size: int = _BUFFER) -> io.BufferedReader:
        return io.BufferedReader(self, size)


def opened(found: Found, *, rewinds: bool = False) -> Content:
    """The content of a log, as far as it reached when it was found. Raises OSError, with Damaged among them.

    `rewinds`: it will be looked at, and then read; else it is read at once.
    """
    content = Content(found)
    if not rewinds:
        content.rewind()
    return content


def _unpacked(stored: Part, found: Found) -> tuple[FromStart, bool]:
    """The content, and whether it was packed."""
    keeps = _KEPT if found.place.again else _KEPT_OF_PIPES
    plain = FromStart(stored, keeps=0 if isinstance(found.place, LocalFile) else keeps)
    stream, packing = unpacked(plain, keeps=keeps)
    if packing.archive is None:
        return stream, packing.compression is not None
    if packing.archive is ArchiveKind.ZIP and packing.compression is None and found.place.random_access:
        stream.detach()
        documents = documents_of(zips.members_of(stored))
        if documents is not None:
            return FromStart(EvalLines(stored, documents), keeps=keeps), True
    raise Damaged(_why_no_archive(packing, found))


def _why_no_archive(packing: Packing, found: Found) -> str:
    kind = f"it is a {packing.archive} archive"
    if not found.place.again:
        return f"{kind}; name the file instead of piping it"
    if found.archive is not None:
        return f"{kind} inside an archive; unpack the outer one"
    if packing.compression is not None:
        return f"{kind} inside {packing.compression} data; unpack that"
    return f"{kind}, which became one while it was being loaded; load it again"


def fingerprint_of(found: Found) -> str:
    """The fingerprint of a log's whole content; the same as reading it computes. Raises OSError."""
    with opened(found) as content:
        buffer = bytearray(_PIECE)
        while content.readinto(buffer):
            pass
        return content.fingerprint
