"""A published generation in, what a load must know of it out; opens it read-only and for a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from ingest.errors import StoreError
from ingest.ledger import Copy, Known, Ledger, Outside, ReadWith, Status
from ingest.migrations import SCHEMA_VERSION, version_of
from ingest.reports import Reject
from ingest.sources.found import Seen

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


_LEDGER = """
    SELECT file_id, path, status, reason, stored_bytes, mtime_ns, version, archive, archive_seen,
           tools_hash, cut_at, privacy, size_bytes, fingerprint, head, source, coalesce(forgetful, false)
    FROM files"""
_LEDGER_OF_1 = """
    SELECT file_id, path, status, reason, size_bytes, mtime_ns, '', NULL, NULL,
           tools_hash, cut_at, NULL, size_bytes, fingerprint, NULL, source, false
    FROM files"""
_STATUS = {str(status): status for status in Status}  # an Enum asked by value takes ten times as long
_COPIES = "SELECT path, file_id, stored_bytes, mtime_ns, version, archive, archive_seen FROM copies"


def read_ledger(generation: Path) -> Ledger:
    """What a published generation knows of files. Raises StoreVersionError, StoreError."""
    return read_memory(generation)[0]


def read_memory(generation: Path) -> tuple[Ledger, frozenset[str]]:
    """What a published generation knows of files, and the hashes of the sessions that no load may bring back.

    Raises StoreVersionError, StoreError.
    """
    with _reading(generation) as con:  # to open one takes longer than all questions
        is_first = version_of(con, generation) == 1
        rows = con.execute(_LEDGER_OF_1 if is_first else _LEDGER).fetchall()
        copies = [] if is_first else con.execute(_COPIES).fetchall()
        forgotten = [] if is_first else con.execute("SELECT session_hash FROM forgotten").fetchall()
    ledger = Ledger(
        (
            Known(file_id, name, _STATUS[status], reason, _outside(row[:5]), ReadWith(*row[5:8]), *row[8:13])
            for file_id, name, status, reason, *row in rows
        ),
        (Copy(name, file_id, _outside(row)) for name, file_id, *row in copies),
    )
    return ledger, frozenset(session for (session,) in forgotten)


def _outside(row: Sequence[Any]) -> Outside:
    size, mtime_ns, version, archive, archive_seen = row
    return Outside(Seen(size, mtime_ns, version), archive, archive_seen)


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
