"""The process that executes one query of a user.

It receives a request on standard input, and writes a header line and an Arrow stream. It opens the store file
read-only, gives up all rights that it does not need, and only then reads the SQL, because the SQL is not
trusted. The parent process kills this process when the time limit is over.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from callgauge.analysis.metrics.masked_store import connect_without_texts
from callgauge.analysis.sandbox.statement import StatementRefusedError, allow_statement
from ingest.store.segments import connect_read_only

_ORPHANED = 72  # exit code: the server has ended
_SIGNAL_AT_PARENTS_END = 1  # PR_SET_PDEATHSIG of prctl(2)
_BATCH = 2048  # number of rows; a vector of DuckDB has this many
_MOST_COLUMNS = 300
# The order matters: settings that cannot be undone come last.
_LOCKED_DOWN = (
    "SET TimeZone = 'UTC'",
    "SET temp_directory = ''",
    "SET home_directory = ''",
    "SET secret_directory = ''",
    "SET allow_persistent_secrets = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET python_enable_replacements = false",
    "SET python_scan_all_frames = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def main() -> None:
    request = json.loads(sys.stdin.buffer.readline())
    _end_with_server(request["seconds"])
    if "channel" in request:
        # This import takes 0.1 s, and only a shared store needs it.
        from ingest.store.shared.segment_channel import read_through

        read_through(request["shared"], request["channel"])
    connection = open_locked_down(
        Path(request["generation"]), request["threads"], request["memory"], texts=request["texts"]
    )
    _give_up(request["address_space"])
    try:
        header, table = _answer(connection, request)
    except (StatementRefusedError, duckdb.Error, MemoryError, pa.ArrowException) as problem:
        header, table = {"refused": _describe_error(problem, request["generation"])}, None
    out = sys.stdout.buffer
    out.write(json.dumps(header).encode() + b"\n")
    if table is not None:
        with pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    out.flush()
    # The database is not closed: nothing was written, and a hostile query might make closing crash.
    os._exit(0)


def _end_with_server(seconds: float) -> None:
    """End this process when the server has ended, or when the server did not kill this process at the time
    limit.

    When the server ends, standard input closes. If the watching thread cannot run, the kernel sends a signal.
    """
    bound = (int(seconds) + 5) * (os.cpu_count() or 1)
    _limit_resources(RLIMIT_CPU=(bound, bound + 1))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SIGNAL_AT_PARENTS_END, signal.SIGKILL)
    threading.Thread(target=_watch_server, daemon=True).start()


def _watch_server() -> None:
    while sys.stdin.buffer.readline():
        pass
    os._exit(_ORPHANED)


def open_locked_down(
    generation: Path, threads: int, memory: str, *, texts: bool = True
) -> duckdb.DuckDBPyConnection:
    """Return a connection that can read only the given store file.

    If `texts` is False, log content is hidden.
    """
    config: dict[str, str | bool | int | float | list[str]] = {"threads": threads, "memory_limit": memory}
    connect = connect_read_only if texts else connect_without_texts
    connection = connect(generation, config)
    for setting in _LOCKED_DOWN:
        connection.execute(setting)
    return connection


def _give_up(address_space: int) -> None:
    """Give up rights permanently: no writes to files, limited memory, no core dump, low CPU priority."""
    os.chdir("/")
    if hasattr(os, "nice"):
        os.nice(10)
    _limit_resources(RLIMIT_FSIZE=(0, 0), RLIMIT_CORE=(0, 0), RLIMIT_DATA=(address_space, address_space))


def _limit_resources(**limits: tuple[int, int]) -> None:
    """Set the soft and the hard limit of each resource. On Windows, only DuckDB's own limits apply."""
    try:
        import resource
    except ImportError:
        return
    for name, limit in limits.items():
        resource.setrlimit(getattr(resource, name), limit)


def _answer(
    connection: duckdb.DuckDBPyConnection, request: dict[str, Any]
) -> tuple[dict[str, Any], pa.Table]:
    began = time.monotonic()
    # A relation streams rows. execute() reads all rows first, but some results never end.
    relation = connection.sql(allow_statement(connection, request["sql"]))
    if len(relation.columns) > _MOST_COLUMNS:
        raise StatementRefusedError(
            f"The result has more than {_MOST_COLUMNS} columns: name those that you need."
        )
    reader = relation.to_arrow_reader(_BATCH)
    batches: list[pa.RecordBatch] = []
    rows, room, full, whole = 0, request["bytes"], False, False
    for batch in reader:
        rows += len(batch)
        if not full:
            fits = _count_fitting(batch, min(request["rows"] - sum(map(len, batches)), len(batch)), room)
            batches.append(batch.slice(0, fits))
            room -= batches[-1].nbytes
            full = fits < len(batch)
        elif time.monotonic() - began > request["counting"]:
            break
    else:
        whole = True
    table = pa.Table.from_batches(batches, reader.schema)
    table = table.rename_columns(_make_unique(table.column_names))
    header = {"rows": rows, "counted": whole, "seconds": time.monotonic() - began}
    return header, table


def _count_fitting(batch: pa.RecordBatch, most: int, room: int) -> int:
    """Return how many of the first `most` rows of a batch fit into `room` bytes."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if batch.slice(0, middle).nbytes <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _make_unique(names: list[str]) -> list[str]:
    free: list[str] = []
    for name in names:
        number, tried = 1, name
        while tried in free:
            number += 1
            tried = f"{name} ({number})"
        free.append(tried)
    return free


def _describe_error(problem: BaseException, generation: str) -> str:
    """Return the error message of DuckDB without the path of the store on this machine."""
    message = str(problem).strip() or "There was not enough memory for it."
    if isinstance(problem, (duckdb.InternalException, duckdb.FatalException)):
        # The rest of the message is a stack trace with files of this machine.
        return "DuckDB met an error of its own in this query. Ask in other words, or for fewer columns."
    return message.replace(generation, "the store").replace(str(Path(generation).parent), "the store")


if __name__ == "__main__":
    main()
