"""Finds the segment files of a store: next to the store file, or in an object store."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

import msgspec

from ingest.store.shared.link import read_link

if TYPE_CHECKING:
    from ingest.store.shared.segment_files import SegmentFiles


class Attacher(Protocol):
    """A DuckDB connection to which segments can be attached."""

    def register_filesystem(self, filesystem: SegmentFiles) -> None: ...

    def filesystem_is_registered(self, name: str) -> bool: ...


class SegmentPlaces(msgspec.Struct, frozen=True):
    """The segment files of the store in a folder.

    `files` are the segments in the object store, or None if the store is only on this machine.
    """

    folder: Path
    files: SegmentFiles | None

    def locate(self, name: str, con: Attacher) -> str:
        """Return the path or address under which this connection can ATTACH a segment."""
        if self.files is None or (self.folder / name).is_file():
            return str(self.folder / name)
        if not con.filesystem_is_registered(self.files.protocol):
            con.register_filesystem(self.files)
        return str(self.files.unstrip_protocol(name))

    def fetch_ends(self, names: Sequence[str]) -> None:
        """Fetch in parallel the blocks that ATTACH reads from these segments in the object store."""
        if self.files is not None:
            self.files.fetch_ends([name for name in names if not (self.folder / name).is_file()])

    def open(self, name: str) -> BinaryIO:
        """Open the content of a segment. Raises OSError, StoreError."""
        if self.files is None or (self.folder / name).is_file():
            return (self.folder / name).open("rb")
        return cast("BinaryIO", self.files.open(name))

    def copy(self, name: str, path: Path) -> None:
        """Copy a segment to a path of this machine. Raises OSError, StoreError."""
        with self.open(name) as segment, path.open("xb") as copy:
            shutil.copyfileobj(segment, copy, 8 * 1024 * 1024)

    def find_size(self, name: str) -> int:
        """Return the size of a segment in bytes. Raises OSError, StoreError."""
        if self.files is None or (self.folder / name).is_file():
            return (self.folder / name).stat().st_size
        return self.files.find_size(name)


def find_segment_places(folder: Path) -> SegmentPlaces:
    """Return the places of the segment files of the store in a folder. Raises StoreError, OptionError."""
    link = read_link(folder)
    if link is None:
        return SegmentPlaces(folder, None)
    # the import of the driver takes 0.1 s
    from ingest.store.shared.segment_files import segment_files

    return SegmentPlaces(folder, segment_files(link.address))
