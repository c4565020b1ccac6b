"""A zip archive in, its members and their content out, each a stream; nothing is unpacked to disk.

Read with the standard library's table of contents and our own streams: `zipfile` before 3.14 knows no zstd
(method 93, in which Inspect writes its logs) and puts no bound on what bzip2 may expand to. Sources: PKWARE
APPNOTE.TXT 6.3.10, 4.3.7 (local header) and 4.4.5 (methods).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any

from ingest.sources.inflate import Compression, Damaged, Inflated

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_CONTENTS = 32 * 1024 * 1024  # bytes of a table of contents, some 300,000 members
_LOCAL = struct.Struct("<4s22xHH")
_METHODS = {8: Compression.DEFLATE, 12: Compression.BZIP2, 93: Compression.ZSTD}
_STORED = 0


class _Bounded(io.BufferedReader):
    """A file of which nobody reads a large piece at once: `zipfile` reads a table of contents whole."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = _CONTENTS + 1 if size is None or size < 0 else min(size, _CONTENTS + 1)
        data = super().read(wanted)
        if len(data) > _CONTENTS:
            raise Damaged(f"has a table of contents of more than {_CONTENTS:,} bytes; unpack it")
        return data


def members_of(file: io.RawIOBase) -> list[zipfile.ZipInfo]:
    """The files in an archive as it lists them; of two with one name the last counts.

    `file` can seek; it stays open. Raises Damaged, OSError.
    """
    buffered = _Bounded(file)
    try:
        with zipfile.ZipFile(buffered) as archive:
            listed = {info.filename: info for info in archive.infolist() if not info.is_dir()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, UnicodeError) as error:
        raise Damaged(f"is a zip archive that cannot be read ({str(error)[:100]})") from error
    finally:
        buffered.detach()
    return list(listed.values())


def open_member(file: io.RawIOBase, member: zipfile.ZipInfo) -> io.RawIOBase:
    """The content of one member as a stream that checks its own sum. `file` stays open, and must until then.

    Raises Damaged, here or while it is read.
    """
    if member.flag_bits & 0x1:
        raise Damaged("is encrypted; unpack it with its password")
    method = _METHODS.get(member.compress_type)
    if method is None and member.compress_type != _STORED:
        raise Damaged(f"is compressed with zip method {member.compress_type}, which is not read; unpack it")
    file.seek(member.header_offset)
    header = file.read(_LOCAL.size) or b""
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise Damaged("is not where the table of contents says")
    _, name_length, extra_length = _LOCAL.unpack(header)
    start = member.header_offset + _LOCAL.size + name_length + extra_length
    part = Part(file, start, member.compress_size)
    inflated = part if method is None else Inflated(io.BufferedReader(part), method)
    return _Checked(inflated, member)


class Part(io.RawIOBase):
    """`size` bytes of a file from `start` on. Closing it leaves the file open."""

    def __init__(self, file: io.RawIOBase, start: int, size: int) -> None:
        self._file = file
        self._at, self._end = start, start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._end - self._at]
        if not len(view):
            return 0
        self._file.seek(self._at)
        count = self._file.readinto(view) or 0
        self._at += count
        return count


class _Checked(io.RawIOBase):
    """Passes a member's content on; at its end, length and CRC-32 must be those of the table of contents."""

    def __init__(self, source: io.RawIOBase, member: zipfile.ZipInfo) -> None:
        self._source = source
        self._member = member
        self._sum = self._length = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._source.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        count = self._source.readinto(view) or 0
        self._sum = zlib.crc32(view[:count], self._sum)
        self._length += count
        wanted = (self._member.file_size, self._member.CRC)
        if self._length > wanted[0] or (not count and view and (self._length, self._sum) != wanted):
            raise Damaged("is not what the table of contents says: another length or checksum")
        return count
