"""A published generation in, what a load must know of it out; opens it read-only and for a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ingest.changes import Known, ReadWith, Status
from ingest.errors import StoreError
from ingest.migrations import SCHEMA_VERSION, version_of
from ingest.reports import Reject

_AT_ONCE = 1_000  # rows

_REJECTS = """
    SELECT path, line, byte_offset, code, coalesce(rejects.reason, ''), coalesce(snippet, ''), tools_hash
    FROM rejects JOIN files USING (file_id) ORDER BY path, line, byte_offset, code"""
_REFUSED = """
    SELECT path, NULL, NULL, 'unreadable', 'the file ' || coalesce(reason, 'was refused'), '', tools_hash
    FROM files WHERE status = 'rejected' ORDER BY path"""

# By prompt id, or by the first characters of the hash of its text.
LABELLED = """
    SELECT prompt_id, any_value(p.label) AS old, min(l.label) AS label
    FROM prompts p, (SELECT unnest(?::VARCHAR[]) AS key, unnest(?::VARCHAR[]) AS label) l
    WHERE p.prompt_id = l.key OR starts_with(p.text_hash, l.key)
    GROUP BY prompt_id"""


def read_ledger(generation: Path) -> list[Known]:
    """What a published generation knows of files. Raises StoreVersionError, StoreError."""
    columns = ["file_id", "path", "status", "reason", "size_bytes", "mtime_ns", "fingerprint"]
    with _reading(generation) as con:
        since_2 = ["forgetful"] if version_of(con, generation) > 1 else []
        files = con.table("files").select(*columns, "tools_hash", "cut_at", *since_2)
        return [_known(*row) for row in files.fetchall()]


def _known(
    file_id: int,
    name: str,
    status: str,
    reason: str | None,
    size: int,
    mtime_ns: int,
    fingerprint: str | None,
    tools: str | None,
    cut_at: int | None,
    forgetful: bool | None = None,
) -> Known:
    content = (size, mtime_ns, fingerprint)
    return Known(file_id, name, Status(status), reason, *content, ReadWith(tools, cut_at), bool(forgetful))


def read_forgotten(generation: Path) -> frozenset[str]:
    """The hashes of the sessions that no load may bring back. Raises StoreVersionError, StoreError."""
    with _reading(generation) as con:
        if version_of(con, generation) < 2:
            return frozenset()
        return frozenset(row for (row,) in con.execute("SELECT session_hash FROM forgotten").fetchall())


def read_rejects(generation: Path) -> Iterator[Reject]:
    """The lines and values that could not be used, by file and place; then the files.

    Raises StoreVersionError, StoreError.
    """
    with _reading(generation) as con:
        version_of(con, generation)
        for query in (_REJECTS, _REFUSED):
            found = con.execute(query)
            while rows := found.fetchmany(_AT_ONCE):
                yield from (Reject(*row) for row in rows)


def calls_judged_otherwise(generation: Path, parser_version: str | None) -> int:
    """How many calls another version of the parser judged; None = all calls. Raises StoreError."""
    with _reading(generation) as con:
        query = "SELECT count(*) FROM tool_calls WHERE parser_version IS DISTINCT FROM ?"
        row = con.execute(query, [parser_version]).fetchone()
        return int(row[0]) if row else 0


def labels_are_news(generation: Path, labels: Mapping[str, str]) -> bool:
    """True when a prompt of the published generation would get another name. Raises StoreError."""
    if not labels:
        return False
    with _reading(generation) as con:
        changed = f"FROM ({LABELLED}) AS named WHERE label IS DISTINCT FROM old"
        return bool(con.execute(changed, [list(labels), list(labels.values())]).fetchall())


def is_outdated(generation: Path) -> bool:
    """True when its tables are of an older version than today's. Raises StoreVersionError, StoreError."""
    with _reading(generation) as con:
        return version_of(con, generation) < SCHEMA_VERSION


@contextmanager
def _reading(generation: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to a published generation; what goes wrong is damage to that file."""
    try:
        with duckdb.connect(str(generation), read_only=True) as con:
            yield con
    except duckdb.Error as error:
        raise StoreError(
            f"the published generation {generation} cannot be read ({str(error).strip().splitlines()[0]}); "
            "load the logs into a new folder, or put the file back from a backup"
        ) from error
