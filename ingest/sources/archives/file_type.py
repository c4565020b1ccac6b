"""Says from a file's first bytes how it is compressed and which kind of archive it is; names tell nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ingest.damaged_file import DamagedFileError
from ingest.sources.archives import tar_archive, zip_archive
from ingest.sources.archives.decompression import Compression, DecompressedStream, detect_compression
from ingest.sources.archives.streams import RewindableStream

LOOK = 512  # bytes; the first block of a tar archive


class ArchiveKind(StrEnum):
    ZIP = "zip"
    TAR = "tar"


@dataclass(frozen=True, slots=True)
class Packing:
    """`archive` is what stands under the compression, if there is one."""

    compression: Compression | None
    archive: ArchiveKind | None


def unpack_stream(stored: RewindableStream, *, keeps: int = LOOK) -> tuple[RewindableStream, Packing]:
    """Return the stream without its compression, at its start, and how it was packed. Raises OSError.

    `keeps`: as much of the content can be read before it is rewound.
    """
    head = stored.head(LOOK)
    compression = detect_compression(head)
    if compression is None:
        return stored, Packing(None, _detect_archive(head))
    stored.rewind()
    inflated = RewindableStream(DecompressedStream(stored, compression), keeps=keeps)
    head = inflated.head(LOOK)
    if again := detect_compression(head):
        raise DamagedFileError(f"it is compressed twice, with {compression} and {again}; unpack it once")
    return inflated, Packing(compression, _detect_archive(head))


def _detect_archive(head: bytes) -> ArchiveKind | None:
    if head.startswith(zip_archive.SIGNATURES):
        return ArchiveKind.ZIP
    return ArchiveKind.TAR if tar_archive.is_tar(head) else None
