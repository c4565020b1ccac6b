"""Detects from its first bytes what the objects of a log stand in, and reads them as records.

- `lines`: JSON Lines, one object a line (JSON in one line is a log of one line);
- `document`: JSON over several lines: an object, an array whose items are the records, or several one after
  another;
- `stream`: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), the `data` of
  each a record;
- `yaml`: an HTTP cassette, one document.

All but `lines` and `stream` are held whole, so `max_line` bounds the file.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import takewhile
from typing import Any, BinaryIO, NamedTuple

import orjson
import yaml

from ingest.decoding.fields import json_type
from ingest.decoding.lines import (
    BEGIN,
    BLOCK,
    Block,
    Line,
    decode_object,
    make_snippet,
    read_blocks,
    read_lines,
)
from ingest.events import LogLine, Rejected
from ingest.record import Record

_BOM = b"\xef\xbb\xbf"
_STREAM = re.compile(rb"(?:(?:data|event|id|retry):|:)")
_CASSETTE = re.compile(rb"^(?:interactions|http_interactions):", re.MULTILINE)
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SPACE = re.compile(r"[\s,]*")

Decode = Callable[[Line], Any]
"""A line in, the value of its record or a `Rejected` out."""

Skim = Callable[[bytes], Any]
"""Bytes of a line in, the value of its record out, None where the line holds nothing for the format.

Raises ValueError or RecursionError for what it does not take: then `Decode` is asked. It must refuse all that
is no JSON, but need not look whether what it passes over is UTF-8.
"""


class Container(StrEnum):
    LINES = "lines"
    DOCUMENT = "document"
    STREAM = "stream"
    YAML = "yaml"


def detect_container(head: bytes) -> Container:
    """Return the container of a file that begins with these bytes; `lines` where nothing else is seen."""
    start = head.removeprefix(_BOM).lstrip()
    if start.startswith(b"["):
        return Container.DOCUMENT
    if start.startswith(b"{"):
        return Container.LINES if _has_object_line(start) else Container.DOCUMENT
    if _STREAM.match(start):
        return Container.STREAM
    return Container.YAML if _CASSETTE.search(head) else Container.LINES


def _has_object_line(head: bytes) -> bool:
    """Return True when a line that is not indented is an object. A cut last line tells nothing."""
    whole, line_break, _ = head.rpartition(b"\n")
    if not line_break:
        return True
    for line in io.BytesIO(whole):  # mostly the first tells
        if line.startswith(b"{"):
            try:
                if orjson.loads(line):
                    return True  # an empty object looks the same in any container
            except orjson.JSONDecodeError:
                continue
    return False


def read_records(
    stream: BinaryIO,
    container: Container,
    max_line: int,
    decode: Decode = decode_object,
    size: int = BLOCK,
) -> Iterator[Record | Rejected]:
    """Yield the records of a file, each decoded when it is asked for; `size` bytes are read at once.

    A part that cannot be decoded becomes one `Rejected`.
    """
    if container is Container.LINES:
        for line in read_lines(stream, max_line, size):
            yield line if isinstance(line, Rejected) else _record_of_line(line, decode)
    elif container is Container.STREAM:
        yield from _read_event_stream(stream, max_line)
    else:
        yield from read_document(stream, container, max_line)


def _record_of_line(line: Line, decode: Decode) -> Record | Rejected:
    value = decode(line)
    return value if isinstance(value, Rejected) else Record(line.where, value, line.data, line.where.offset)


class RecordBatch(NamedTuple):
    """Records that were read at once. `line` is the last that held anything, 0 where all were blank.

    `records` are decoded one by one as they are asked for, once: a thousand that wait for each other would
    have to be looked through by the garbage collector again and again.

    `behind` is where the line after them begins, None where that cannot be told; `whole` False = the file
    ended within their line.
    """

    records: Iterable[Record | Rejected]
    line: int
    behind: LogLine | None = None
    whole: bool = True


def read_batches(
    stream: BinaryIO,
    container: Container,
    max_line: int,
    decode: Decode = decode_object,
    skim: Skim | None = None,
    begin: LogLine = BEGIN,
) -> Iterator[RecordBatch]:
    """Yield the same records, a block of lines at once, as a load does; the stream stands at `begin`."""
    if container is not Container.LINES:
        yield from map(_single_record_batch, read_records(stream, container, max_line))
        return
    for block in read_blocks(stream, max_line, begin=begin):
        yield (
            _single_record_batch(block)
            if isinstance(block, Rejected)
            else _batch_of_block(block, decode, skim)
        )


def _single_record_batch(record: Record | Rejected) -> RecordBatch:
    return RecordBatch([record], record.where.line)


def _batch_of_block(block: Block, decode: Decode, skim: Skim | None) -> RecordBatch:
    last = block.line + len(block.lines) - 1
    blank = sum(1 for _ in takewhile(bytes.isspace, reversed(block.lines)))
    behind = LogLine(last + 1, block.offset + sum(map(len, block.lines)))
    records = _decode_block(block, decode, skim if skim is not None and block.is_utf8() else None)
    return RecordBatch(records, last - blank if blank < len(block.lines) else 0, behind, block.whole)


def _decode_block(block: Block, decode: Decode, skim: Skim | None) -> Iterator[Record | Rejected]:
    behind = block.offset
    for number, data in enumerate(block.lines, block.line):
        start, behind = behind, behind + len(data)
        if skim is not None:
            try:
                value = skim(data)
            except (ValueError, RecursionError):
                pass
            else:
                if value is not None:
                    yield Record(LogLine(number, start), value, data, start)
                continue
        if not data.isspace():
            line = Line(LogLine(number, start), data.rstrip(b"\r\n"), block.whole)
            yield _record_of_line(line, decode)


def _read_event_stream(stream: BinaryIO, max_line: int) -> Iterator[Record | Rejected]:
    """Yield each `data:` line that holds JSON; events over several data lines are not seen in real logs."""
    for line in read_lines(stream, max_line):
        if isinstance(line, Rejected):
            yield line
            continue
        if not line.data.startswith(b"data:"):
            continue
        data = line.data[5:].strip()
        if data and data != b"[DONE]":
            value = decode_object(Line(line.where, data, line.whole))
            yield value if isinstance(value, Rejected) else Record(line.where, value, data, line.where.offset)


def read_document(stream: BinaryIO, container: Container, max_line: int) -> Iterator[Record | Rejected]:
    data = stream.read(max_line + 1)
    start = LogLine(1, 0)
    if len(data) > max_line:
        reason = f"the document has more than {max_line:,} bytes, the limit (--max-line)"
        yield Rejected(start, "line_too_long", reason, make_snippet(data))
    elif container is Container.YAML:
        yield from _read_yaml(data)
    else:
        yield from read_json(data.removeprefix(_BOM))


def _read_yaml(data: bytes) -> Iterator[Record | Rejected]:
    start = LogLine(1, 0)
    try:
        value = yaml.load(data, Loader=_YAML)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        line = LogLine(place.line + 1, 0) if place else start
        yield Rejected(line, "not_yaml", f"not YAML: {str(error).splitlines()[0][:200]}", make_snippet(data))
        return
    if isinstance(value, dict):
        yield Record(start, value, data, 0)
    else:
        yield Rejected(
            start, "not_an_object", f"the document is a YAML {json_type(value)}", make_snippet(data)
        )


def read_json(data: bytes) -> Iterator[Record | Rejected]:
    """Yield the one object, the items of an array, or the values that stand one after another."""
    if not data.lstrip().startswith(b"["):
        try:
            yield _make_record(LogLine(1, 0), orjson.loads(data), data, 0)
        except orjson.JSONDecodeError:
            pass
        else:
            return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"not UTF-8: {error.reason} at byte {error.start + 1:,} of the document"
        yield Rejected(LogLine(1, 0), "not_utf8", reason, make_snippet(data))
        return
    yield from _read_json_sequence(text)


def _read_json_sequence(text: str) -> Iterator[Record | Rejected]:
    decoder, places = json.JSONDecoder(), LineIndex(text)
    position = _skip_space(text, 0)
    in_array = text.startswith("[", position)
    if in_array:
        position = _skip_space(text, position + 1)
    while position < len(text) and not (in_array and text.startswith("]", position)):
        where, start = places.locate(position)
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield Rejected(
                where, "not_json", f"not JSON: {str(error)[:200]}", text[position : position + 200]
            )
            return
        yield _make_record(where, value, text[position:end].encode("utf-8", "surrogatepass"), start)
        position = _skip_space(text, end)


def _make_record(where: LogLine, value: Any, data: bytes, start: int) -> Record | Rejected:
    if isinstance(value, dict):
        return Record(where, value, data, start)
    reason = f"a JSON {json_type(value)} where an object is due"
    return Rejected(where, "not_an_object", reason, make_snippet(data))


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


class LineIndex:
    """Line numbers and byte offsets of characters, asked for in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at, self._line, self._bytes = 0, 1, 0

    def locate(self, position: int) -> tuple[LogLine, int]:
        """Return where the character's line begins, and the byte offset of the character itself."""
        passed = self._text[self._at : position]
        self._line += passed.count("\n")
        self._bytes += len(passed.encode("utf-8", "surrogatepass"))
        self._at = position
        start = self._text.rfind("\n", 0, position) + 1
        before = len(self._text[start:position].encode("utf-8", "surrogatepass"))
        return LogLine(self._line, self._bytes - before), self._bytes
