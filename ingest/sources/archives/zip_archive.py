"""Lists the members of a zip archive. Opens the content of each member as a stream without temporary files.

`zipfile` only reads the table of contents. Before Python 3.14, it cannot read zstd (method 93, which Inspect
uses), and it does not limit the output of bzip2. Source: PKWARE APPNOTE.TXT 6.3.10, 4.3.7 (local header) and
4.4.5 (methods).
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any

import msgspec

from ingest.errors import CutOffError, DamagedFileError
from ingest.sources.archives.decompression import Compression, DecompressedStream
from ingest.sources.archives.streams import StreamPart

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
CONTENTS = 32 * 1024 * 1024  # bytes of a table of contents, enough for about 300,000 members
_LOCAL = struct.Struct("<4s22xHH")
_METHODS = {8: Compression.DEFLATE, 12: Compression.BZIP2, 93: Compression.ZSTD}
_STORED = 0
_ENCRYPTED = 0x1


class ZipMember(msgspec.Struct, frozen=True):
    """A file in a zip archive, as described in the table of contents. Sizes are in bytes."""

    name: str
    start: int  # offset of the local header
    packed: int
    size: int
    checksum: int  # CRC-32
    method: int
    encrypted: bool


class _BoundedFile(io.BufferedReader):
    """A file that raises DamagedFileError for reads of more than `CONTENTS` bytes.

    The limit is needed because `zipfile` reads a table of contents of any size into memory.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = CONTENTS + 1 if size is None or size < 0 else min(size, CONTENTS + 1)
        data = super().read(wanted)
        if len(data) > CONTENTS:
            raise DamagedFileError(f"its table of contents has more than {CONTENTS:,} bytes; unpack it")
        return data


def list_zip_members(file: io.RawIOBase) -> list[ZipMember]:
    """Return the files in an archive, in the order of its table of contents.

    Of two files with the same name, the last one is used. `file` must be seekable and stays open. Raises
    OSError. Raises DamagedFileError when the table of contents is damaged or members overlap.
    """
    buffered = _BoundedFile(file)
    try:
        with zipfile.ZipFile(buffered) as archive:
            listed = {
                info.filename: _member_of_entry(info) for info in archive.infolist() if not info.is_dir()
            }
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise DamagedFileError(f"its table of contents is damaged or cut off ({str(error)[:100]})") from error
    finally:
        buffered.detach()
    members = list(listed.values())
    _refuse_overlapping_members(members)
    return members


def _member_of_entry(info: zipfile.ZipInfo) -> ZipMember:
    encrypted = bool(info.flag_bits & _ENCRYPTED)
    sizes = (info.compress_size, info.file_size, info.CRC)
    return ZipMember(info.filename, info.header_offset, *sizes, info.compress_type, encrypted)


def _refuse_overlapping_members(members: list[ZipMember]) -> None:
    """Raise DamagedFileError when members share bytes of the archive.

    Ten megabytes with overlapping members can expand to petabytes (D. Fifield, WOOT 2019).
    """
    end = 0
    for member in sorted(members, key=lambda member: member.start):
        if member.start < end:
            raise DamagedFileError("its members overlap, which never happens in a normal archive")
        end = member.start + _LOCAL.size + member.packed


def open_member(file: io.RawIOBase, member: ZipMember) -> io.RawIOBase:
    """Open the content of one member as a stream that checks length and CRC-32 at its end.

    `file` is the archive, which must be seekable. Closing the stream closes `file`. Opening and reading raise
    OSError or DamagedFileError.
    """
    if member.encrypted:
        raise DamagedFileError("it is encrypted; unpack it with its password")
    method = _METHODS.get(member.method)
    if method is None and member.method != _STORED:
        raise DamagedFileError(
            f"it is compressed with zip method {member.method}, which is not supported; unpack it"
        )
    file.seek(member.start)
    header = file.read(_LOCAL.size) or b""
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise DamagedFileError("it is not at the position that the archive's table of contents gives")
    _, name_length, extra_length = _LOCAL.unpack(header)
    part = StreamPart(
        file, member.start + _LOCAL.size + name_length + extra_length, member.packed, exact=True
    )
    return _ChecksummedStream(part if method is None else DecompressedStream(part, method), member)


class _ChecksummedStream(io.RawIOBase):
    """A member's content. Raises DamagedFileError when the length or the CRC-32 is wrong."""

    def __init__(self, source: io.RawIOBase, member: ZipMember) -> None:
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
        try:
            count = self._source.readinto(view) or 0
        # the table of contents at the end of the archive was read, so the archive is damaged, not incomplete
        except CutOffError as error:
            raise DamagedFileError(str(error)) from error
        self._sum = zlib.crc32(view[:count], self._sum)
        self._length += count
        at_end = not count and len(view)
        if self._length > self._wanted[0] or (at_end and (self._length, self._sum) != self._wanted):
            raise DamagedFileError("its length or checksum differs from the archive's table of contents")
        return count
