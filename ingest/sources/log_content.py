"""Reads the content of a log as one stream of uncompressed UTF-8 bytes and computes its fingerprint."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from ingest.errors import CutOffError, DamagedFileError
from ingest.sources.archives import zip_archive
from ingest.sources.archives.file_type import ArchiveKind, Packing, unpack_stream
from ingest.sources.archives.inspect_archive import EvalLines, find_documents
from ingest.sources.archives.streams import RewindableStream, StreamPart
from ingest.sources.databases.database_lines import DatabaseLines
from ingest.sources.databases.snapshot import copy_database, copy_stream
from ingest.sources.local_files import LocalFile
from ingest.sources.log_file import LogFile, LogPlace
from ingest.sources.session_trees import SessionTree

HEAD = 64 * 1024  # bytes at the beginning that identify a log before the whole log is read
CUT_OFF = "-cut"  # suffix of the fingerprint of truncated content
_BUFFER = 64 * 1024  # bytes; larger reads bypass the buffer
_PIECE = 1024 * 1024
_MAX_IN_MEMORY = (
    4 * 1024 * 1024
)  # bytes kept in memory while the format is recognised; if more bytes are read, the log is opened again
# Bytes kept in memory for a log that cannot be opened again, while its format is recognised.
_MAX_OF_PIPES = 128 * 1024 * 1024


class LogContent(io.RawIOBase):
    """A log's content as a stream of uncompressed bytes. It counts and fingerprints the bytes that were read.

    `rewind` can be called once, even if the source cannot seek. `packed` is True when the stored bytes differ
    from the content (compression, `.eval` archive, UTF-16, database, several files).
    """

    def __init__(self, log_file: LogFile) -> None:
        self._found = log_file
        self._noted_sizes: tuple[int, ...] = (HEAD,)
        self._open_source()

    def _open_source(self) -> None:
        place = self._found.place
        self._stored = StreamPart(place.open(), 0, self._found.seen.size if place.random_access else None)
        try:
            self._stream, self.packed = _unpack_source(self._stored, self._found)
        except BaseException:
            self._stored.close()
            raise
        self.begin_again()

    def begin_again(self) -> None:
        # SHA-256 is fast on today's processors, and nobody can forge two logs with the same hash.
        self._digest = hashlib.sha256()
        # why the content is truncated, or None; known at the end of the content
        self.cut_off: str | None = None
        self._noted: dict[int, str] = {}  # number of bytes → fingerprint of that many first bytes
        self._stored_before = self._stored.bytes_read
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def go_back(self) -> None:
        """Go back to the first byte, so that the format can be recognised again. Raises OSError."""
        if not self._stream.rewinds:
            if not self._found.place.can_reopen:
                raise DamagedFileError(
                    f"no format was recognised in its first {_MAX_OF_PIPES:,} bytes; name the file instead"
                )
            self._stream.close()
            self._open_source()
        self._stream.go_back()

    def rewind(self) -> None:
        """Go back to the first byte for the final reading, and set all counts to 0. Raises OSError."""
        self.go_back()
        self._stream.rewind()
        self.begin_again()

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer completely unless the content ends. Return the number of bytes read.

        If a compressed file or a tar member is incomplete, the content ends there, and `cut_off` says why.
        """
        view = memoryview(buffer)
        filled = 0
        try:
            while filled < len(view) and (count := self._stream.readinto(view[filled:]) or 0):
                filled += count
        except CutOffError as error:
            self.cut_off = str(error)
        self._count_and_hash(view[:filled])
        return filled

    def _count_and_hash(self, data: memoryview) -> None:
        done = 0
        for size in self._noted_sizes:
            split = max(done, min(size - self.bytes_read, len(data)))
            self._digest.update(data[done:split])
            done = split
            if size not in self._noted and self.bytes_read + len(data) >= size:
                self._noted[size] = self._digest.hexdigest()
        self._digest.update(data[done:])
        self.bytes_read += len(data)

    def note_prefix(self, size: int) -> None:
        """Request the fingerprint of the first `size` bytes, which `prefix` returns later.

        Call this method before the final reading.
        """
        self._noted_sizes = tuple(sorted({*self._noted_sizes, size}))

    def prefix(self, size: int) -> str | None:
        """Return the SHA-256 of the first `size` bytes, in hexadecimal.

        Return None when fewer bytes were read, or when `note_prefix` was not called.
        """
        return self._noted.get(size)

    @property
    def fingerprint(self) -> str:
        """SHA-256 in hexadecimal of the bytes read so far. At the end, this is the hash of the whole content.

        For incomplete content, a suffix follows the hash.
        """
        return self._digest.hexdigest() + (CUT_OFF if self.cut_off is not None else "")

    def fingerprint_of(self, size: int) -> str:
        """Return the SHA-256 of the first `size` bytes in hexadecimal. These bytes must have been read.

        If more bytes have been read, the log is opened and read again.
        """
        if size == self.bytes_read:
            return self.fingerprint
        digest, left, buffer = hashlib.sha256(), size, memoryview(bytearray(_PIECE))
        with open_log(self._found) as again:
            while left > 0 and (count := again.readinto(buffer[:left])):
                digest.update(buffer[:count])
                left -= count
        return digest.hexdigest()

    @property
    def head(self) -> str:
        """SHA-256 of the first `HEAD` bytes, or of the whole content when the content is shorter.

        Only valid after these bytes have been read.
        """
        return self._noted.get(HEAD) or self._digest.hexdigest()

    @property
    def stored_read(self) -> int:
        """Number of stored (compressed) bytes read since the last rewind."""
        return self._stored.bytes_read - self._stored_before

    def open_buffered(self, size: int = _BUFFER) -> io.BufferedReader:
        return io.BufferedReader(self, size)


def open_log(log_file: LogFile, *, rewinds: bool = False) -> LogContent:
    """Open the content of a log, up to the size that the log had when it was found.

    With `rewinds`, the caller must call `rewind` before the final reading. Otherwise `rewind` was already
    called. Raises OSError, including DamagedFileError.
    """
    content = LogContent(log_file)
    if not rewinds:
        content.rewind()
    return content


def _unpack_source(stored: StreamPart, log_file: LogFile) -> tuple[RewindableStream, bool]:
    """Return the stream of the content as UTF-8, and whether the stored bytes were packed or encoded.

    Raises DamagedFileError when the file is an archive that is not itself a log.
    """
    keeps = _MAX_IN_MEMORY if log_file.place.can_reopen else _MAX_OF_PIPES
    plain = RewindableStream(stored, keeps=0 if isinstance(log_file.place, LocalFile) else keeps)
    stream, packing = unpack_stream(plain, keeps=keeps)
    if packing.is_database:
        return RewindableStream(_read_database(stream, packing, log_file), keeps=0), True
    if packing.archive is None:
        return stream, not packing.is_as_stored or isinstance(log_file.place, SessionTree)
    if packing.archive is ArchiveKind.ZIP and packing.compression is None and log_file.place.random_access:
        stream.detach()
        documents = find_documents(zip_archive.list_zip_members(stored))
        if documents is not None:
            return RewindableStream(EvalLines(stored, documents), keeps=keeps), True
    raise DamagedFileError(_why_no_archive(packing, log_file))


def _read_database(stream: RewindableStream, packing: Packing, log_file: LogFile) -> DatabaseLines:
    place = log_file.place
    if packing.compression is None and place.can_reopen:
        stream.close()
        return DatabaseLines(copy_database(place.open, SideFiles(place), log_file.seen.size))
    stream.rewind()
    with stream:
        return DatabaseLines(copy_stream(stream))


class SideFiles(msgspec.Struct, frozen=True):
    """Function that opens the file whose name is a database's name with the given suffix."""

    place: LogPlace

    def __call__(self, suffix: str) -> io.RawIOBase | None:
        beside = self.place.sibling(self.place.own_name + suffix)
        try:
            return beside.open() if beside is not None else None
        except FileNotFoundError:
            return None


def _why_no_archive(packing: Packing, log_file: LogFile) -> str:
    kind = f"it is a {packing.archive} archive"
    if not log_file.place.can_reopen:
        return f"{kind}; name the file instead of piping it"
    if log_file.archive is not None:
        return f"{kind} inside an archive; unpack the outer one"
    if packing.compression is not None:
        return f"{kind} inside {packing.compression} data; unpack that"
    return f"{kind}, which became one while it was being loaded; load it again"


def compute_prefixes(log_file: LogFile, sizes: Sequence[int]) -> dict[int, str]:
    """For each number in `sizes`, return the SHA-256 (hexadecimal) of that many first bytes of a log's
    content.

    `sizes` must be ascending. Numbers larger than the log are left out. Raises OSError.
    """
    digests: dict[int, str] = {}
    with open_log(log_file) as content:
        buffer = memoryview(bytearray(_PIECE))
        for size in sizes:
            while (left := size - content.bytes_read) > 0 and content.readinto(buffer[:left]):
                pass
            if content.bytes_read < size:
                break
            digests[size] = content.fingerprint
    return digests


def compute_fingerprint(log_file: LogFile) -> str:
    """Return the SHA-256 of a log's whole content, in hexadecimal. Raises OSError."""
    with open_log(log_file) as content:
        buffer = bytearray(_PIECE)
        while content.readinto(buffer):
            pass
        return content.fingerprint
