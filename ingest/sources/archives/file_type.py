"""Detects a file's compression, archive kind and text encoding from its first bytes, not from its name.

Some tools on Windows write UTF-16, for example redirections in PowerShell 5. Such text is converted to UTF-8.
A byte order mark shows the encoding. If there is no byte order mark, the positions of zero bytes among the
first four bytes show the encoding, because JSON begins with two ASCII characters (RFC 4627, section 3).
"""

from __future__ import annotations

import codecs
import io
from enum import StrEnum

import msgspec

from ingest.errors import DamagedFileError
from ingest.sources.archives import tar_archive, zip_archive
from ingest.sources.archives.decompression import Compression, DecompressedStream, detect_compression
from ingest.sources.archives.streams import PieceStream, RewindableStream

DATABASE = b"SQLite format 3\0"  # https://sqlite.org/fileformat.html
LOOK = 512  # bytes; one block of a tar archive
_INPUT = 64 * 1024
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_BEGINS = ("{", "[")
_BOM = "\ufeff"


class ArchiveKind(StrEnum):
    ZIP = "zip"
    TAR = "tar"


class Packing(msgspec.Struct, frozen=True):
    """How a file is packed.

    `compression` is None when the file is not compressed, `archive` None when the content is not an archive.
    `encoding` is None unless it is UTF-16 or UTF-32. `is_database` is True for an SQLite database.
    """

    compression: Compression | None
    archive: ArchiveKind | None
    encoding: str | None = None
    is_database: bool = False

    @property
    def is_as_stored(self) -> bool:
        """True when the stored bytes are the content and the file is not an archive."""
        return self.compression is None and self.encoding is None and not self.is_database


def unpack_stream(stored: RewindableStream, *, keeps: int = LOOK) -> tuple[RewindableStream, Packing]:
    """Return the uncompressed stream in UTF-8, at its start, and how the file is packed.

    `keeps` is how many bytes of content can be read before the stream is rewound. Raises OSError. Raises
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


def detect_encoding(head: bytes) -> str | None:
    """Return the encoding of text that begins with `head`. Return None for UTF-8 and for data that is not
    text.

    `head` has at least 16 bytes unless the text is shorter.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" not in head[:4]:
        return None
    return next((encoding for encoding in _UNMARKED if _begins_json(head, encoding)), None)


def _begins_json(head: bytes, encoding: str) -> bool:
    try:
        start = head[:16].decode(encoding, "ignore").lstrip()
    except UnicodeDecodeError:
        return False
    return start.startswith(_BEGINS) and start.isascii() and "\0" not in start


class Utf8Stream(PieceStream[io.RawIOBase]):
    """Converts text in another encoding to UTF-8 without a byte order mark.

    Closing the stream closes the source. An invalid code unit becomes U+FFFD. A lone surrogate stays invalid
    UTF-8, so its line is rejected.
    """

    def __init__(self, source: io.RawIOBase, encoding: str) -> None:
        super().__init__(source)
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._begun = self._ended = False

    def _next_content(self, limit: int) -> bytes:  # noqa: ARG002 - pieces are as long as the source gives
        while not self._ended:
            if piece := self._next_piece():
                return piece
        return b""

    def _next_piece(self) -> bytes:
        data = self._source.read(_INPUT) or b""
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            self._decoder.errors = "replace"
            text = self._decoder.decode(data, final=self._ended)
            self._decoder.errors = "surrogatepass"
        if text and not self._begun:
            self._begun = True
            text = text.removeprefix(_BOM)
        return text.encode("utf-8", "surrogatepass")
