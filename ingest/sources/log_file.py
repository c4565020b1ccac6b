"""A log to load as it looks from outside: where its bytes are, and what shows that they have changed.

All of it can be pickled: a worker opens what the load found.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Protocol

from ingest.sources.stored_names import is_address


class LogPlace(Protocol):
    """Says where bytes are. `open` gives them as they are stored, from the first on; it raises OSError."""

    @property
    def own_name(self) -> str:
        """The last part of its path."""

    @property
    def random_access(self) -> bool:
        """True when what `open` returns can seek, as reading a zip needs."""

    @property
    def can_reopen(self) -> bool:
        """True when it can be opened more than once, and in another process."""

    def open(self) -> io.RawIOBase: ...

    def sibling(self, name: str) -> LogPlace | None:
        """Return what has this name in the same folder, if there can be such a thing."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """How stored bytes looked when they were read: while none of it changes, they are not read again.

    `size` is in bytes as stored (packed, that is), `version` what an object store or an archive says besides:
    an ETag, a checksum. `mtime_ns` 0 and no version = nobody can tell without reading.
    """

    size: int = 0
    mtime_ns: int = 0
    version: str = ""

    @property
    def is_telling(self) -> bool:
        return bool(self.mtime_ns or self.version)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log to load. `name` is its spelling in the store; `problem` says why it cannot be read, if so.

    `content_size` is in bytes when it is known without reading: None for what is compressed, or for a stream.
    `fingerprint` is of the content where finding it took reading it. A member of an archive names it in
    `archive`, `order` is its place there, and `archive_seen` how the archive looked; `settled` says that it
    has not changed since all of it was read.
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
        """True when comparing its content is costly: it is packed, piped or far away."""
        return self.content_size is None or is_address(self.name)
