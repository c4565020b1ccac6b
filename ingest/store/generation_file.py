"""The store file that a load builds: a DuckDB file that is filled in batches, completed and checked.

Only the load reads this file. If the load is killed, the next load deletes the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.errors import StoreError, explain_os_errors
from ingest.load_report import DamagedFile
from ingest.sessions.row_batches import Row
from ingest.store.building_months import BuildingMonths
from ingest.store.building_segments import OPEN, BuildingSegments
from ingest.store.connection import (
    WAITING,
    WAITS,
    Connection,
    arrow_schemas,
    connect_for_building,
    copy_database,
    explain_duckdb_errors,
    find_filled,
    has_rows,
    share_memory,
    use_threads,
)
from ingest.store.generations import OnWrite
from ingest.store.ledger import LedgerRow
from ingest.store.migrations import (
    SCHEMA_VERSION,
    complete_old_sums,
    migrate,
    read_schema_version,
)
from ingest.store.reader import LABELLED, find_newest_time
from ingest.store.scripts import read_script, run_script
from ingest.store.segments import read_segments
from ingest.store.verification import compare_all_counts, compare_changed_counts
from lenient import PARSER_VERSION

FACTS = (
    "sessions", "turns", "tool_calls", "diagnostics", "step_texts", "probes", "rejects", "late_results",
    "file_members", "trial_runs", "trial_looks",
)  # fmt: skip

_SHARED = (
    "copies",
    "prompts",
    "tool_definitions",
    "tool_lists",
)
_INSERT = {name: read_script(f"insert_{name}.sql") for name in _SHARED} | {
    name: f"INSERT INTO {name} BY NAME SELECT * FROM incoming"  # noqa: S608 - our own table names
    for name in (*FACTS, "files", "ingest_runs", "sources", "codes")
}


_MEASURED = 4 * 1024 * 1024  # bytes of new rows between two checks of memory

_NOTED = {
    "replaced": "file_id INTEGER",
    "reread": "old INTEGER, new INTEGER",
    "removed_contents": "old INTEGER, new INTEGER",
    "touched_also": "file_id INTEGER",
    "new_files": "file_id INTEGER",
    "touched_sessions": "source VARCHAR, session_id VARCHAR",
    "concerned_sessions": "source VARCHAR, session_id VARCHAR, round INTEGER",
    "rows_before": "file_id INTEGER, source VARCHAR, session_id VARCHAR",
    "resumed": "file_id INTEGER",
    "copied_calls": "call_id VARCHAR",
    "copied_turns": "turn_id VARCHAR",
    "copied_sessions": "source VARCHAR, session_id VARCHAR",
    "known_rejects": "file_id INTEGER, byte_offset BIGINT, code VARCHAR, reason VARCHAR",
    "repeated_sessions": (
        "old INTEGER, source VARCHAR, session_id VARCHAR, new INTEGER, new_session_id VARCHAR"
    ),
    "repeated_turns": "old INTEGER, new INTEGER, source VARCHAR, session_id VARCHAR, turn_id VARCHAR",
}

_UPDATE_STAMPS = """
    UPDATE files SET
        stored_bytes = incoming.stored_bytes, mtime_ns = incoming.mtime_ns, version = incoming.version,
        archive = incoming.archive, archive_seen = incoming.archive_seen
    FROM incoming WHERE files.file_id = incoming.file_id"""

_LABEL = (
    f"UPDATE prompts SET label = named.label FROM ({LABELLED}) AS named "  # noqa: S608 - our own text
    "WHERE prompts.prompt_id = named.prompt_id"
)


class GenerationBuilder:
    """The store file being built, open for writing.

    The methods raise StoreError when the disk fails. `on_write` is called with the name of each step before
    the step writes. `database` is used instead of a new one (`ingest.store.connection.start_database`).
    """

    def __init__(self, path: Path, on_write: OnWrite, database: Connection | None = None) -> None:
        self._path = path
        self._on_write = on_write
        self.has_migrated = False  # True when the sums of all days must be recomputed
        self._unmeasured = 0
        is_new = not path.exists()
        self._on_write("open")
        with explain_duckdb_errors(path):
            self._con = connect_for_building(path, database)
            use_threads(self._con, many=False)
            if is_new:
                self._create_tables()
            elif (stored_version := read_schema_version(self._con, path)) < SCHEMA_VERSION:
                self._migrate_tables(stored_version)
            segments = read_segments(self._con, OPEN)
            self._segments = BuildingSegments(
                self._con, path, on_write, segments, has_migrated=self.has_migrated
            )
            self._months = BuildingMonths(self._con, path, on_write, segments, has_migrated=self.has_migrated)
            if self.has_migrated:
                with self.transaction():
                    complete_old_sums(self._con)
            noted = (f"CREATE TEMP TABLE {table} ({columns})" for table, columns in _NOTED.items())
            self._con.execute(";".join(noted))
            self.schemas = arrow_schemas(self._con, _INSERT)

    def _create_tables(self) -> None:
        self._on_write("create")
        with self.transaction():
            run_script(self._con, "schema.sql")
            self._con.execute(
                "INSERT INTO store_info (schema_version, parser_version, created_at) VALUES (?, ?, ?)",
                [SCHEMA_VERSION, PARSER_VERSION, utc_now()],
            )

    def _migrate_tables(self, stored_version: int) -> None:
        self._on_write("migrate")
        with self.transaction():
            migrate(self._con, stored_version)
        self.has_migrated = True

    def leave_memory(self, to_workers: bool) -> None:
        """Set DuckDB's memory limit. With `to_workers`, the limit is lower because worker processes also need
        memory.
        """
        with explain_duckdb_errors(self._path):
            share_memory(self._con, beside_workers=to_workers)

    def use_all_cores(self) -> None:
        """Let DuckDB execute the next statements on all cores if there are many rows."""
        with explain_duckdb_errors(self._path):
            use_threads(self._con, many=True)

    def next_run_id(self) -> int:
        return self._fetch_number("SELECT coalesce(max(run_id), 0) + 1 FROM ingest_runs")

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Write a batch of rows in one transaction. `tables` has the rows by table name."""
        self._on_write("batch")
        with explain_duckdb_errors(self._path), self.transaction():
            self._insert(tables)
        if self._unmeasured >= _MEASURED:
            self.make_room(WAITS)

    def _insert(self, tables: Mapping[str, pa.Table]) -> None:
        for name, incoming in tables.items():
            # DuckDB finds the local variable `incoming` by its name in the SQL
            self._con.execute(_INSERT[name])
            self._unmeasured += incoming.nbytes

    def forget(self, file_id: int) -> None:
        """Remove the rows of a file that failed after some of its rows were written."""
        self._on_write("forget")
        with explain_duckdb_errors(self._path), self.transaction():
            for table in FACTS:
                self._con.execute(f"DELETE FROM {table} WHERE file_id = ?", [file_id])  # noqa: S608 - our own names

    def drop_quotes(self, file_ids: Sequence[int]) -> None:
        """Remove the quoted text of unreadable lines in these files."""
        if file_ids:
            self._change(
                "UPDATE rejects SET snippet = '', reason = 'not quoted: sessions of the file are forgotten' "
                "WHERE file_id IN (SELECT unnest(?::INTEGER[]))",
                [list(file_ids)],
            )

    def mark_replaced(self, file_ids: Mapping[int, int | None], removed: Collection[int] = ()) -> None:
        """Mark these files as replaced, so that `settle` removes their rows.

        `file_ids` maps each replaced file to the file that was read instead, or to None. `removed` are the
        files whose old content --replace removes.
        """
        if not file_ids:
            return
        with explain_duckdb_errors(self._path):
            self._con.execute("INSERT INTO replaced SELECT unnest(?::INTEGER[])", [list(file_ids)])
            for table, chosen in (("reread", file_ids.keys() - set(removed)), ("removed_contents", removed)):
                pairs = [(old, new) for old in sorted(chosen) if (new := file_ids[old]) or table != "reread"]
                self._con.execute(
                    f"INSERT INTO {table} SELECT unnest(?::INTEGER[]), unnest(?::INTEGER[])",
                    [[old for old, _ in pairs], [new for _, new in pairs]],
                )

    def retire(self, file_ids: Sequence[int]) -> None:
        """Mark the content of these files as earlier content, because the files now have other content."""
        if file_ids:
            self._change(
                "UPDATE files SET status = 'earlier', reason = NULL "
                "WHERE file_id IN (SELECT unnest(?::INTEGER[]))",
                [list(file_ids)],
            )

    def rename(self, row: LedgerRow) -> None:
        """Store the new name of a file whose content is in the store."""
        statement = "UPDATE files SET path = ?, status = ?, reason = NULL WHERE file_id = ?"
        self._change(statement, [row.name, row.status.value, row.file_id])

    def update_stamps(self, looks: Sequence[Row]) -> None:
        """Store the present stamps of files whose content is in the store.

        `looks` are rows of `file_id` and the columns of a stamp.
        """
        if not looks:
            return
        with self.open_transaction("ledger") as con:
            con.register("incoming", pa.Table.from_pylist(list(looks), self.schemas["copies"]))
            con.execute(_UPDATE_STAMPS)
            con.unregister("incoming")

    def note_refusal(self, row: LedgerRow) -> None:
        """Store the status and the reason of a known file that this load could not read."""
        facts = row.read_with.facts
        values = [row.status.value, row.reason, row.foreign, row.refused_by, facts, row.file_id]
        columns = "status = ?, reason = ?, foreign_kind = ?, refused_by = ?, path_facts = ?"
        self._change(f"UPDATE files SET {columns} WHERE file_id = ?", values)  # noqa: S608 - our own names

    def _change(self, statement: str, values: list[Any]) -> None:
        self._on_write("ledger")
        with explain_duckdb_errors(self._path), self.transaction():
            self._con.execute(statement, values)

    def set_labels(self, labels: Mapping[str, str]) -> None:
        """Store the names that users chose for prompts.

        `labels` maps a prompt to a name. A key is the prompt's id, or the first characters of the hash of its
        text. Other prompts keep their names.
        """
        if not labels:
            return
        self._on_write("labels")
        with explain_duckdb_errors(self._path), self.transaction():
            self._con.execute(_LABEL, [list(labels), list(labels.values())])

    def check_counts(self) -> None:
        """Raise StoreError when counts in the store file contradict each other. Such a file must not be
        published.
        """
        self._raise_disagreement(compare_all_counts)

    def check_changed_counts(self) -> None:
        """Raise StoreError when counts of the files and days that a load changed contradict each other."""
        self._raise_disagreement(compare_changed_counts)

    def _raise_disagreement(self, compare: Callable[[Connection], str | None]) -> None:
        with explain_duckdb_errors(self._path):
            listed = compare(self._con)
        if listed:
            raise StoreError(
                f"the new tables do not add up ({listed}); nothing was published. This is a bug: report it"
            )

    def replace_tables(self, tables: Mapping[str, pa.Table]) -> None:
        """Replace all rows of small tables that do not depend on the loaded logs (codes, sources).

        Also update the parser version of the store. Write nothing if all of this is stored already.
        """
        if self._has_tables(tables):
            return
        self._on_write("tables")
        with explain_duckdb_errors(self._path), self.transaction():
            for name in tables:
                self._con.execute(f"DELETE FROM {name}")  # noqa: S608 - our own table names
            self._con.execute("UPDATE store_info SET parser_version = ?", [PARSER_VERSION])
            self._insert(tables)

    def _has_tables(self, tables: Mapping[str, pa.Table]) -> bool:
        with explain_duckdb_errors(self._path):
            stored = self._con.execute("SELECT parser_version FROM store_info").fetchall()
            return stored == [(PARSER_VERSION,)] and all(
                self._con.table(name).to_arrow_table().equals(table) for name, table in tables.items()
            )

    def run_figures(self) -> dict[str, int]:
        """Return counts of the latest load by name.

        The names are `rejects`, `duplicates` (calls), `judged` (calls), and the failure stages, each with its
        number of failed calls.
        """
        with explain_duckdb_errors(self._path):
            return dict(run_script(self._con, "figures.sql").fetchall())

    def list_damaged_files(self) -> list[DamagedFile]:
        """Return the files of the latest load with unreadable lines that earlier loads did not see."""
        with explain_duckdb_errors(self._path):
            return [DamagedFile(*row) for row in run_script(self._con, "new_rejects.sql").fetchall()]

    def count_redacted_calls(self) -> list[tuple[str, int, int]]:
        """Return the sources for which the latest load redacted calls.

        Each source comes with its title, the number of redacted calls, and the number of all calls of the
        source.
        """
        with explain_duckdb_errors(self._path):
            return run_script(self._con, "redacted_calls.sql").fetchall()

    def find_newest_time(self, files: Sequence[int]) -> datetime | None:
        """Return when the newest session of these files ended. See `ingest.store.reader.read_newest_time`."""
        with explain_duckdb_errors(self._path):
            return find_newest_time(self._con, "stored_sessions", files)

    def narrow_search(self) -> None:
        """Restrict the views `searched_…` to files that may have the searched ids. See `BuildingSegments`."""
        with explain_duckdb_errors(self._path):
            self._segments.narrow_search()

    def pull_sessions(self, query: str) -> None:
        """Move the rows of sessions into the main file. `query` selects their source and session_id."""
        with explain_duckdb_errors(self._path):
            self._segments.pull_sessions(query)

    def pull_files(self, query: str, values: Sequence[Any] = ()) -> None:
        """Move the rows of files into the main file. `query` selects their file_id."""
        with explain_duckdb_errors(self._path):
            self._segments.pull_files(query, values)

    @property
    def has_months(self) -> bool:
        """True when sums of old months are in segment files."""
        return bool(self._months)

    def pull_days(self, query: str) -> None:
        """Move the sums of old months into the main file. `query` selects days of these months."""
        with explain_duckdb_errors(self._path):
            self._months.pull_days(query)

    def pull_sums(self, table: str, condition: str) -> None:
        """Move months back into the main file if a row of `table` in the month meets the condition."""
        with explain_duckdb_errors(self._path):
            self._months.pull_rows(table, condition)

    def drop_unused(self) -> None:
        """Remove prompts, contents of prompts and tool definitions to which no stored row refers."""
        with self.open_transaction("unused") as con:
            run_script(con, "unused.sql")

    def rewrite(self) -> None:
        """Copy all remaining rows into new files, which replace the present files. Close the connection.

        No bytes of deleted rows remain.
        """
        self._checkpoint()
        with explain_duckdb_errors(self._path):
            self._months.seal()
            self._segments.clean()
            self._segments.finish()
        self._rewrite_open()

    def _rewrite_open(self) -> None:
        clean = self._path.with_name(f"{self._path.name}.clean")
        self._on_write("rewrite")
        with explain_duckdb_errors(self._path):
            copy_database(self._con, "building", clean)
            self._con.close()
        self._on_write("rewritten")
        with explain_os_errors(self._path.parent):
            clean.replace(self._path)

    def finish(self) -> None:
        """Write all data to the file and its segment files, without a write-ahead log.

        Close the connection.
        """
        self._on_write("checkpoint")
        self._checkpoint()
        with explain_duckdb_errors(self._path):
            is_sealed = self._months.seal() | self._segments.seal()
            self._segments.finish()
        if is_sealed:
            self._rewrite_open()
            return
        with explain_duckdb_errors(self._path):
            if self._segments:
                self._con.execute("CHECKPOINT")
            self._con.close()

    def make_room(self, most: int) -> None:
        """Make a checkpoint when the rows that wait in memory take more than `most` bytes."""
        self._unmeasured = 0
        if self._fetch_number(WAITING) > most:
            self._checkpoint()

    def _checkpoint(self) -> None:
        with explain_duckdb_errors(self._path):
            self._con.execute("CHECKPOINT")

    def abandon(self) -> None:
        self._con.close()

    def has_rows(self, *sources: str) -> bool:
        with explain_duckdb_errors(self._path):
            return has_rows(self._con, *sources)

    def find_filled(self, sources: Sequence[str]) -> set[str]:
        """Return the sources that have a row. See `ingest.store.connection.find_filled`."""
        with explain_duckdb_errors(self._path):
            return set(find_filled(self._con, sources))

    def is_true(self, question: str) -> bool:
        return bool(self._fetch_number(question))

    def fetch_rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """Return the rows of a query as dictionaries by column name."""
        with explain_duckdb_errors(self._path):
            cursor = self._con.execute(query, values)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    @contextmanager
    def open_transaction(self, step: str) -> Iterator[Connection]:
        """Begin a transaction and yield the connection for the caller's statements.

        `step` is passed to `on_write`.
        """
        self._on_write(step)
        with explain_duckdb_errors(self._path), self.transaction():
            yield self._con

    def _fetch_number(self, query: str) -> int:
        with explain_duckdb_errors(self._path):
            row = self._con.execute(query).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._con.begin()
        try:
            yield
        except BaseException:
            self._con.rollback()
            raise
        self._con.commit()


def utc_now() -> datetime:
    """Return the current time as TIMESTAMP columns store it: UTC without an offset."""
    return datetime.now(UTC).replace(tzinfo=None)
