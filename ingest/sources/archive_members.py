"""Lists the members of an archive as separate logs. Each member has a place from which it can be opened.

A zip with the layout of an Inspect log is one log, not an archive. A member may be compressed. An archive
inside an archive is rejected when it is opened. Nothing is unpacked to disk, and member names are never used
as paths.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import PurePosixPath
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from ingest.errors import DamagedFileError
from ingest.sources.archives import tar_archive, zip_archive
from ingest.sources.archives.decompression import Compression, DecompressedStream
from ingest.sources.archives.file_type import LOOK, ArchiveKind, unpack_stream
from ingest.sources.archives.inspect_archive import find_documents
from ingest.sources.archives.streams import RewindableStream, StreamPart
from ingest.sources.log_content import compute_fingerprint
from ingest.sources.log_file import FileStamp, LogFile, LogPlace
from ingest.sources.session_trees import SessionTree
from ingest.sources.stored_names import member_name

MEMBERS = 300_000  # largest number of members in an archive; each takes about 1 KB of memory
_OF_A_MAC = "__MACOSX"
Packed = zip_archive.ZipMember | tar_archive.TarMember


class Archive(msgspec.Struct, frozen=True):
    """A zip or tar archive that may contain logs.

    `compression` is the compression of a whole tar archive, or None if it is uncompressed. The members of a
    zip are compressed one by one.
    """

    place: LogPlace
    seen: FileStamp
    is_zip: bool
    compression: Compression | None = None

    def open(self) -> io.RawIOBase:
        """Open the archive at the first byte. A compressed tar is uncompressed while it is read."""
        stored = StreamPart(self.place.open(), 0, self.seen.size if self.place.random_access else None)
        return DecompressedStream(stored, self.compression) if self.compression else stored


class ArchiveMember(msgspec.Struct, frozen=True):
    archive: Archive
    member: Packed

    random_access: ClassVar[bool] = False
    can_reopen: ClassVar[bool] = True

    @property
    def needs_unpacking(self) -> bool:
        """True when everything before a member must be uncompressed to read the member."""
        return isinstance(self.member, tar_archive.TarMember) and self.archive.compression is not None

    @property
    def own_name(self) -> str:
        return PurePosixPath(self.member.name).name

    @property
    def folder_name(self) -> str:
        return PurePosixPath(self.member.name).parent.name

    def open(self) -> io.RawIOBase:
        if isinstance(self.member, zip_archive.ZipMember):
            return zip_archive.open_member(self.archive.open(), self.member)
        if self.archive.compression:
            return tar_archive.open_member(self.archive, self.archive.open, self.member)
        return StreamPart(self.archive.open(), self.member.start, self.member.size, exact=True)

    def sibling(self, name: str) -> ArchiveMember | None:
        if self.archive.compression:
            return None
        path = PurePosixPath(self.member.name).parent / name
        member = _members_by_path(self.archive).get(path) if path.name == name else None
        return ArchiveMember(self.archive, member) if member else None


@lru_cache(maxsize=1)
def _members_by_path(archive: Archive) -> dict[PurePosixPath, Packed]:
    try:
        with closing(archive.open()) as file:
            tape = None if archive.is_zip else tar_archive.ForwardStream(file)
            return {PurePosixPath(member.name): member for member in _visible_members(archive, tape)}
    except OSError:
        return {}


def look_inside(log_file: LogFile) -> tuple[LogFile, Archive | None]:
    """Detect whether a file is an archive. Return the file, and its `Archive` or None.

    For an uncompressed log, `content_size` is set. Raises OSError.
    """
    if isinstance(log_file.place, SessionTree):
        return log_file, None
    stored = StreamPart(
        log_file.place.open(), 0, log_file.seen.size if log_file.place.random_access else None
    )
    with closing(stored):
        stream, packing = unpack_stream(RewindableStream(stored, keeps=LOOK))
        if packing.archive is None:
            size = log_file.seen.size if packing.is_as_stored else None
            return replace(log_file, content_size=size), None
        stream.detach()
        is_zip = packing.archive is ArchiveKind.ZIP
        if is_zip and (
            packing.compression or find_documents(zip_archive.list_zip_members(stored)) is not None
        ):
            return log_file, None
        return log_file, Archive(log_file.place, log_file.seen, is_zip, packing.compression)


def list_members(log_file: LogFile, archive: Archive, *, fingerprints: bool) -> Iterator[LogFile]:
    """Yield the logs in an archive in the archive's order. Hidden members are left out.

    Of two members with the same name, the last one is used. With `fingerprints`, the fingerprint of each
    member of a compressed tar is computed. Raises OSError. If the archive is damaged, the members before the
    damage are yielded, and DamagedFileError is raised.
    """
    by_name: dict[str, LogFile] = {}
    broken: OSError | None = None
    tape = None if archive.is_zip else tar_archive.ForwardStream(archive.open())
    try:
        for order, member in enumerate(_visible_members(archive, tape)):
            log = _member_log(log_file, ArchiveMember(archive, member), order)
            if tape and archive.compression and fingerprints and isinstance(member, tar_archive.TarMember):
                log = replace(log, fingerprint=_member_fingerprint(log, tape, member))
            by_name[log.name] = log
    except OSError as error:
        broken = error
    finally:
        if tape:
            tape.stream.close()
    yield from sorted(by_name.values(), key=lambda log: log.order)
    if broken:
        raise broken


def _visible_members(archive: Archive, tape: tar_archive.ForwardStream | None) -> Iterator[Packed]:
    if tape:
        listed: Iterable[Packed] = tar_archive.list_tar_members(tape)
    else:
        with closing(archive.open()) as file:
            listed = zip_archive.list_zip_members(file)
    for count, member in enumerate(member for member in listed if not _is_hidden(member.name)):
        if count == MEMBERS:
            raise DamagedFileError(f"it contains more than {MEMBERS:,} files; unpack it")
        yield member


def _is_hidden(name: str) -> bool:
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    return not parts or parts[0] == _OF_A_MAC or any(part.startswith(".") for part in parts)


def _member_log(archive: LogFile, place: ArchiveMember, order: int) -> LogFile:
    member = place.member
    name = member_name(archive.name, member.name.removeprefix("./"))
    if isinstance(member, zip_archive.ZipMember):
        stamp, problem = FileStamp(member.size, 0, f"crc32:{member.checksum:08x}"), None
    else:
        stamp, problem = FileStamp(member.size, member.mtime_ns), member.problem
    return LogFile(name, place, stamp, problem, archive=archive.name, order=order)


class StreamedMember(msgspec.Struct, frozen=True):
    """A tar member that can be read only while its archive is being listed."""

    tape: tar_archive.ForwardStream
    member: tar_archive.TarMember

    own_name: ClassVar[str] = ""
    folder_name: ClassVar[str] = ""
    random_access: ClassVar[bool] = False
    can_reopen: ClassVar[bool] = False

    def open(self) -> io.RawIOBase:
        self.tape.advance_to(self.member.start)
        return tar_archive.MemberStream(self.tape, self.member)

    def sibling(self, name: str) -> None:  # noqa: ARG002 - nobody asks
        return None


def _member_fingerprint(
    log: LogFile, tape: tar_archive.ForwardStream, member: tar_archive.TarMember
) -> str | None:
    """Return the fingerprint of a member's content. Return None when the member cannot be read."""
    try:
        return compute_fingerprint(replace(log, place=StreamedMember(tape, member)))
    except DamagedFileError:
        return None
