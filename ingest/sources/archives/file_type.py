"""Detects a file's compression and archive kind from its first bytes; the file's name is ignored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ingest.damaged_file import DamagedFileError
from ingest.sources.archives import tar_archive, zip_archive
from ingest.sources.archives.decompression import Compression, DecompressedStream, detect_compression
from ingest.sources.archives.streams import RewindableStream

DATABASE = b"SQLite format 3\0"  # https://sqlite.org/fileformat.html
LOOK = 512  # bytes; the first block of a tar archive


class ArchiveKind(StrEnum):
    ZIP = "zip"
    TAR = "tar"


@dataclass(frozen=True, slots=True)
class Packing:
    """How a file is packed: its compression, and the kind of archive that its content is.

    `compression` is None when the file is not compressed, `archive` None when the content is no archive.
    `is_database`: the content is an SQLite database.
    """

    compression: Compression | None
    archive: ArchiveKind | None
    is_database: bool = False


def unpack_stream(stored: RewindableStream, *, keeps: int = LOOK) -> tuple[RewindableStream, Packing]:
    """Return the uncompressed stream, at its start, and how the file is packed.

    `keeps`: number of bytes of content that can be read before the stream is rewound. Raises OSError, and
    DamagedFileError when the content is compressed twice.
    """
    head = stored.head(LOOK)
    compression = detect_compression(head)
    if compression is None:
        return stored, Packing(None, _detect_archive(head), head.startswith(DATABASE))
    stored.rewind()
    inflated = RewindableStream(DecompressedStream(stored, compression), keeps=keeps)
    head = inflated.head(LOOK)
    if again := detect_compression(head):
        raise DamagedFileError(f"it is compressed twice, with {compression} and {again}; unpack it once")
    return inflated, Packing(compression, _detect_archive(head), head.startswith(DATABASE))


def _detect_archive(head: bytes) -> ArchiveKind | None:
    if head.startswith(zip_archive.SIGNATURES):
        return ArchiveKind.ZIP
    return ArchiveKind.TAR if tar_archive.is_tar(head) else None
