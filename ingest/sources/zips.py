"""A zip archive in, its members and their content out, each a stream; nothing is unpacked to disk.

Read with the standard library's table of contents and our own streams: `zipfile` before 3.14 knows no zstd
(method 93, in which Inspect writes its logs), and puts no bound on what bzip2 may expand to. Source: PKWARE
APPNOTE.TXT 6.3.10, 4.3.7 (local header) and 4.4.5 (methods).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

from ingest.sources.damage import Damaged
from ingest.sources.inflate import Compression, Inflated
from ingest.sources.streams import Part

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
CONTENTS = 32 * 1024 * 1024  # bytes of a table of contents, some 300,000 members
_LOCAL = struct.Struct("<4s22xHH")
_METHODS = {8: Compression.DEFLATE, 12: Compression.BZIP2, 93: Compression.ZSTD}
_STORED = 0
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class Member:
    """A row of the table of contents; sizes in bytes."""

    name: str
    start: int  # of its local header
    packed: int
    size: int
    checksum: int  # CRC-32
    method: int
    encrypted: bool


class _Bounded(io.BufferedReader):
    """A file of which nobody reads a large piece at once: `zipfile` reads a table of contents whole."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = CONTENTS + 1 if size is None or size < 0 else min(size, CONTENTS + 1)
        data = super().read(wanted)
        if len(data) > CONTENTS:
            raise Damaged(f"its table of contents has more than {CONTENTS:,} bytes; unpack it")
        return data


def members_of(file: io.RawIOBase) -> list[Member]:
    """The files in an archive as it lists them; of two with one name the last counts.

    `file` can seek; it stays open. Raises Damaged, OSError.
    """
    buffered = _Bounded(file)
    try:
        with zipfile.ZipFile(buffered) as archive:
            listed = {info.filename: _member(info) for info in archive.infolist() if not info.is_dir()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise Damaged(f"its table of contents is damaged or cut off ({str(error)[:100]})") from error
    finally:
        buffered.detach()
    members = list(listed.values())
    _check_apart(members)
    return members


def _member(info: zipfile.ZipInfo) -> Member:
    encrypted = bool(info.flag_bits & _ENCRYPTED)
    sizes = (info.compress_size, info.file_size, info.CRC)
    return Member(info.filename, info.header_offset, *sizes, info.compress_type, encrypted)


def _check_apart(members: list[Member]) -> None:
    """Members that share their bytes are how ten megabytes come to hold petabytes (D. Fifield, WOOT 2019)."""
    end = 0
    for member in sorted(members, key=lambda member: member.start):
        if member.start < end:
            raise Damaged("its members overlap, as no archive's do that was made for use")
        end = member.start + _LOCAL.size + member.packed


def open_member(file: io.RawIOBase, member: Member) -> io.RawIOBase:
    """The content of one member as a stream that checks its own sum; `file` can seek and is closed with it.

    Raises Damaged, here or while it is read; OSError.
    """
    if member.encrypted:
        raise Damaged("it is encrypted; unpack it with its password")
    method = _METHODS.get(member.method)
    if method is None and member.method != _STORED:
        raise Damaged(f"it is compressed with zip method {member.method}, which is not read here; unpack it")
    file.seek(member.start)
    header = file.read(_LOCAL.size) or b""
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise Damaged("it is not where the archive's table of contents says")
    _, name_length, extra_length = _LOCAL.unpack(header)
    part = Part(file, member.start + _LOCAL.size + name_length + extra_length, member.packed, exact=True)
    return _Checked(part if method is None else Inflated(part, method), member)


class _Checked(io.RawIOBase):
    """Passes a member's content on; at its end, length and CRC-32 must be those of the table of contents."""

    def __init__(self, source: io.RawIOBase, member: Member) -> None:
        self._source = source
        self._wanted = (member.size, member.checksum)
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
        at_end = not count and len(view)
        if self._length > self._wanted[0] or (at_end and (self._length, self._sum) != self._wanted):
            raise Damaged("its length or checksum is not that of the archive's table of contents")
        return count
