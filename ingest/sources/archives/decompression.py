"""Uncompresses a stream in limited memory. The first bytes show the compression.

Formats: gzip (RFC 1952), bzip2, xz, zstd (RFC 8878), and the bare deflate (RFC 1951) of zip members. Several
compressed streams one after another form one content. All data before an incomplete or corrupt position is
returned. Then `DamagedFileError` is raised.
"""

from __future__ import annotations

import bz2
import io
import lzma
import re
import zlib
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from ingest.decoding.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
from ingest.errors import CutOffError, DamagedFileError
from ingest.sources.archives.streams import PieceStream

_INPUT = 64 * 1024
# most bytes of memory that a stream may need; `zstd --long=27` and `xz -9` need less
_WINDOW = 128 * 1024 * 1024
SUSPECT = 1024 * 1024 * 1024  # bytes of content after which the ratio is checked
_RATIO = 500  # content size divided by compressed size; real logs reach at most 100


class Compression(StrEnum):
    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    ZSTD = "zstd"
    DEFLATE = "deflate"


_SIGNATURES = (
    (re.compile(rb"\x1f\x8b\x08"), Compression.GZIP),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), Compression.BZIP2),
    (re.compile(rb"\xfd7zXZ\0"), Compression.XZ),
    # the second form is a zstd frame that decoders skip
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), Compression.ZSTD),
)


def detect_compression(head: bytes) -> Compression | None:
    """Return the compression of a file that begins with `head`.

    Return None when the file is not compressed.
    """
    return next((kind for signature, kind in _SIGNATURES if signature.match(head)), None)


class _Decoder(Protocol):
    """Decoder of one compressed stream.

    `decompress` returns about `limit` bytes at most and keeps the rest of the output for the next call.
    """

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, limit: int) -> bytes: ...


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._inner = zlib.decompressobj(window_bits)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, limit: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, limit)


_DECODERS: dict[Compression, Callable[[], _Decoder]] = {
    Compression.GZIP: lambda: _Zlib(31),
    Compression.DEFLATE: lambda: _Zlib(-15),
    Compression.BZIP2: bz2.BZ2Decompressor,
    Compression.XZ: lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_WINDOW),
    Compression.ZSTD: lambda: ZstdDecompressor(
        options={DecompressionParameter.window_log_max: _WINDOW.bit_length() - 1}
    ),
}
_ERRORS = (zlib.error, lzma.LZMAError, ZstdError, OSError, EOFError, ValueError)


class DecompressedStream(PieceStream[io.RawIOBase]):
    """The uncompressed content of a compressed stream.

    Closing the content also closes the compressed stream.
    """

    def __init__(self, source: io.RawIOBase, kind: Compression) -> None:
        super().__init__(source)
        self._kind = kind
        self._decoder: _Decoder = _DECODERS[kind]()
        self._consumed = self._made = 0

    def _next_content(self, limit: int) -> bytes:
        data, ended = b"", False
        while True:
            if self._decoder.eof:
                data = self._start_next_stream(self._decoder.unused_data)
                if not data:
                    return b""
                self._decoder = _DECODERS[self._kind]()
            elif self._decoder.needs_input:
                data = self._read()
                ended = not data
            made = self._decode(data, limit)
            if made:
                return made
            if ended and not self._decoder.eof:
                raise CutOffError(f"its {self._kind} data ends in the middle")
            data = b""

    def _decode(self, data: bytes, limit: int) -> bytes:
        try:
            made = self._decoder.decompress(data, limit)
        except _ERRORS as error:
            raise DamagedFileError(
                f"its {self._kind} data cannot be unpacked ({str(error)[:100]}); the data may be wrong, "
                "so nothing was loaded: load an intact copy"
            ) from error
        self._made += len(made)
        if self._made > SUSPECT and self._made > _RATIO * self._consumed:
            raise DamagedFileError(
                f"{self._consumed:,} bytes of it unpack to over {self._made:,} bytes, too many for a log; "
                "if this is intended, unpack it first"
            )
        return made

    def _read(self) -> bytes:
        data = self._source.read(_INPUT) or b""
        self._consumed += len(data)
        return data

    def _start_next_stream(self, rest: bytes) -> bytes:
        """Return the first bytes of the next compressed stream, or empty bytes when there is no further
        stream.

        `rest` are the bytes already read after the previous stream. Zero bytes between streams are skipped as
        padding.
        """
        if self._kind is Compression.DEFLATE:
            return b""
        rest = rest.lstrip(b"\0")
        while not rest:
            data = self._read()
            if not data:
                return b""
            rest = data.lstrip(b"\0")
        return rest
