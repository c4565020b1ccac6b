"""Executes one query in a separate process, kills the process at the time limit, and returns the result.

DuckDB's own interrupt waits for single functions, which may take minutes. DuckDB's memory limit does not
cover all memory, and deeply nested SQL crashes the process that parses it (see docs/internal/decisions.md).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import pandas as pd
import pyarrow as pa

from ingest.store.shared.link import read_link

_ROOT = Path(__file__).parents[3]
_CRASHES = (7, 10, 11)  # numbers of SIGBUS (Linux, macOS) and SIGSEGV; Windows does not define all of them
_NEEDED = ("SYSTEMROOT",)  # Python does not start on Windows without this variable
_COMMAND = [sys.executable, "-X", "utf8", "-m", "callgauge.analysis.sandbox.child"]
AT_ONCE = 2
_SLOTS = BoundedSemaphore(AT_ONCE)
LONGEST = 100_000  # maximum number of characters of SQL
# Arrow raises these errors for a value or type without a Python equivalent.
_UNLIKE_PYTHON = (ValueError, OverflowError, pa.ArrowException, NotImplementedError)


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Limits of one query.

    `seconds` is the time limit. `rows` and `bytes` limit how much of a result is kept. Further rows are
    counted until `counting` seconds after the start. `memory` is DuckDB's memory limit. `address_space` is
    the maximum data size of the process in bytes. A query waits at most `waiting` seconds for other queries
    to end.
    """

    seconds: float = 10.0
    counting: float = 2.0
    rows: int = 10_000
    bytes: int = 16_000_000
    memory: str = "384MB"
    address_space: int = 1_000_000_000
    waiting: float = 2.0


LIMITS = QueryLimits()


class SqlError(Exception):
    """Raised when a query gives no result. The message explains why, in one or several lines."""


class SandboxBusyError(SqlError):
    """Raised when too many other queries are in progress. The same query may succeed later."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query.

    `table` holds the kept rows. `rows` is the number of all rows, or a lower bound when `counted` is False.
    """

    table: pa.Table
    rows: int
    counted: bool
    seconds: float

    @property
    def kept_rows(self) -> int:
        return len(self.table)

    @property
    def column_names(self) -> list[str]:
        return list(self.table.column_names)

    def number_columns(self) -> list[str]:
        """Return the names of the numeric columns."""
        kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        return [field.name for field in self.table.schema if any(is_kind(field.type) for is_kind in kinds)]

    def time_columns(self) -> list[str]:
        """Return the names of the columns with days or times."""
        return [field.name for field in self.table.schema if pa.types.is_temporal(field.type)]

    def column_values(self, *names: str) -> list[list[Any]]:
        return [_python_values(self.table[name]) for name in names]

    def read_rows(self, offset: int, length: int) -> list[list[Any]]:
        """Return up to `length` of the kept rows as Python values. The first row is at `offset`."""
        part = self.table.slice(offset, length)
        columns = [_python_values(column) for column in part.columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def to_frame(self) -> pd.DataFrame:
        """Return all kept rows as a frame of Python values, for an export or a figure."""
        columns = {name: _python_values(self.table[name]) for name in self.table.column_names}
        return pd.DataFrame(columns, dtype=object)


def run(generation: Path, sql: str, limits: QueryLimits = LIMITS, *, texts: bool) -> QueryResult:
    """Return the result of `sql` on the database file `generation`. Raises SqlError.

    If `texts` is False, log content is hidden from the query.
    """
    if len(sql) > LONGEST:
        raise SqlError(f"The text has {len(sql):,} characters; a query may have {LONGEST:,}.")
    if not sql.isascii() and any("\ud800" <= char <= "\udfff" for char in sql):
        raise SqlError("The text contains half of a character (a lone surrogate), which SQL does not allow.")
    if "\0" in sql:
        raise SqlError("The text contains a NUL character, which would end the query.")
    if not generation.is_file():
        raise SqlError("The store has been loaded again; reload the page.")
    if not _SLOTS.acquire(timeout=limits.waiting):
        raise SandboxBusyError(f"{AT_ONCE} queries of others are running; try again in some seconds.")
    try:
        return _read_result(*_run_child(generation, sql, limits, texts), limits)
    finally:
        _SLOTS.release()


def _run_child(generation: Path, sql: str, limits: QueryLimits, texts: bool) -> tuple[int, bytes]:
    request = {
        "generation": str(generation.resolve()),
        "sql": sql,
        "rows": limits.rows,
        "bytes": limits.bytes,
        "seconds": limits.seconds,
        "counting": limits.counting,
        "memory": limits.memory,
        "address_space": limits.address_space,
        "texts": texts,
        "threads": max(1, (os.cpu_count() or 1) // 2),
    }
    channel = _open_channel(generation.resolve().parent, request)
    # The environment is empty, so the query cannot read the variables of this server.
    with (
        channel or nullcontext(),
        subprocess.Popen(
            _COMMAND,
            cwd=_ROOT,
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(channel.fileno(),) if channel else (),
        ) as process,
    ):
        try:
            out = _ask_child(process, json.dumps(request).encode() + b"\n", limits.seconds)
        except subprocess.TimeoutExpired:
            raise SqlError(
                f"Stopped after {limits.seconds:g} seconds. Narrow it: one day, one model, or a daily_ table."
            ) from None
        finally:
            process.kill()
        return process.wait(), out


def _open_channel(folder: Path, request: dict[str, Any]) -> socket.socket | None:
    """Open the channel through which the query's process reads a shared store.

    Return None for a local store.
    """
    link = read_link(folder)
    if link is None:
        return None
    # This import takes 0.1 s, and only a shared store needs it.
    from ingest.store.shared.segment_channel import open_channel

    channel = open_channel(link.address)
    request |= {"shared": link.address, "channel": channel.fileno()}
    return channel


def _ask_child(process: subprocess.Popen[bytes], request: bytes, seconds: float) -> bytes:
    """Send the request to the child process and return the answer. Raises subprocess.TimeoutExpired.

    The child's standard input must stay open, because the child exits when it closes.
    """
    pipe, process.stdin = process.stdin, None
    if pipe is None:
        return b""
    with suppress(BrokenPipeError), pipe:  # if the child has ended, the child's exit code shows why
        pipe.write(request)
        pipe.flush()
        return process.communicate(timeout=seconds)[0]
    return b""


def _read_result(code: int, out: bytes, limits: QueryLimits) -> QueryResult:
    head, _, stream = out.partition(b"\n")
    if code or not head:
        raise SqlError(_describe_end(code))
    header = json.loads(head)
    if "refused" in header:
        raise SqlError(header["refused"])
    table = pa.ipc.open_stream(stream).read_all()
    if header["rows"] and not len(table):
        raise SqlError(
            f"The first row alone has more than {limits.bytes // 1_000_000} MB: "
            "name fewer columns, or shorten one with left(column, 1000)."
        )
    return QueryResult(table, header["rows"], header["counted"], header["seconds"])


def _describe_end(code: int) -> str:
    how = "ran out of memory"
    if -code in _CRASHES:
        how = "was nested too deeply for the parser"
    return f"The query {how}; only the process that ran it has ended. Ask for less, or in simpler words."


def _python_values(column: pa.ChunkedArray) -> list[Any]:
    try:
        values = column.to_pylist()
        if not pa.types.is_interval(column.type):
            return list(values)
        # Python and Parquet have no type for an interval of months, days and seconds.
        return [None if value is None else _format_interval(*value) for value in values]
    except _UNLIKE_PYTHON:
        return [_python_value(scalar) for scalar in column]


def _format_interval(months: int, days: int, nanoseconds: int) -> str:
    return f"{months} months {days} days {nanoseconds / 1e9:g} seconds"


def _python_value(scalar: pa.Scalar) -> Any:
    """Return a scalar as a Python value.

    Values that Python does not have, such as the year 290,000, become strings.
    """
    try:
        return scalar.as_py()
    except _UNLIKE_PYTHON:
        return f"({scalar.type}, out of Python's range)"
