"""Reads the data that a load needs from the published store file, opened read-only for a short time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from msgspec.structs import replace

from ingest.errors import StoreError
from ingest.load_report import ForeignKind, ModelName, Reject
from ingest.sources.log_file import FileStamp
from ingest.store.ledger import FileLook, FileStatus, Ledger, LedgerCopy, LedgerRow, ReadWith
from ingest.store.migrations import SCHEMA_VERSION, read_schema_version
from ingest.store.segments import (
    Connection,
    attach_file,
    connect_read_only,
    describe_failure,
    is_of_object_store,
)

_AT_ONCE = 1_000  # rows fetched at a time
_CLOCKS = timedelta(days=1)  # tolerance for wrong clocks and time zones

_REJECTS = """
    SELECT coalesce(m.path, f.path) AS place, r.line - coalesce(m.line - 1, 0) AS line,
           r.byte_offset - coalesce(m.byte_offset, 0) AS byte_offset, code, coalesce(r.reason, ''),
           coalesce(snippet, ''), tools_hash, NULL, if(m.path IS NULL, NULL, f.path)
    FROM rejects r JOIN files f USING (file_id)
    ASOF LEFT JOIN {members} m ON m.file_id = r.file_id AND m.byte_offset <= r.byte_offset
    ORDER BY f.path, r.line, r.byte_offset, code"""
_NO_MEMBERS = """(
    SELECT NULL::INTEGER AS file_id, NULL::BIGINT AS line, NULL::BIGINT AS byte_offset, NULL::VARCHAR AS path
    WHERE false)"""  # stores up to version 5 lack the table file_members
_REFUSED = """
    SELECT path, NULL, NULL, 'unreadable', 'the file ' || coalesce(reason, 'was refused'), '', tools_hash,
           foreign_kind, NULL
    FROM (FROM files UNION ALL BY NAME SELECT NULL AS foreign_kind WHERE false)
    WHERE status = 'rejected' ORDER BY path"""

# A label names a prompt by its id or by the first characters of its text's hash.
LABELLED = """
    SELECT prompt_id, any_value(p.label) AS old, min(l.label) AS label
    FROM prompts p, (SELECT unnest(?::VARCHAR[]) AS key, unnest(?::VARCHAR[]) AS label) l
    WHERE p.prompt_id = l.key OR starts_with(p.text_hash, l.key)
    GROUP BY prompt_id"""


_ADDED = """
    SELECT NULL AS foreign_kind, NULL AS refused_by, NULL AS path_facts, NULL AS follows, NULL AS lacks
"""  # NULL, because older stores lack these columns
_LEDGER = f"""
    SELECT file_id, path, status, reason, stored_bytes, mtime_ns, version, archive, archive_seen,
           tools_hash, cut_at, privacy, path_facts, size_bytes, fingerprint, head, source,
           coalesce(forgetful, false), foreign_kind, refused_by, follows, lacks
    FROM (FROM files UNION ALL BY NAME {_ADDED} WHERE false)"""  # noqa: S608 - our own text
_LEDGER_OF_1 = """
    SELECT file_id, path, status, reason, size_bytes, mtime_ns, '', NULL, NULL,
           tools_hash, cut_at, NULL, NULL, size_bytes, fingerprint, NULL, source,
           false, NULL, NULL, NULL, NULL
    FROM files"""
_MODELS = """
    SELECT model, coalesce(sum(steps), 0) AS calls FROM daily_turns WHERE model IS NOT NULL
    GROUP BY model ORDER BY calls DESC, model"""
_MODEL_NAMES = """
    FROM (
        SELECT model, model_name, model_source, rule, coalesce(sum(steps), 0)::BIGINT AS used FROM turns
        LEFT JOIN model_aliases USING (model_name, model) WHERE model IS NOT NULL AND NOT duplicate
        GROUP BY ALL
    ) ORDER BY sum(used) OVER (PARTITION BY model) DESC, model, used DESC, model_name"""
_SEGMENTS = "SELECT name FROM segments ORDER BY number"
_ALIASES = "SELECT model_name, model, rule FROM model_aliases"
_KNOWN_NAMES = """
    SELECT model FROM daily_turns WHERE model IS NOT NULL
    UNION SELECT model FROM daily_calls WHERE model IS NOT NULL
    UNION SELECT model_name FROM model_aliases"""
_OF_OTHER_PARSERS = """
    SELECT count(*)
    FROM (FROM tool_calls UNION ALL BY NAME SELECT NULL::BOOLEAN AS text_removed WHERE false)
    WHERE parser_version IS DISTINCT FROM ? AND text_removed IS NULL"""
# a look-up in this dictionary takes a tenth of the time of the Enum's own look-up by value
_STATUS = {str(status): status for status in FileStatus}
_KINDS: dict[str | None, ForeignKind | None] = {None: None, **{str(kind): kind for kind in ForeignKind}}
_COPIES = "SELECT path, file_id, stored_bytes, mtime_ns, version, archive, archive_seen FROM copies"


def read_ledger(generation: Path) -> Ledger:
    """Return the list of files in a published store file. Raises StoreVersionError, StoreError."""
    with open_generation(generation) as con:
        return _read_ledger(con, generation)[0]


def read_ledger_and_forgotten(generation: Path | None, database: Connection) -> tuple[Ledger, frozenset[str]]:
    """Return the list of files in a published store file, and the hashes of deleted sessions.

    A load must not restore these sessions. Both are empty without a published file. `database` is an empty
    database in memory. Raises StoreVersionError, StoreError.
    """
    if generation is None:
        return Ledger(), frozenset()
    with _attach_generation(generation, database):
        return _read_ledger(database, generation)


def _read_ledger(con: Connection, generation: Path) -> tuple[Ledger, frozenset[str]]:
    is_first = read_schema_version(con, generation) == 1
    query = _LEDGER_OF_1 if is_first else _LEDGER
    rows = con.execute(query).fetchall()
    copies = [] if is_first else con.execute(_COPIES).fetchall()
    forgotten = [] if is_first else con.execute("SELECT session_hash FROM forgotten").fetchall()
    ledger = Ledger(
        map(_ledger_row, rows),
        (LedgerCopy(name, file_id, _look_of_row(row)) for name, file_id, *row in copies),
    )
    return ledger, frozenset(session for (session,) in forgotten)


def _ledger_row(row: Sequence[Any]) -> LedgerRow:
    file_id, name, status, reason, *rest, foreign, refused_by, follows, lacks = row
    size, fingerprint, head, source, forgetful = rest[9:]
    return LedgerRow(
        file_id,
        name,
        _STATUS[status],
        reason,
        _look_of_row(rest[:5]),
        ReadWith(*rest[5:9]),
        size,
        fingerprint,
        head,
        source,
        forgetful,
        foreign=_KINDS[foreign],
        refused_by=refused_by,
        follows=follows,
        lacks=tuple(json.loads(lacks)) if lacks is not None else (),
    )


def _look_of_row(row: Sequence[Any]) -> FileLook:
    size, mtime_ns, version, archive, archive_seen = row
    return FileLook(FileStamp(size, mtime_ns, version), archive, archive_seen)


def read_rejects(generation: Path) -> Iterator[Reject]:
    """Yield the unusable lines and values, ordered by file and position. Then yield the unusable files.

    Raises StoreVersionError, StoreError.
    """
    with open_generation(generation) as con:
        members = "file_members" if read_schema_version(con, generation) > 5 else _NO_MEMBERS
        for query in (_REJECTS.format(members=members), _REFUSED):
            cursor = con.execute(query)
            while rows := cursor.fetchmany(_AT_ONCE):
                yield from map(_reject_of_row, rows)


def _reject_of_row(row: Sequence[Any]) -> Reject:
    *fields, kind, log = row
    return replace(Reject(*fields), foreign=_KINDS[kind], part_of=log)


def holds_rejects(generation: Path) -> bool:
    """Return True when a store has unusable lines, values or files.

    Raises StoreVersionError, StoreError.
    """
    with open_generation(generation) as con:
        read_schema_version(con, generation)
        query = "SELECT EXISTS (FROM rejects) OR EXISTS (FROM files WHERE status = 'rejected')"
        return con.execute(query).fetchone() == (True,)


def read_newest_time(generation: Path, files: Sequence[int]) -> datetime | None:
    """Return when the newest session of the files ended, in UTC. Return None when no session has a time.

    Times more than a day in the future are ignored. Raises StoreError.
    """
    with open_generation(generation) as con:
        return find_newest_time(con, "sessions", files)


def find_newest_time(con: Connection, sessions: str, files: Sequence[int]) -> datetime | None:
    """Return the same as `read_newest_time`, from the table or view `sessions`."""
    query = (
        f"SELECT max(coalesce(ended_at, started_at)) FROM {sessions} WHERE file_id IN (SELECT unnest(?)) "  # noqa: S608
        "AND coalesce(ended_at, started_at) < ?"
    )
    row = con.execute(query, [list(files), datetime.now(UTC).replace(tzinfo=None) + _CLOCKS]).fetchone()
    return row[0].replace(tzinfo=UTC) if row and row[0] is not None else None


def count_calls_of_other_parsers(generation: Path, parser_version: str | None) -> int:
    """Return the number of calls that another version of the parser judged. Raises StoreError.

    If `parser_version` is None, count the calls that any version judged. Calls whose arguments are no longer
    stored do not count.
    """
    with open_generation(generation) as con:
        row = con.execute(_OF_OTHER_PARSERS, [parser_version]).fetchone()
        return int(row[0]) if row else 0


def read_models(generation: Path) -> dict[str, int]:
    """Return the number of model calls for each model name in the logs. The most used model comes first.

    Raises StoreError.
    """
    with open_generation(generation) as con:
        return {name: int(calls) for name, calls in con.execute(_MODELS).fetchall()}


def read_model_names(generation: Path) -> list[ModelName]:
    """Return the model names in the logs. The names of the most used model come first.

    Raises StoreError.
    """
    with open_generation(generation) as con:
        return [ModelName(*row) for row in con.execute(_MODEL_NAMES).fetchall()]


def read_aliases(generation: Path) -> tuple[set[str], set[tuple[str, str, str]]]:
    """Return the model names in a store file, and their aliases.

    An alias has a name, the model under which calls with this name are counted, and the rule. Raises
    StoreError.
    """
    with open_generation(generation) as con:
        names = {name for (name,) in con.execute(_KNOWN_NAMES).fetchall()}
        return names, set(con.execute(_ALIASES).fetchall())


def has_new_labels(generation: Path, labels: Mapping[str, str]) -> bool:
    """Return True when `labels` would rename a prompt in the published store file.

    Raises StoreError.
    """
    if not labels:
        return False
    with open_generation(generation) as con:
        changed = f"FROM ({LABELLED}) AS named WHERE label IS DISTINCT FROM old"
        return bool(con.execute(changed, [list(labels), list(labels.values())]).fetchall())


def is_outdated(generation: Path) -> bool:
    """Return True when a store file has tables of an older version than SCHEMA_VERSION.

    Raises StoreVersionError, StoreError.
    """
    with open_generation(generation) as con:
        return read_schema_version(con, generation) < SCHEMA_VERSION


def find_segments(generation: Path) -> Sequence[str]:
    """Return the names of the segment files that belong to a store file. Raises StoreError."""
    with open_generation(generation) as con:
        return (
            [name for (name,) in con.execute(_SEGMENTS).fetchall()]
            if read_schema_version(con, generation) > 8
            else []
        )


@contextmanager
def _attach_generation(generation: Path, database: Connection) -> Iterator[None]:
    """Attach a published store file without its segment files. DuckDB errors are raised as StoreError."""
    with _explain_unreadable(generation):
        attach_file(database, str(generation), "published")
        database.execute("USE published")
        yield
        database.execute("USE memory; DETACH published")


@contextmanager
def open_generation(generation: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a read-only connection to a published store file.

    DuckDB errors in the block are raised as StoreError.
    """
    with _explain_unreadable(generation), connect_read_only(generation, {}) as con:
        yield con


@contextmanager
def _explain_unreadable(generation: Path) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        if is_of_object_store(error):
            raise StoreError(describe_failure(error)) from error
        raise StoreError(
            f"the published file {generation} cannot be read ({describe_failure(error)}); "
            "load the logs into a new folder, or put the file back from a backup"
        ) from error
