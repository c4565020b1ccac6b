"""Lists the files of a tar archive from its headers. Reads the members of a compressed tar archive.

Source: POSIX.1-2017 pax (https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, "ustar
Interchange Format", "pax Header Block") and the GNU manual ("Basic Tar Format") for long names. `tarfile`
only decodes header blocks here. It would read extended headers of any size into memory, and would stop
without an error at a damaged header.

A compressed tar can only be read forward. So each process keeps its last compressed tar open, and can read
the members in order in one pass.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import msgspec

from ingest.errors import CutOffError, DamagedFileError

_BLOCK = tarfile.BLOCKSIZE
EXTENDED = 1024 * 1024  # bytes of a long name or of pax records; real paths are much shorter
_FILES = {tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE}
_EMPTY = {
    tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE,
}  # fmt: skip
_PASSED_OVER = {tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK}
_LATEST = 2**62  # nanoseconds since 1970; a later time must be wrong
_SPARSE = "GNU.sparse."
_running: dict[Hashable, ForwardStream] = {}  # the archive that this process keeps open, at most one


class TarMember(msgspec.Struct, frozen=True):
    """A file in a tar archive.

    The content is `size` bytes from byte `start` of the uncompressed archive on. `problem` says why the file
    cannot be read, or is None.
    """

    name: str
    start: int
    size: int
    mtime_ns: int
    problem: str | None = None


def is_tar(head: bytes) -> bool:
    """Return True when `head` begins with a tar header (old or new form) with a correct checksum."""
    if b"\0" not in head:
        return False  # a header ends with zeros; this test is fast, so most other files need no checksum
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


class ForwardStream:
    """A stream that can only be read forward. `at` is the position."""

    def __init__(self, stream: io.RawIOBase) -> None:
        self.stream = stream
        self.at = 0

    def readinto(self, buffer: memoryview) -> int:
        count = self.stream.readinto(buffer) or 0
        self.at += count
        return count

    def advance_to(self, position: int) -> None:
        """Move to a position.

        Raises OSError. Raises DamagedFileError when the stream ends before the position.
        """
        if self.stream.seekable():
            self.at = self.stream.seek(position)
            return
        buffer = memoryview(bytearray(min(1024 * 1024, max(1, position - self.at))))
        while self.at < position:
            if not self.readinto(buffer[: position - self.at]):
                raise DamagedFileError("it ends in the middle of a file")

    def read(self, size: int) -> bytes:
        """Read exactly `size` bytes. Return fewer bytes only at the end of the stream."""
        parts, left = [], size
        while left:
            part = self.stream.read(left)
            if not part:
                break
            parts.append(part)
            left -= len(part)
        self.at += size - left
        return b"".join(parts)


def list_tar_members(tape: ForwardStream) -> Iterator[TarMember]:
    """Yield the files in the order of the archive.

    The caller may read the content of each file before asking for the next file. Raises OSError. Raises
    DamagedFileError where the archive is incomplete or corrupt.
    """
    extended: dict[str, str] = {}
    position = 0
    while True:
        tape.advance_to(position)
        header = _read_header(tape)
        if header is None:
            return
        start = position + _BLOCK
        position = start + _padded_size(header.size)
        if header.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME):
            extended |= _read_extended_header(header, tape)
        elif header.type not in _PASSED_OVER:
            member = _member_of_header(header, extended, start)
            position = start + (0 if header.type in _EMPTY else _padded_size(member.size))
            extended = {}
            if header.type in _FILES:
                yield member


def _read_header(tape: ForwardStream) -> tarfile.TarInfo | None:
    block = tape.read(_BLOCK)
    if len(block) < _BLOCK:
        raise DamagedFileError("it ends in the middle: the end mark is missing")
    if not any(block):
        return None
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        raise DamagedFileError(f"it is corrupt at byte {tape.at - _BLOCK:,} ({error})") from error
    if header.size < 0:
        raise DamagedFileError(f"it is corrupt at byte {tape.at - _BLOCK:,} (a negative size)")
    if header.type == tarfile.GNUTYPE_SPARSE:
        raise DamagedFileError(
            "it contains a sparse file in the old GNU format, which is not supported; unpack it"
        )
    return header


def _padded_size(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _read_extended_header(header: tarfile.TarInfo, tape: ForwardStream) -> dict[str, str]:
    if header.size > EXTENDED:
        raise DamagedFileError(f"it has an extended header of {header.size:,} bytes; unpack it")
    data = tape.read(header.size)
    if header.type == tarfile.GNUTYPE_LONGNAME:
        return {"path": data.rstrip(b"\0").decode("utf-8", "surrogateescape")}
    return dict(_parse_pax_records(data))


def _parse_pax_records(data: bytes) -> Iterator[tuple[str, str]]:
    r"""Yield the records `<length> <key>=<value>\n`. The decimal length counts the whole record."""
    at = 0
    while at < len(data):
        digits, space, _ = data[at : at + 20].partition(b" ")
        if not space or not digits.isdigit() or int(digits) <= len(digits) + 1:
            raise DamagedFileError("it is corrupt (an extended header cannot be read)")
        record = data[at + len(digits) + 1 : at + int(digits)]
        key, _, value = record.removesuffix(b"\n").partition(b"=")
        yield key.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")
        at += int(digits)


def _member_of_header(header: tarfile.TarInfo, extended: dict[str, str], start: int) -> TarMember:
    try:
        size = int(extended.get("size", header.size))
        mtime = float(extended.get("mtime", header.mtime))
        mtime_ns = max(0, min(int(mtime * 1e9), _LATEST))
    except (ValueError, OverflowError) as error:
        raise DamagedFileError("it is corrupt (an extended header lacks a number)") from error
    if size < 0:
        raise DamagedFileError("it is corrupt (a negative size)")
    sparse = any(key.startswith(_SPARSE) for key in extended)
    problem = "is a sparse file; unpack the archive" if sparse else None
    return TarMember(extended.get("path", header.name), start, size, mtime_ns, problem)


def open_member(archive: Hashable, unpack: Callable[[], io.RawIOBase], member: TarMember) -> MemberStream:
    """Open the content of a member. Read the content before you open another member of any compressed tar.

    `archive` identifies the archive. `unpack` opens the uncompressed archive from its start. It is called
    when the archive is not open, or when the open archive is already past the member. Raises OSError.
    """
    tape = _running.get(archive)
    if tape is None or tape.at > member.start:
        close_kept_archive()
        tape = _running[archive] = ForwardStream(unpack())
    try:
        tape.advance_to(member.start)
    except BaseException:
        close_kept_archive()
        raise
    return MemberStream(tape, member)


def close_kept_archive() -> None:
    """Close the archive that this process keeps open, if there is one."""
    while _running:
        _running.popitem()[1].stream.close()


class MemberStream(io.RawIOBase):
    """The content of one member, read from the archive's stream.

    Raises ValueError when another member was opened in between. Raises CutOffError when the archive ends
    early.
    """

    def __init__(self, tape: ForwardStream, member: TarMember) -> None:
        self._tape = tape
        self._at = member.start
        self._end = member.start + member.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._tape.at != self._at:
            raise ValueError("another member was opened meanwhile")
        view = memoryview(buffer)[: self._end - self._at]
        if not len(view):
            return 0
        count = self._tape.readinto(view)
        if not count:
            raise CutOffError("it ends in the middle")
        self._at += count
        return count
