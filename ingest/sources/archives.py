"""An archive of logs in, its members out as logs of their own, each with a place to open it from.

A zip whose layout is Inspect's is one log, not an archive. A member may be compressed; one that is itself an
archive is refused when it is opened. Nothing is unpacked to disk, and no member's name is used as a path.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import ClassVar

from ingest.sources import solid, tars, zips
from ingest.sources.content import fingerprint_of
from ingest.sources.damage import Damaged
from ingest.sources.found import Found, Place, Seen
from ingest.sources.inflate import Compression, Inflated
from ingest.sources.inspect_eval import documents_of
from ingest.sources.naming import member_name
from ingest.sources.packing import LOOK, ArchiveKind, unpacked
from ingest.sources.streams import FromStart, Part

MEMBERS = 300_000  # of an archive; each costs about a kilobyte of memory
_OF_A_MAC = "__MACOSX"
Packed = zips.Member | tars.Member


@dataclass(frozen=True, slots=True)
class Archive:
    """`compression` is that of a whole tar archive; the members of a zip are compressed each for itself."""

    place: Place
    seen: Seen
    is_zip: bool
    compression: Compression | None = None

    def open(self) -> io.RawIOBase:
        """The archive, a tar unpacked."""
        stored = Part(self.place.open(), 0, self.seen.size if self.place.random_access else None)
        return Inflated(stored, self.compression) if self.compression else stored


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    archive: Archive
    member: Packed

    random_access: ClassVar[bool] = False
    again: ClassVar[bool] = True

    @property
    def on_tape(self) -> bool:
        """It can only be reached by unpacking the archive up to there."""
        return isinstance(self.member, tars.Member) and self.archive.compression is not None

    @property
    def own_name(self) -> str:
        return PurePosixPath(self.member.name).name

    def open(self) -> io.RawIOBase:
        if isinstance(self.member, zips.Member):
            return zips.open_member(self.archive.open(), self.member)
        if self.archive.compression:
            return solid.open_member(self.archive, self.archive.open, self.member)
        return Part(self.archive.open(), self.member.start, self.member.size, exact=True)

    def beside(self, name: str) -> ArchiveMember | None:
        if self.archive.compression:
            return None  # the tape would have to go back
        path = PurePosixPath(self.member.name).parent / name
        member = _by_path(self.archive).get(path) if path.name == name else None
        return ArchiveMember(self.archive, member) if member else None


@lru_cache(maxsize=1)
def _by_path(archive: Archive) -> dict[PurePosixPath, Packed]:
    """For those who look for a neighbour; nothing when the archive has become unreadable."""
    try:
        with closing(archive.open()) as file:
            tape = None if archive.is_zip else tars.Tape(file)
            return {PurePosixPath(member.name): member for member in _listed(archive, tape)}
    except OSError:
        return {}


def look_inside(found: Found) -> tuple[Found, Archive | None]:
    """The file with the size of its content, where that can be told, and the archive it is, if it is one.

    Raises OSError.
    """
    stored = Part(found.place.open(), 0, found.seen.size if found.place.random_access else None)
    with closing(stored):
        stream, packing = unpacked(FromStart(stored, keeps=LOOK))
        if packing.archive is None:
            size = found.seen.size if packing.compression is None else None
            return replace(found, content_size=size), None
        stream.detach()
        is_zip = packing.archive is ArchiveKind.ZIP
        if is_zip and (packing.compression or documents_of(zips.members_of(stored)) is not None):
            return found, None
        return found, Archive(found.place, found.seen, is_zip, packing.compression)


def members_of(found: Found, archive: Archive, *, fingerprints: bool) -> Iterator[Found]:
    """The logs in an archive, in its order; hidden ones are left out, of two with one name the last counts.

    `fingerprints`: take them on the way where finding the members means reading them anyway. Raises Damaged
    where the archive is broken, after the members before that place; OSError.
    """
    by_name: dict[str, Found] = {}
    broken: OSError | None = None
    tape = None if archive.is_zip else tars.Tape(archive.open())
    try:
        for order, member in enumerate(_listed(archive, tape)):
            log = _as_found(found, ArchiveMember(archive, member), order)
            if tape and archive.compression and fingerprints and isinstance(member, tars.Member):
                log = replace(log, fingerprint=_fingerprint(log, tape, member))
            by_name[log.name] = log
    except OSError as error:
        broken = error
    finally:
        if tape:
            tape.stream.close()
    yield from sorted(by_name.values(), key=lambda log: log.order)
    if broken:
        raise broken


def _listed(archive: Archive, tape: tars.Tape | None) -> Iterator[Packed]:
    """The members that are not hidden."""
    if tape:
        listed: Iterable[Packed] = tars.members_of(tape)
    else:
        with closing(archive.open()) as file:
            listed = zips.members_of(file)
    for count, member in enumerate(member for member in listed if not _is_hidden(member.name)):
        if count == MEMBERS:
            raise Damaged(f"it holds more than {MEMBERS:,} files; unpack it")
        yield member


def _is_hidden(name: str) -> bool:
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    return not parts or parts[0] == _OF_A_MAC or any(part.startswith(".") for part in parts)


def _as_found(archive: Found, place: ArchiveMember, order: int) -> Found:
    member = place.member
    name = member_name(archive.name, member.name.removeprefix("./"))
    if isinstance(member, zips.Member):
        seen, problem = Seen(member.size, 0, f"crc32:{member.checksum:08x}"), None
    else:
        seen, problem = Seen(member.size, member.mtime_ns), member.problem
    return Found(name, place, seen, problem, archive=archive.name, order=order)


@dataclass(frozen=True, slots=True)
class _OnTape:
    """A member while the tape stands at its beginning."""

    tape: tars.Tape
    member: tars.Member

    own_name: ClassVar[str] = ""
    random_access: ClassVar[bool] = False
    again: ClassVar[bool] = False

    def open(self) -> io.RawIOBase:
        self.tape.wind_to(self.member.start)
        return solid.OnTape(self.tape, self.member)

    def beside(self, name: str) -> None:  # noqa: ARG002 - nobody asks
        return None


def _fingerprint(log: Found, tape: tars.Tape, member: tars.Member) -> str | None:
    """None when the member cannot be read; the next step on the tape shows if all is lost."""
    try:
        return fingerprint_of(replace(log, place=_OnTape(tape, member)))
    except Damaged:
        return None
