"""The first bytes of a stored file in, how it is packed out: compressed, an archive; names tell nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ingest.sources import tars, zips
from ingest.sources.damage import Damaged
from ingest.sources.inflate import Compression, Inflated, compression_of
from ingest.sources.streams import FromStart

LOOK = 512  # bytes; the first block of a tar archive


class ArchiveKind(StrEnum):
    ZIP = "zip"
    TAR = "tar"


@dataclass(frozen=True, slots=True)
class Packing:
    """`archive` is what stands under the compression, if there is one."""

    compression: Compression | None
    archive: ArchiveKind | None


def unpacked(stored: FromStart, *, keeps: int = LOOK) -> tuple[FromStart, Packing]:
    """The stream without its compression, at its start, and how it was packed. Raises OSError.

    `keeps`: as much of the content can be read before it is rewound.
    """
    head = stored.head(LOOK)
    compression = compression_of(head)
    if compression is None:
        return stored, Packing(None, _archive_kind(head))
    stored.rewind()
    inflated = FromStart(Inflated(stored, compression), keeps=keeps)
    head = inflated.head(LOOK)
    if again := compression_of(head):
        raise Damaged(f"it is compressed twice, with {compression} and {again}; unpack it once")
    return inflated, Packing(compression, _archive_kind(head))


def _archive_kind(head: bytes) -> ArchiveKind | None:
    if head.startswith(zips.SIGNATURES):
        return ArchiveKind.ZIP
    return ArchiveKind.TAR if tars.is_tar(head) else None
