"""Reads a file as numbered lines with byte offsets and decodes lines of JSON, in limited memory.

A line longer than `max_line` is skipped in small pieces and reported. Such a line is never completely in
memory.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import orjson
import pyarrow as pa

from ingest.decoding.fields import json_type
from ingest.events import LogLine, Rejected

MAX_LINE = 64 * 1024 * 1024  # bytes; the longest line seen in real logs was under 20 MB
SNIPPET = 200  # characters of a rejected line that are stored
# This many characters of a rejected line are redacted. To cut it before the redaction could leave half a
# secret.
SNIPPET_READ = 2_000
REASON = 500  # characters of the reason that are stored
BLOCK = 1024 * 1024  # bytes per read
BEGIN = LogLine(1, 0)
_BOM = b"\xef\xbb\xbf"
_HEAD = 4 * SNIPPET_READ  # bytes of a too long line that are kept, enough for the stored snippet


class Line(msgspec.Struct, frozen=True):
    """A line without its line break. `whole` is False when the file ends before the line break."""

    where: LogLine
    data: bytes
    whole: bool = True


class Block(msgspec.Struct):
    """Consecutive lines of a file, unchanged, with blank lines and line breaks.

    `line` and `offset` are the number and the byte offset of the first line. `common` is the buffer that
    contains all lines except the first. `whole` is False when the block is one line without a line break at
    the end of the file.
    """

    lines: list[bytes]
    line: int
    offset: int
    common: bytes | memoryview = b""
    whole: bool = True

    def is_utf8(self) -> bool:
        """Return True when all lines of the block are valid UTF-8.

        `Skim` skips bytes unchecked, so it may decode only valid blocks.
        """
        return _is_utf8(self.lines[0]) and _is_utf8(self.common)


def _is_utf8(data: bytes | memoryview) -> bool:
    """Return True when the bytes are valid UTF-8.

    Arrow's check takes a thirtieth of the time of decoding to `str`.
    """
    offsets = pa.py_buffer(struct.pack("<qq", 0, len(data)))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def read_lines(stream: BinaryIO, max_line: int = MAX_LINE, size: int = BLOCK) -> Iterator[Line | Rejected]:
    """Yield each line that is not blank, in order. A line over `max_line` bytes is yielded as a `Rejected`.

    `size` is the number of bytes per read. A last line without a line break is also yielded.
    """
    for block in read_blocks(stream, max_line, size):
        if isinstance(block, Rejected):
            yield block
            continue
        offset = block.offset
        for number, data in enumerate(block.lines, block.line):
            if not data.isspace():
                yield Line(LogLine(number, offset), data.rstrip(b"\r\n"), block.whole)
            offset += len(data)


def read_blocks(
    stream: BinaryIO, max_line: int = MAX_LINE, size: int = BLOCK, begin: LogLine = BEGIN
) -> Iterator[Block | Rejected]:
    """Yield all lines in blocks. Each read of `size` bytes gives one block.

    A line over `max_line` bytes is yielded as a `Rejected`. `begin` is the position in the file at which the
    stream begins.
    """
    line, offset = begin.line, begin.offset
    begun: list[bytes] = []  # pieces of a line whose end has not been read
    begun_size = 0  # total length of the pieces in `begun`
    ahead = b""  # bytes that were read but not searched yet
    while data := ahead or stream.read(size):
        ahead = b""
        lines = io.BytesIO(data).readlines()  # much faster than bytes.split, which checks each byte
        rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
        if lines:
            common = memoryview(data)[len(lines[0]) : len(data) - len(rest)]
            lines[0] = b"".join([*begun, lines[0]])
            yield from _split_long_lines(Block(lines, line, offset, common), max_line)
            line += len(lines)
            offset += begun_size + len(data) - len(rest)
            begun, begun_size = [], 0
        if rest:
            begun.append(rest)
            begun_size += len(rest)
        if begun_size > max_line:
            head = b"".join(piece[:_HEAD] for piece in begun)
            passed, ahead = _skip_line(stream, size)
            yield _reject_long_line(LogLine(line, offset), head, begun_size + passed, max_line)
            line += 1
            offset += begun_size + passed + 1
            begun, begun_size = [], 0
    if begun_size:
        yield from _split_long_lines(Block([b"".join(begun)], line, offset, whole=False), max_line)


def _skip_line(stream: BinaryIO, size: int) -> tuple[int, bytes]:
    """Skip the rest of the line.

    Return the number of skipped bytes, and the bytes after the line break that were already read.
    """
    passed = 0
    while data := stream.read(size):
        line, end, behind = data.partition(b"\n")
        passed += len(line)
        if end:
            return passed, behind
    return passed, b""


def _split_long_lines(block: Block, max_line: int) -> Iterator[Block | Rejected]:
    """Yield the block unchanged, or line by line if a line is too long or has a byte order mark.

    A line over `max_line` bytes becomes a `Rejected`. The byte order mark of line 1 is removed.
    """
    longest = max(map(len, block.lines))
    if longest <= max_line and not (block.line == 1 and block.lines[0].startswith(_BOM)):
        yield block
        return
    offset = block.offset
    for number, data in enumerate(block.lines, block.line):
        length = len(data.removesuffix(b"\n"))
        if length > max_line:
            yield _reject_long_line(LogLine(number, offset), data, length, max_line)
        elif text := data.removeprefix(_BOM) if number == 1 else data:
            yield Block([text], number, offset, whole=block.whole)
        offset += len(data)


def _reject_long_line(where: LogLine, head: bytes, length: int, max_line: int) -> Rejected:
    reason = f"the line has {length:,} bytes, the limit is {max_line:,} (--max-line)"
    return Rejected(where, "line_too_long", reason, make_snippet(head))


def decode_object(line: Line) -> dict[str, Any] | Rejected:
    """Return the JSON object on a line. If the line contains no object, return a `Rejected` with the reason.

    A line that orjson rejects is decoded by the standard library, which also accepts NaN, lone surrogates and
    deeper nesting. Invalid lines are not repaired, because a repaired log line would be invented data.
    """
    try:
        value = orjson.loads(line.data)
    except orjson.JSONDecodeError as refused:
        try:
            # Decode to a `str` first: given bytes with a NUL, json.loads would guess that they are UTF-16.
            value = json.loads(line.data.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            return _reject_line(line, refused, error)
    if isinstance(value, dict):
        return value
    reason = f"the line is a JSON {json_type(value)} where an object is due"
    return Rejected(line.where, "not_an_object", reason, make_snippet(line.data))


def _reject_line(line: Line, refused: orjson.JSONDecodeError, error: Exception) -> Rejected:
    if not line.whole:
        code, reason = "torn_line", "the file ends in the middle of this line; it counts once it is whole"
    elif isinstance(error, UnicodeDecodeError):
        code, reason = "not_utf8", f"not UTF-8: {error.reason} at byte {error.start + 1} of the line"
    else:
        code, reason = "not_json", f"not JSON: {refused.msg} at character {refused.pos + 1} of the line"
    return Rejected(line.where, code, reason, make_snippet(line.data))


def make_snippet(data: bytes) -> str:
    """Return the first `SNIPPET_READ` characters of a line. Bytes that are not UTF-8 become escapes."""
    text = data[: SNIPPET_READ * 4].decode("utf-8", "backslashreplace")
    return text[:SNIPPET_READ].rstrip("\r\n")


def cut_snippet(text: str) -> str:
    """Cut a snippet to the length that the store keeps."""
    return text[:SNIPPET].rstrip("\r\n")


def cut_reason(text: str) -> str:
    """Cut a reason to the length that the store keeps."""
    return text[:REASON]
