"""A log to load: its name, the place of its bytes, and a stamp that shows whether the log changed.

All classes here can be pickled, because worker processes open the logs.
"""

from __future__ import annotations

import io
from typing import Protocol

import msgspec

from ingest.sources.stored_names import is_address


class LogPlace(Protocol):
    """A place from which bytes can be read: a local file, a member of an archive, or an object on a server.

    `open` returns the stored bytes from the first byte on. It raises OSError.
    """

    @property
    def own_name(self) -> str:
        """The file's name without folders. '' for a stream."""

    @property
    def folder_name(self) -> str:
        """The name of the file's folder. '' when there is no folder."""

    @property
    def random_access(self) -> bool:
        """True when the stream from `open` can seek. A zip needs this."""

    @property
    def can_reopen(self) -> bool:
        """True when the bytes at the place can be opened more than once, and in another process."""

    def open(self) -> io.RawIOBase: ...

    def sibling(self, name: str) -> LogPlace | None:
        """Return the place of the file with this name in the same folder, or None without such a file."""


def can_open(place: LogPlace | None) -> bool:
    """Return True when the file exists and can be opened."""
    if place is None:
        return False
    try:
        place.open().close()
    except (OSError, ValueError):
        return False
    return True


class FileStamp(msgspec.Struct, frozen=True):
    """Size, time and version of stored bytes. A file with an unchanged stamp is not read again.

    `size` is the stored size in bytes. `version` comes from an object store or an archive, for example an
    ETag or a checksum. When `mtime_ns` is 0 and `version` is empty, only reading the content can show a
    change.
    """

    size: int = 0
    mtime_ns: int = 0
    version: str = ""

    @property
    def is_telling(self) -> bool:
        return bool(self.mtime_ns or self.version)


class LogFile(msgspec.Struct, frozen=True):
    """A log to load. `name` is the name under which the store records the log.

    `problem` says why the log cannot be read, or is None. `content_size` is the size of the uncompressed
    content in bytes. It is None when the size is unknown before reading. `fingerprint` is the fingerprint of
    the content if the content was read while logs were searched.

    For a member of an archive, `archive` is the archive's name and `order` the member's position in it.
    `archive_seen` describes the archive when its members were listed. `settled` is True when the archive has
    not changed since all its members were read.
    """

    name: str
    place: LogPlace
    seen: FileStamp = FileStamp()
    problem: str | None = None
    content_size: int | None = None
    fingerprint: str | None = None
    archive: str | None = None
    archive_seen: str | None = None
    order: int = 0
    settled: bool = False

    @property
    def is_costly(self) -> bool:
        """True when reading the content is slow because the log is compressed, remote or a stream."""
        return self.content_size is None or is_address(self.name)
