"""What a log to load looks like from outside: where its bytes are, and what tells that they have changed.

All of it can be pickled: a worker opens what the load found.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Protocol

from ingest.sources.naming import is_address


class Place(Protocol):
    """Where bytes are. `open` gives them as they are stored, from the first on; it raises OSError."""

    @property
    def own_name(self) -> str:
        """The last part of its path."""

    @property
    def random_access(self) -> bool:
        """What `open` gives can seek, as reading a zip needs."""

    @property
    def again(self) -> bool:
        """It can be opened more than once, and in another process."""

    def open(self) -> io.RawIOBase: ...

    def beside(self, name: str) -> Place | None:
        """What has this name in the same folder, if there can be such a thing."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How stored bytes looked when they were read: while none of it changes, they need not be read again.

    `size` is in bytes as stored (packed, that is), `version` what an object store or an archive says besides:
    an ETag, a checksum. `mtime_ns` 0 and no version = nobody can tell without reading.
    """

    size: int = 0
    mtime_ns: int = 0
    version: str = ""

    @property
    def tells(self) -> bool:
        return bool(self.mtime_ns or self.version)


@dataclass(frozen=True, slots=True)
class Found:
    """A log to load. `name` is its spelling in the store; `problem` says why it cannot be read, if so.

    `content_size` is in bytes when it is known without reading: None for what is compressed, or for a stream.
    `fingerprint` is of the content where finding it took reading it. A member of an archive names it in
    `archive`, `order` is its place there, and `archive_seen` how the archive looked; `settled` says that it
    has not changed since all of it was read.
    """

    name: str
    place: Place
    seen: Seen = Seen()
    problem: str | None = None
    content_size: int | None = None
    fingerprint: str | None = None
    archive: str | None = None
    archive_seen: str | None = None
    order: int = 0
    settled: bool = False

    @property
    def is_dear(self) -> bool:
        """True when its content is not simply there to be compared: it is packed, piped or far away."""
        return self.content_size is None or is_address(self.name)
