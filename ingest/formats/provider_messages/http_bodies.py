"""Decodes the recorded body of an HTTP message into the JSON objects of an API.

Recorders store bodies decoded (`parsed_body`, nock), or as text, bytes, base64 or hexadecimal, possibly
compressed (gzip, deflate, zstd). Streamed replies are stored as the text of the server-sent events
(https://html.spec.whatwg.org/multipage/server-sent-events.html). Brotli is not supported, because it needs an
additional library.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from ingest.decoding.zstd import ZstdDecompressor, ZstdError
from ingest.formats.provider_messages.reply_streams import is_chunk, join_chunks

MAX_BODY = 64 * 1024 * 1024  # maximum bytes after decompression, as a protection against decompression bombs
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
_UNREAD: tuple[type[Exception], ...] = (zlib.error, ZstdError, EOFError, OSError)


class HttpBody(NamedTuple):
    """The JSON objects in an HTTP body, or the problem that prevented decoding.

    A list or several streams give several objects. An empty body has no objects and no problem.
    """

    objects: tuple[dict[str, Any], ...] = ()
    problem: str | None = None


def decode_body(body: Any, encoding: str | None = None) -> HttpBody:
    """Return the JSON objects in a recorded HTTP body, or the problem that prevented decoding.

    `body` is the body as the recorder stores it. `encoding` is the Content-Encoding header.
    """
    if isinstance(body, dict) and not _is_envelope(body):
        return HttpBody((body,) if body else ())
    if isinstance(body, list) and not all(isinstance(piece, str) for piece in body):
        return HttpBody(tuple(join_listed(body)))
    return decode_text(body, encoding)


def _is_envelope(body: dict[str, Any]) -> bool:
    """Return True when a dict is a recorder's wrapper around the HTTP body.

    Known wrappers are `{string}`, `{base64_string}` and `{text, encoding}`.
    """
    return bool(body) and set(body) <= _ENVELOPE


def decode_text(body: Any, encoding: str | None) -> HttpBody:
    try:
        raw = to_bytes(body)
    except (binascii.Error, ValueError):
        return HttpBody(problem="the body is not valid base64")
    try:
        raw = decompress_body(raw)
    except _UNREAD:
        return HttpBody(problem="the body is compressed, and damaged or cut")
    if len(raw) > MAX_BODY:
        return HttpBody(problem=f"the body has more than {MAX_BODY:,} bytes")
    if not raw.strip():
        return HttpBody()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        how = f"compressed with {encoding}, which cannot be read here" if encoding else "not UTF-8 text"
        return HttpBody(problem=f"the body is {how}")
    return parse_body(text)


def to_bytes(body: Any) -> bytes:
    if isinstance(body, dict):
        if isinstance(body.get("base64_string"), str):
            return decode_base64(body["base64_string"])
        inner = body.get("string", body.get("text"))
        return decode_base64(inner) if body.get("encoding") == "base64" and inner else to_bytes(inner)
    # nock stores a compressed body as pieces in hexadecimal or, in older versions, base64.
    if isinstance(body, list):
        text = "".join(piece for piece in body if isinstance(piece, str))
        try:
            return bytes.fromhex(text)
        except ValueError:
            return decode_base64(text)
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return body if isinstance(body, bytes) else b""


def decode_base64(encoded: Any) -> bytes:
    return base64.b64decode("".join(str(encoded).split()), validate=True)


def decompress_body(raw: bytes) -> bytes:
    if raw.startswith(_ZSTD):
        return ZstdDecompressor().decompress(raw, MAX_BODY + 1)
    if raw.startswith(_GZIP):
        return inflate(raw, zlib.decompressobj(31))
    if raw[:1] == b"\x78" and len(raw) > 1 and (raw[0] * 256 + raw[1]) % 31 == 0:
        return inflate(raw, zlib.decompressobj())
    return raw


def inflate(raw: bytes, unpacker: Any) -> bytes:
    unpacked: bytes = unpacker.decompress(raw, MAX_BODY + 1)
    if not unpacker.eof and len(unpacked) <= MAX_BODY:
        raise EOFError
    return unpacked


def parse_body(text: str) -> HttpBody:
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        value = parse_json(start)
        if isinstance(value, dict):
            return HttpBody((value,))
        if isinstance(value, list):
            return HttpBody(tuple(join_listed(value)))
        lines = [parse_json(line) for line in start.splitlines() if line.strip()]
        if not any(isinstance(line, dict) and is_chunk(line) for line in lines):
            return HttpBody(problem="the body is cut, or no JSON")
        return HttpBody(tuple(join_chunks(lines)))
    return HttpBody(tuple(join_chunks([parse_json(data) for data in split_events(start)])))


def join_listed(values: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects in a list.

    If the list contains chunks of a streamed reply, yield the reply bodies that the chunks form.
    """
    objects = [value for value in values if isinstance(value, dict)]
    if any(is_chunk(value) for value in objects):
        yield from join_chunks(list(objects))
    else:
        yield from objects


def split_events(text: str) -> Iterator[str]:
    """Yield the data of each server-sent event. The data lines of an event are joined with newlines."""
    data: list[str] = []
    for line in text.splitlines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line.strip() and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def parse_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text)  # `json` accepts lone surrogates and NaN.
    except (ValueError, RecursionError):
        return None
