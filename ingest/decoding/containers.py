"""Detects the container of a log from its first bytes, and reads the objects in the log as records.

The container is the way in which a file arranges its objects:

- `lines`: JSON Lines, one object per line (JSON in one line is a log of one line);
- `document`: JSON over several lines: an object, an array whose items are the records, or several values one
  after another;
- `stream`: server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), the `data` of
  each event is a record;
- `files`: the files of one session, one after another (`ingest.decoding.session_files`);
- `yaml`: an HTTP cassette (recorded requests and responses), one YAML document.

The whole file of a `document` or `yaml` is read into memory, so `max_line` limits its size.
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

from ingest.decoding.call_marks import may_hold_marks
from ingest.decoding.fields import json_type
from ingest.decoding.lines import (
    BEGIN,
    BLOCK,
    SNIPPET_READ,
    Block,
    Line,
    decode_object,
    make_snippet,
    read_blocks,
    read_lines,
)
from ingest.decoding.session_files import FileRecords, is_session_files
from ingest.events import LogLine, Rejected
from ingest.log_format import Record

_BOM = b"\xef\xbb\xbf"
_STREAM = re.compile(rb"(?:(?:data|event|id|retry):|:)")
_CASSETTE = re.compile(rb"^(?:(?:http_)?interactions:|requests:\r?\n *- )", re.MULTILINE)
# Matches the start of a JSON array. Does not match program output such as "[entrypoint] …" or "[10:00] …".
_ARRAY = re.compile(
    rb"""\[\s*(?:[{\["\]]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\s*(?:[,\]]|\Z)|(?:true|false|null)\b|\Z)"""
)
_SPACE = re.compile(r"[\s,]*")

Decode = Callable[[Line], Any]
"""Function that decodes a line. It returns the value of the record, or a `Rejected` with the reason."""

Skim = Callable[[bytes], Any]
"""Function that decodes only the fields of a line that the format uses. This is faster than `Decode`.

The argument is the bytes of a line. The result is the value of its record, or None when the format uses
nothing of the line. The function raises ValueError or RecursionError for a line that it cannot handle, and
for everything that is not JSON. The caller then uses `Decode`. The caller also uses `Decode` if the result is
None but the line may contain a tool call. The skipped bytes need not be checked for valid UTF-8.
"""


class Container(StrEnum):
    LINES = "lines"
    DOCUMENT = "document"
    STREAM = "stream"
    FILES = "files"
    YAML = "yaml"

    @property
    def is_lines(self) -> bool:
        """True when each record has a line of its own."""
        return self in (Container.LINES, Container.FILES)

    @property
    def is_rewritten(self) -> bool:
        """True when programs always rewrite the whole log, so that the log has complete sessions."""
        return self in (Container.DOCUMENT, Container.FILES, Container.YAML)


def detect_container(head: bytes) -> Container:
    """Return the container of a file that begins with `head`. Return `lines` when no other container fits."""
    if is_session_files(head):
        return Container.FILES
    start = head.removeprefix(_BOM).lstrip()
    if _ARRAY.match(start):
        return Container.DOCUMENT
    if start.startswith(b"{"):
        return Container.LINES if _has_object_line(start) else Container.DOCUMENT
    if _STREAM.match(start):
        return Container.STREAM
    return Container.YAML if _CASSETTE.search(head) else Container.LINES


def _has_object_line(head: bytes) -> bool:
    """Return True when an unindented line of `head` is a JSON object with at least one key.

    A last line without a line break is ignored. If `head` has no line break at all, the result is True.
    """
    whole, line_break, _ = head.rpartition(b"\n")
    if not line_break:
        return True
    for line in io.BytesIO(whole):
        if line.startswith(b"{"):
            try:
                if orjson.loads(line):
                    return True  # an empty object is read in the same way in every container
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
    """Yield the records of a file. Each record is decoded when the caller asks for it.

    Data that cannot be decoded is yielded as one `Rejected`. `max_line` is the largest allowed size of a line
    or document in bytes. For `lines`, `decode` decodes a line, and `size` is the number of bytes per read.
    """
    if container.is_lines:
        records = (
            line if isinstance(line, Rejected) else _record_of_line(line, decode)
            for line in read_lines(stream, max_line, size)
        )
        yield from FileRecords().attach(records) if container is Container.FILES else records
    elif container is Container.STREAM:
        yield from _read_event_stream(stream, max_line)
    else:
        yield from read_document(stream, container, max_line)


def _record_of_line(line: Line, decode: Decode) -> Record | Rejected:
    value = decode(line)
    return value if isinstance(value, Rejected) else Record(line.where, value, line.data, line.where.offset)


class RecordBatch(NamedTuple):
    """Records that were read from the file together.

    `records` can be iterated once and decodes each record on demand. `line` is the number of the last line
    that was not blank. It is 0 when all lines were blank. `behind` is the position of the line after the
    batch, or None when the position is unknown. `whole` is False when the batch is one line without a line
    break at the end of the file.
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
    files: FileRecords | None = None,
) -> Iterator[RecordBatch]:
    """Yield the records of a file in batches, one batch per block of lines.

    `begin` is the position in the file at which the stream begins. `skim` is a fast decoder that is tried
    before `decode`. If the container is `files`, the files of the session are added to `files`. In all
    containers except `lines`, a batch has one record.
    """
    if not container.is_lines:
        yield from map(_single_record_batch, read_records(stream, container, max_line))
        return
    files = files or FileRecords()
    for block in read_blocks(stream, max_line, begin=begin):
        batch = (
            _single_record_batch(block)
            if isinstance(block, Rejected)
            else _batch_of_block(block, decode, skim)
        )
        if container is Container.FILES:
            batch = batch._replace(records=files.attach(batch.records))
        yield batch


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
                if value is not None or not may_hold_marks(data):
                    continue
        if not data.isspace():
            line = Line(LogLine(number, start), data.rstrip(b"\r\n"), block.whole)
            yield _record_of_line(line, decode)


def _read_event_stream(stream: BinaryIO, max_line: int) -> Iterator[Record | Rejected]:
    """Yield a record for each `data:` line that contains JSON.

    An event over several data lines is not supported, because real logs contain none.
    """
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
    import yaml  # only HTTP cassettes need it

    safe_loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    start = LogLine(1, 0)
    try:
        value = yaml.load(data, Loader=safe_loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        line = LogLine(place.line + 1, 0) if place else start
        yield Rejected(
            line, "not_yaml", f"not YAML: {str(error).splitlines()[0][:SNIPPET_READ]}", make_snippet(data)
        )
        return
    if isinstance(value, dict):
        yield Record(start, value, data, 0)
    else:
        yield Rejected(
            start, "not_an_object", f"the document is a YAML {json_type(value)}", make_snippet(data)
        )


def read_json(data: bytes) -> Iterator[Record | Rejected]:
    """Yield the records of a JSON document.

    The document may be one object, an array whose items are the records, or several values. A syntax error is
    yielded as a `Rejected` and ends the iteration.
    """
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
                where, "not_json", f"not JSON: {str(error)[:200]}", text[position : position + SNIPPET_READ]
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
    """Computes the line number and byte offset of characters in a text. Offsets of characters must be asked
    in ascending order.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at, self._line, self._bytes = 0, 1, 0

    def locate(self, position: int) -> tuple[LogLine, int]:
        """Return the position of the line that contains a character, and the byte offset of the character."""
        passed = self._text[self._at : position]
        self._line += passed.count("\n")
        self._bytes += len(passed.encode("utf-8", "surrogatepass"))
        self._at = position
        start = self._text.rfind("\n", 0, position) + 1
        before = len(self._text[start:position].encode("utf-8", "surrogatepass"))
        return LogLine(self._line, self._bytes - before), self._bytes
