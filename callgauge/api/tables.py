"""Writes tables as JSON, Arrow IPC or Parquet to a temporary file, with limits on rows and bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from callgauge.analysis.export import make_table
from callgauge.analysis.metrics import open_answer, read_arrow
from callgauge.analysis.metrics.published_store import Connection
from callgauge.api.questions.answers import Row
from callgauge.api.questions.problems import ProblemError

JSON, ARROW, PARQUET = (
    "application/json",
    "application/vnd.apache.arrow.stream",
    "application/vnd.apache.parquet",
)
FORMATS = {"json": JSON, "arrow": ARROW, "parquet": PARQUET}
MOST_ROWS = {JSON: 10_000, ARROW: 1_000_000, PARQUET: 1_000_000}
"""The maximum rows of an answer by media type. A longer answer is marked as truncated."""
MOST_BYTES = 256_000_000
_IN_MEMORY = 4_000_000  # Up to this many bytes stay in memory; larger tables are written to a file.
_BATCH = 5_000  # The number of rows in a batch.
_CHUNK = 256 * 1024  # The number of bytes in a chunk.
_OPTIONS = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table in a file that can be sent. `is_truncated` means that there are more rows."""

    file: IO[bytes]
    media_type: str
    rows: int
    is_truncated: bool

    def read(self) -> Iterator[bytes]:
        """Yield the content of the file, then close the file."""
        with self.file:
            while chunk := self.file.read(_CHUNK):
                yield chunk


def write_json(value: Any) -> bytes:
    """Return a value as JSON. Times are ISO 8601 in UTC. NaN and infinity become null."""
    try:
        return orjson.dumps(value, _to_plain, _OPTIONS)
    except TypeError:  # A definition or arguments may contain an integer of more than 64 bits.
        return orjson.dumps(_fit(value), _to_plain, _OPTIONS)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def _fit(value: Any) -> Any:
    """Return the value with integers of more than 64 bits as strings, and with escaped lone surrogates."""
    if isinstance(value, Mapping):
        return {str(_fit(key)): _fit(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_fit(each) for each in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_rows(rows: Sequence[Row], media_type: str) -> TableFile:
    """Return rows as Arrow IPC or Parquet. Columns with mixed types become strings."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = make_table({name: [row.get(name) for row in rows] for name in names})
    file = _open_file()
    if media_type == PARQUET:
        pq.write_table(table, file, compression="zstd")
    else:
        with pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    file.seek(0)
    return TableFile(file, media_type, len(rows), is_truncated=False)


def write_metric(
    connection: Connection, name: str, parameters: Mapping[str, Any], media_type: str, head: Mapping[str, Any]
) -> TableFile:
    """Return the rows of a metric, which are read in batches.

    `head` has the other members of the JSON answer. Raises MetricError and ProblemError.
    """
    # One row above the limit shows that rows are cut off.
    with open_answer(connection, name, parameters, MOST_ROWS[media_type] + 1) as cursor:
        file = _open_file()
        try:
            if media_type == JSON:
                rows, is_truncated = _write_json_rows(cursor, file, head)
            else:
                rows, is_truncated = _write_batches(cursor, file, media_type)
        except BaseException:
            file.close()
            raise
    file.seek(0)
    return TableFile(file, media_type, rows, is_truncated)


def _open_file() -> IO[bytes]:
    return SpooledTemporaryFile(_IN_MEMORY)


def _write_json_rows(cursor: Connection, file: IO[bytes], head: Mapping[str, Any]) -> tuple[int, bool]:
    names = [column[0] for column in cursor.description or ()]
    most, written = MOST_ROWS[JSON], 0
    file.write(write_json(head).removesuffix(b"}") + (b"," if head else b"") + b'"rows":[')
    is_truncated = False
    while not is_truncated and (batch := cursor.fetchmany(_BATCH)):
        for row in batch:
            if written == most:
                is_truncated = True
                break
            file.write((b"," if written else b"") + write_json(dict(zip(names, row, strict=True))))
            written += 1
        _check_size(file)
    file.write(b'],"truncated":' + (b"true" if is_truncated else b"false") + b"}")
    return written, is_truncated


def _write_batches(cursor: Connection, file: IO[bytes], media_type: str) -> tuple[int, bool]:
    reader = read_arrow(cursor, _BATCH)
    most, written = MOST_ROWS[media_type], 0
    is_truncated = False
    writer: Any = (
        pq.ParquetWriter(file, reader.schema, compression="zstd")
        if media_type == PARQUET
        else pa.ipc.new_stream(file, reader.schema)
    )
    with writer:
        for batch in reader:
            part = batch.slice(0, most - written)
            is_truncated = part.num_rows < batch.num_rows
            writer.write_batch(part)
            written += part.num_rows
            _check_size(file)
            if is_truncated:
                break
    return written, is_truncated


def _check_size(file: IO[bytes]) -> None:
    if file.tell() > MOST_BYTES:
        raise ProblemError(
            413,
            f"The answer has more than {MOST_BYTES // 1_000_000} MB. Narrow it: fewer days, a lower limit.",
        )
