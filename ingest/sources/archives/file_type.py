"""Detects a file's compression, archive kind and text encoding from its first bytes; its name is ignored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ingest.damaged_file import DamagedFileError
from ingest.sources.archives import tar_archive, zip_archive
from ingest.sources.archives.decompression import Compression, DecompressedStream, detect_compression
from ingest.sources.archives.streams import RewindableStream
from ingest.sources.archives.text_encoding import Utf8Stream, detect_encoding

DATABASE = b"SQLite format 3\0"  # https://sqlite.org/fileformat.html
LOOK = 512  # bytes; the first block of a tar archive


class ArchiveKind(StrEnum):
    ZIP = "zip"
    TAR = "tar"


@dataclass(frozen=True, slots=True)
class Packing:
    """How a file is packed: its compression, and the kind of archive or the encoding that its content is.

    `compression` is None when the file is not compressed, `archive` None when the content is no archive,
    `encoding` None when it is no text in UTF-16 or UTF-32.
    `is_database`: the content is an SQLite database.
    """

    compression: Compression | None
    archive: ArchiveKind | None
    encoding: str | None = None
    is_database: bool = False

    @property
    def is_as_stored(self) -> bool:
        """True when the bytes of a file that is no archive are read as they are stored."""
        return self.compression is None and self.encoding is None and not self.is_database


def unpack_stream(stored: RewindableStream, *, keeps: int = LOOK) -> tuple[RewindableStream, Packing]:
    """Return the uncompressed stream in UTF-8, at its start, and how the file is packed.

    `keeps`: number of bytes of content that can be read before the stream is rewound. Raises OSError, and
    DamagedFileError when the content is compressed twice.
    """
    head = stored.head(LOOK)
    compression = detect_compression(head)
    if compression is None:
        return _decode_text(stored, None, head, keeps)
    stored.rewind()
    inflated = RewindableStream(DecompressedStream(stored, compression), keeps=keeps)
    head = inflated.head(LOOK)
    if again := detect_compression(head):
        raise DamagedFileError(f"it is compressed twice, with {compression} and {again}; unpack it once")
    return _decode_text(inflated, compression, head, keeps)


def _decode_text(
    stream: RewindableStream, compression: Compression | None, head: bytes, keeps: int
) -> tuple[RewindableStream, Packing]:
    if head.startswith(DATABASE):
        return stream, Packing(compression, None, is_database=True)
    archive = _detect_archive(head)
    encoding = detect_encoding(head) if archive is None else None
    if encoding is not None:
        stream.rewind()
        stream = RewindableStream(Utf8Stream(stream, encoding), keeps=keeps)
    return stream, Packing(compression, archive, encoding)


def _detect_archive(head: bytes) -> ArchiveKind | None:
    if head.startswith(zip_archive.SIGNATURES):
        return ArchiveKind.ZIP
    return ArchiveKind.TAR if tar_archive.is_tar(head) else None
