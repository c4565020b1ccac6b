"""Bytes of a file in, numbered lines with byte offsets out; knows nothing of what the lines mean.

Memory is bounded by `max_line`: a longer line is passed over in pieces and reported, never held.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import orjson

from ingest.events import Rejected, Where
from ingest.fields import kind_of

MAX_LINE = 64 * 1024 * 1024  # bytes; the longest line seen in real logs was under 20 MB
SNIPPET = 200  # characters of a rejected line that are kept
_BOM = b"\xef\xbb\xbf"


class Line(msgspec.Struct, frozen=True):
    """One line without its line break. `whole` False = the file ended before the line break."""

    where: Where
    data: bytes
    whole: bool = True


def read_lines(stream: BinaryIO, max_line: int = MAX_LINE) -> Iterator[Line | Rejected]:
    """Every line that is not blank, in order. A line over `max_line` bytes becomes one `Rejected`.

    A last line without a line break comes like any other: whether it is torn, its decoding shows.
    """
    number, offset = 0, 0
    while data := stream.readline(max_line + 1):
        number += 1
        where = Where(number, offset)
        offset += len(data)
        if len(data) > max_line and not data.endswith(b"\n"):
            rest, length = _pass_over(stream, max_line)
            offset += rest
            reason = f"the line has {len(data) + length:,} bytes, the limit is {max_line:,} (--max-line)"
            yield Rejected(where, "line_too_long", reason, snippet_of(data))
            continue
        if number == 1 and data.startswith(_BOM):
            data = data[len(_BOM) :]
        if data and not data.isspace():
            yield Line(where, data.rstrip(b"\r\n"), data.endswith(b"\n"))


def _pass_over(stream: BinaryIO, max_line: int) -> tuple[int, int]:
    """Skip to the end of the line; returns (bytes read, bytes of the line without its break)."""
    read = 0
    while piece := stream.readline(max_line + 1):
        read += len(piece)
        if piece.endswith(b"\n"):
            return read, read - 1
    return read, read


def decode_object(line: Line) -> dict[str, Any] | Rejected:
    """The JSON object on a line, or why there is none.

    orjson first; then the standard library, which also takes NaN, lone surrogates and deep nesting up to
    its own limit. What both refuse is rejected: a mended log line would be invented data.
    """
    try:
        value = orjson.loads(line.data)
    except orjson.JSONDecodeError as refused:
        try:
            # Decoded here: given bytes, the standard library would guess UTF-16 from a NUL.
            value = json.loads(line.data.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            return _refused(line, refused, error)
    if isinstance(value, dict):
        return value
    reason = f"the line is a JSON {kind_of(value)} where an object is due"
    return Rejected(line.where, "not_an_object", reason, snippet_of(line.data))


def _refused(line: Line, refused: orjson.JSONDecodeError, error: Exception) -> Rejected:
    if not line.whole:
        code, reason = "torn_line", "the file ends in the middle of this line; it counts once it is whole"
    elif isinstance(error, UnicodeDecodeError):
        code, reason = "not_utf8", f"not UTF-8: {error.reason} at byte {error.start + 1} of the line"
    else:
        code, reason = "not_json", f"not JSON: {refused.msg} at character {refused.pos + 1} of the line"
    return Rejected(line.where, code, reason, snippet_of(line.data))


def snippet_of(data: bytes) -> str:
    """The first characters of a line, with what is not UTF-8 shown as escapes."""
    text = data[: SNIPPET * 4].decode("utf-8", "backslashreplace")
    return text[:SNIPPET].rstrip("\r\n")
