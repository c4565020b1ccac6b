"""Arrow tables in, one checked and checkpointed DuckDB file out; knows no logs and no folder of generations.

The file being built is private to the load: nobody reads it, and when the load dies it is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ingest.changes import Known, ReadWith, Status
from ingest.errors import StoreError
from ingest.generations import OnWrite
from ingest.migrations import SCHEMA_VERSION, migrate, version_of
from lenient import PARSER_VERSION

MEMORY_LIMIT = (
    "256MB"  # DuckDB's share of a load; what does not fit goes to a folder beside the building file
)
CHECKPOINT = "64MB"  # of uncompressed rows; at 16 MB, its default, the same row groups are written many times
_HERE = Path(__file__).parent

FACTS = ("sessions", "turns", "tool_calls", "diagnostics", "probes", "rejects")

# Many files tell the same prompt and the same definition: one row each. A later text fills a missing one.
_SHARED = {
    "prompts": """
        MERGE INTO prompts USING (
            SELECT prompt_id, any_value(name) AS name, any_value(version) AS version,
                   arg_min(text, line) AS text, arg_min(text_hash, line) AS text_hash
            FROM (SELECT *, row_number() OVER () AS line FROM incoming)
            WHERE prompt_id IS NOT NULL GROUP BY prompt_id
        ) AS seen ON prompts.prompt_id = seen.prompt_id
        WHEN MATCHED AND prompts.text IS NULL AND seen.text IS NOT NULL
            THEN UPDATE SET text = seen.text, text_hash = seen.text_hash
        WHEN NOT MATCHED THEN INSERT (prompt_id, name, version, text, text_hash)
            VALUES (seen.prompt_id, seen.name, seen.version, seen.text, seen.text_hash)""",
    "tool_definitions": """
        INSERT INTO tool_definitions BY NAME
        SELECT DISTINCT ON (definition_id) * FROM incoming
        WHERE definition_id NOT IN (SELECT definition_id FROM tool_definitions)""",
}
_INSERT = _SHARED | {
    name: f"INSERT INTO {name} BY NAME SELECT * FROM incoming"  # noqa: S608 - our own table names
    for name in (*FACTS, "files", "ingest_runs", "sources", "codes")
}


# By prompt id, or by the first characters of the hash of its text.
_LABELLED = """
    SELECT prompt_id, any_value(p.label) AS old, min(l.label) AS label
    FROM prompts p, (SELECT unnest(?::VARCHAR[]) AS key, unnest(?::VARCHAR[]) AS label) l
    WHERE p.prompt_id = l.key OR starts_with(p.text_hash, l.key)
    GROUP BY prompt_id"""
_LABEL = (
    f"UPDATE prompts SET label = named.label FROM ({_LABELLED}) AS named "  # noqa: S608 - our own text
    "WHERE prompts.prompt_id = named.prompt_id"
)


def read_ledger(generation: Path) -> list[Known]:
    """What a published generation knows of files. Raises StoreVersionError, StoreError."""
    with _reading(generation) as con:
        version_of(con, generation)
        rows = con.execute(
            "SELECT file_id, path, status, reason, size_bytes, mtime_ns, fingerprint, tools_hash, cut_at "
            "FROM files"
        ).fetchall()
    return [
        Known(file_id, name, Status(status), reason, size, mtime, fingerprint, ReadWith(tools, cut_at))
        for file_id, name, status, reason, size, mtime, fingerprint, tools, cut_at in rows
    ]


def labels_are_news(generation: Path, labels: Mapping[str, str]) -> bool:
    """True when a prompt of the published generation would get another name. Raises StoreError."""
    if not labels:
        return False
    with _reading(generation) as con:
        changed = f"FROM ({_LABELLED}) AS named WHERE label IS DISTINCT FROM old"
        return bool(con.execute(changed, [list(labels), list(labels.values())]).fetchall())


def is_outdated(generation: Path) -> bool:
    """True when its tables are of an older version than today's. Raises StoreVersionError, StoreError."""
    with _reading(generation) as con:
        return version_of(con, generation) < SCHEMA_VERSION


class Building:
    """The generation being built, open for writing. Every method raises StoreError when the disk fails."""

    def __init__(self, path: Path, on_write: OnWrite) -> None:
        self._path = path
        self._on_write = on_write
        is_new = not path.exists()
        self._on_write("open")
        with _explaining(path):
            self._con = _open_for_building(path)
            if is_new:
                self._create()
            elif (found := version_of(self._con, path)) < SCHEMA_VERSION:
                self._migrate(found)
            self._con.execute("CREATE TEMP TABLE replaced (file_id INTEGER)")
            self.schemas: Mapping[str, pa.Schema] = {name: self._schema(name) for name in _INSERT}

    def _create(self) -> None:
        self._on_write("create")
        with self._transaction():
            self._con.execute(_sql("schema.sql"))
            self._con.execute(
                "INSERT INTO store_info VALUES (?, ?, ?)", [SCHEMA_VERSION, PARSER_VERSION, utc_now()]
            )

    def _migrate(self, found: int) -> None:
        self._on_write("migrate")
        with self._transaction():
            migrate(self._con, found)

    def _schema(self, table: str) -> pa.Schema:
        return self._con.table(table).limit(0).to_arrow_table().schema

    def next_run_id(self) -> int:
        return self._number("SELECT coalesce(max(run_id), 0) + 1 FROM ingest_runs")

    def next_file_id(self) -> int:
        return self._number("SELECT coalesce(max(file_id), 0) + 1 FROM files")

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Write a batch in one transaction."""
        self._on_write("batch")
        with _explaining(self._path), self._transaction():
            for name, table in tables.items():
                self._con.register("incoming", table)
                self._con.execute(_INSERT[name])
                self._con.unregister("incoming")

    def forget(self, file_id: int) -> None:
        """Remove the rows of a file that failed after some of them were written."""
        self._on_write("forget")
        with _explaining(self._path), self._transaction():
            for table in FACTS:
                self._con.execute(f"DELETE FROM {table} WHERE file_id = ?", [file_id])  # noqa: S608 - our own names

    def replace(self, file_ids: Sequence[int]) -> None:
        """Have the rows of these files removed by `settle`: others have taken their place."""
        with _explaining(self._path):
            self._con.execute("INSERT INTO replaced SELECT unnest(?::INTEGER[])", [list(file_ids)])

    def rename(self, file_id: int, name: str, mtime_ns: int) -> None:
        """Note the new name of a file whose content is in."""
        statement = (
            "UPDATE files SET path = ?, mtime_ns = ?, status = 'loaded', reason = NULL WHERE file_id = ?"
        )
        self._change(statement, [name, mtime_ns, file_id])

    def refuse(self, file_id: int, reason: str) -> None:
        """Note why a file that is in the ledger could not be read this time."""
        self._change("UPDATE files SET status = 'rejected', reason = ? WHERE file_id = ?", [reason, file_id])

    def _change(self, statement: str, values: list[Any]) -> None:
        self._on_write("ledger")
        with _explaining(self._path), self._transaction():
            self._con.execute(statement, values)

    def label(self, labels: Mapping[str, str]) -> None:
        """Give prompts people's names; what `labels` does not name keeps the name it has."""
        if not labels:
            return
        self._on_write("labels")
        with _explaining(self._path), self._transaction():
            self._con.execute(_LABEL, [list(labels), list(labels.values())])

    def settle(self) -> None:
        """Take replaced files out, mark copies, bring the rollups up to date, and check the whole.

        Raises StoreError when the counts disagree: such a generation is never published.
        """
        for script in ("settle.sql", "rollups.sql"):
            self._on_write(script)
            with _explaining(self._path), self._transaction():
                self._con.execute(_sql(script))
        with _explaining(self._path):
            wrong = self._con.execute(_sql("verify.sql")).fetchall()
        if wrong:
            listed = "; ".join(
                f"{what}: {expected} expected, {found} found" for what, expected, found in wrong[:5]
            )
            raise StoreError(
                f"the new tables do not add up ({listed}); nothing was published. This is a bug: report it"
            )

    def replace_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Write small tables anew that do not depend on what was loaded: the codes, the sources."""
        self._on_write("tables")
        with _explaining(self._path), self._transaction():
            for name in tables:
                self._con.execute(f"DELETE FROM {name}")  # noqa: S608 - our own table names
            self._con.execute("UPDATE store_info SET parser_version = ?", [PARSER_VERSION])
        self.add(tables)

    def duplicates_of_run(self) -> int:
        """How many calls of the latest run are copies of calls that another row counts."""
        return self._number(
            "SELECT count(*) FROM tool_calls WHERE duplicate AND file_id IN "
            "(SELECT file_id FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs))"
        )

    def finish(self) -> None:
        """Checkpoint and close: all is in the one file, without a write-ahead log."""
        self._on_write("checkpoint")
        with _explaining(self._path):
            self._con.execute("CHECKPOINT")
            self._con.close()

    def abandon(self) -> None:
        """Close without caring for what was written."""
        self._con.close()

    def _number(self, query: str) -> int:
        with _explaining(self._path):
            row = self._con.execute(query).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._con.begin()
        try:
            yield
        except BaseException:
            self._con.rollback()
            raise
        self._con.commit()


def _open_for_building(path: Path) -> duckdb.DuckDBPyConnection:
    """A connection that writes no log of its own: a building file is never read after a crash.

    Nor does DuckDB wait for the disk: whoever publishes the finished file does, once.
    """
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": f"{path}.tmp",
        "checkpoint_threshold": CHECKPOINT,
        "fsync_mode": "NONE",
    }
    con = duckdb.connect(config=settings)
    quoted = str(path).replace("'", "''")
    con.execute(f"ATTACH '{quoted}' AS building (RECOVERY_MODE no_wal_writes)")
    con.execute("USE building")
    return con


def utc_now() -> datetime:
    """Now, as TIMESTAMP columns hold it: UTC without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)


def _sql(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


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


_THE_DISK = (
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.FatalException,
    duckdb.PermissionException,
)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Turn what DuckDB says of the file into a `StoreError`."""
    try:
        yield
    except duckdb.Error as error:
        next_step = (
            "check that the disk has space and is healthy, then run the same command again"
            if isinstance(error, _THE_DISK)
            else "this is a bug: report it with the files you loaded"
        )
        raise StoreError(
            f"the store {path.parent} failed at {path.name}: {str(error).strip().splitlines()[0]}; "
            f"{next_step}. What was published is untouched."
        ) from error
