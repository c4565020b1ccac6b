"""The body of an HTTP message as recordings keep it in, the JSON objects of an API out.

Recorders keep bodies decoded (`parsed_body`, nock), as text, as bytes, base64 or hexadecimal, compressed
(gzip, deflate, zstd) or not, and replies that were streamed as the text of their server-sent events
(https://html.spec.whatwg.org/multipage/server-sent-events.html). Brotli needs a library that is not here.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
import zstandard

from ingest.shapes.streams import is_chunk, join

MAX_BODY = 64 * 1024 * 1024  # bytes, unpacked: a recording must not blow up
_ENVELOPE = {
    "string",
    "base64_string",
    "encoding",
    "text",
    "mimeType",
    "params",
    "size",
    "compression",
    "comment",
}
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNREAD: tuple[type[Exception], ...] = (zlib.error, zstandard.ZstdError, EOFError, OSError)


class Body(NamedTuple):
    """The objects of a body: one, or several when it was a list or several streams, or why there is none."""

    objects: tuple[dict[str, Any], ...] = ()
    problem: str | None = None


def decoded(kept: Any, encoding: str | None = None) -> Body:
    """The objects in a body. `encoding` is its Content-Encoding header. Nothing at all has no problem."""
    if isinstance(kept, dict) and not _is_envelope(kept):
        return Body((kept,) if kept else ())
    if isinstance(kept, list) and not all(isinstance(piece, str) for piece in kept):
        return Body(tuple(_of_list(kept)))
    return _of_text(kept, encoding)


def _is_envelope(kept: dict[str, Any]) -> bool:
    """True for a recorder's `{string}`, `{base64_string}` or `{text, encoding}` around the body itself."""
    return bool(kept) and set(kept) <= _ENVELOPE


def _of_text(kept: Any, encoding: str | None) -> Body:
    try:
        raw = _bytes(kept)
    except (binascii.Error, ValueError):
        return Body(problem="the body is not the base64 that it says it is")
    try:
        raw = _unpacked(raw)
    except _UNREAD:
        return Body(problem="the body is compressed, and damaged or cut")
    if len(raw) > MAX_BODY:
        return Body(problem=f"the body has more than {MAX_BODY:,} bytes")
    if not raw.strip():
        return Body()
    try:
        said = raw.decode("utf-8")
    except UnicodeDecodeError:
        how = f"compressed with {encoding}, which cannot be read here" if encoding else "not UTF-8 text"
        return Body(problem=f"the body is {how}")
    return _parsed(said)


def _bytes(kept: Any) -> bytes:
    if isinstance(kept, dict):
        if isinstance(kept.get("base64_string"), str):
            return base64.b64decode(kept["base64_string"])
        inner = kept.get("string", kept.get("text"))
        return base64.b64decode(inner) if kept.get("encoding") == "base64" and inner else _bytes(inner)
    if isinstance(kept, list):  # nock: a compressed body in pieces, hexadecimal or (older) base64
        text = "".join(piece for piece in kept if isinstance(piece, str))
        try:
            return bytes.fromhex(text)
        except ValueError:
            return base64.b64decode(text, validate=True)
    if isinstance(kept, str):
        return kept.encode("utf-8", "surrogatepass")
    return kept if isinstance(kept, bytes) else b""


def _unpacked(raw: bytes) -> bytes:
    if raw.startswith(_GZIP):
        return zlib.decompressobj(31).decompress(raw, MAX_BODY + 1)
    if raw.startswith(_ZSTD):
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw)) as reader:
            return reader.read(MAX_BODY + 1)
    if raw[:1] == b"\x78" and len(raw) > 1 and (raw[0] * 256 + raw[1]) % 31 == 0:
        return zlib.decompressobj().decompress(raw, MAX_BODY + 1)
    return raw


def _parsed(said: str) -> Body:
    start = said.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        value = _json(start)
        if isinstance(value, dict):
            return Body((value,))
        if isinstance(value, list):
            return Body(tuple(_of_list(value)))
        lines = [_json(line) for line in start.splitlines() if line.strip()]
        if not any(isinstance(line, dict) and is_chunk(line) for line in lines):
            return Body(problem="the body is cut, or no JSON")
        return Body(tuple(join(lines)))
    return Body(tuple(join([_json(data) for data in events_of(start)])))


def _of_list(values: list[Any]) -> Iterator[dict[str, Any]]:
    """The objects of a list; chunks of a stream are joined."""
    objects = [value for value in values if isinstance(value, dict)]
    if any(is_chunk(value) for value in objects):
        yield from join(list(objects))
    else:
        yield from objects


def events_of(said: str) -> Iterator[str]:
    """The data of each server-sent event; several data lines of one event are one text."""
    data: list[str] = []
    for line in said.splitlines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip() and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text)  # lone surrogates, NaN
    except (ValueError, RecursionError):
        return None
