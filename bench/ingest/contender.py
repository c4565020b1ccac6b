"""Measures one reader on a folder of logs, and prints the measurements as one line of JSON.

The start of Python and the imports are not measured. If a reader starts processes, these processes and their
imports are measured.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa

from bench.ingest.kinds import KINDS
from ingest.formats import formats
from ingest.pipeline.load import load

Measurements = dict[str, Any]


def loads(folder: Path, _store: Path) -> Measurements:
    """Decode every line with `orjson.loads` and discard the result.

    All readers are compared with this baseline.
    """
    lines = 0
    for path in sorted(folder.iterdir()):
        with path.open("rb") as stream:
            for line in stream:
                lines += 1
                with suppress(ValueError):  # the samples contain broken lines on purpose
                    orjson.loads(line)
    return {"lines": lines}


def callgauge(folder: Path, store: Path, workers: int = 1) -> Measurements:
    shutil.rmtree(store, ignore_errors=True)
    report = load([folder], store, workers=workers)
    size = sum(path.stat().st_size for path in store.glob("gen-*.duckdb"))
    return {"lines": report.lines, "calls": report.calls, "rejects": report.rejects, "store": size}


def again(folder: Path, store: Path) -> Measurements:
    """Load a folder that `callgauge` has already loaded."""
    report = load([folder], store)
    return {"unchanged": report.unchanged, "loaded": report.loaded}


def duckdb_sql(folder: Path, store: Path, sql: Path) -> Measurements:
    """Load with DuckDB's JSON reader and the SQL in a file, the closest equivalent to `callgauge`."""
    path = store.with_suffix(".duckdb")
    with duckdb.connect(str(path)) as con:
        first, *others = con.extract_statements(sql.read_text("utf-8"))
        con.execute(first, {"files": f"{folder}/*.jsonl"})
        for statement in others:
            con.execute(statement)
        row = con.execute("SELECT count(*) FROM tool_calls").fetchone()
    return {"calls": row[0] if row else 0, "store": path.stat().st_size}


CONTENDERS: dict[str, Callable[[Path, Path], Measurements]] = {
    "loads": loads,
    "callgauge": callgauge,
    "callgauge_2": partial(callgauge, workers=2),
    "again": again,
    **{f"duckdb_sql:{kind.name}": partial(duckdb_sql, sql=kind.sql) for kind in KINDS},
}


def processor_seconds() -> float:
    """Return the CPU seconds of this process and of its finished child processes."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main(name: str, folder: str, store: str) -> None:
    pa.array([0])  # triggers the imports of pyarrow's first use
    formats()
    before, clock = processor_seconds(), time.perf_counter()
    report = CONTENDERS[name](Path(folder), Path(store))
    seconds = {"clock": time.perf_counter() - clock, "processor": processor_seconds() - before}
    print(json.dumps(seconds | report))


if __name__ == "__main__":
    main(*sys.argv[1:])
