"""Makes small archives and compressed files for tests."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ingest.decoding.zstd import CompressionParameter, compress

ZSTD = 93  # the number of a zip method; before Python 3.14, the standard library cannot write this method


def zipped(path: Path, members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    if method == ZSTD:
        path.write_bytes(_zip_of_zstd(members))
    else:
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    return path


def _zip_of_zstd(members: Mapping[str, bytes]) -> bytes:
    out, contents = io.BytesIO(), b""
    for name, content in members.items():
        packed, raw_name = compress(content), name.encode()
        sizes = (zlib.crc32(content), len(packed), len(content), len(raw_name), 0)
        head = struct.pack("<4s6H3I2H", b"PK\x01\x02", 63, 63, 0, ZSTD, 0, 0, *sizes)
        contents += head + struct.pack("<3H2I", 0, 0, 0, 0, out.tell()) + raw_name
        out.write(struct.pack("<4s5H3I2H", b"PK\x03\x04", 63, 0, ZSTD, 0, 0, *sizes) + raw_name + packed)
    start = out.tell()
    out.write(contents)
    count = len(members)
    out.write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(contents), start, 0))
    return out.getvalue()


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": partial(compress, options={CompressionParameter.checksum_flag: True}),
}


def tarred(members: Mapping[str, bytes], mtime: int = 1_700_000_000, form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), mtime
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()
