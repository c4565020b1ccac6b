"""Where the segments of a store are: beside its generation, or in the object store of a shared store."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

from ingest.store.shared.link import read_link

if TYPE_CHECKING:
    from ingest.store.shared.segment_files import SegmentFiles


class Attacher(Protocol):
    """The connection of DuckDB that attaches segments."""

    def register_filesystem(self, filesystem: SegmentFiles) -> None: ...

    def filesystem_is_registered(self, name: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class SegmentPlaces:
    """The segments of the store in a folder; `files` are those of its object store, where it has one."""

    folder: Path
    files: SegmentFiles | None

    def locate(self, name: str, con: Attacher) -> str:
        """Return what ATTACH of this connection takes for a segment: a path or an address."""
        if self.files is None or (self.folder / name).is_file():
            return str(self.folder / name)
        if not con.filesystem_is_registered(self.files.protocol):
            con.register_filesystem(self.files)
        return str(self.files.unstrip_protocol(name))

    def fetch_ends(self, names: Sequence[str]) -> None:
        """Fetch what ATTACH reads of segments in the object store, of all of them at once."""
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
    """Return where the segments of the store in a folder are. Raises StoreError, OptionError."""
    link = read_link(folder)
    if link is None:
        return SegmentPlaces(folder, None)
    from ingest.store.shared.segment_files import segment_files  # its driver takes a tenth of a second

    return SegmentPlaces(folder, segment_files(link.address))
