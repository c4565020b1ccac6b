"""The generation that a load builds: adds batches, settles the facts, and checks and closes one DuckDB file.

The file being built is private to the load: nobody reads it, and when the load dies it is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.errors import StoreError, explain_os_errors
from ingest.sessions.row_batches import Row
from ingest.store.connection import (
    WAITING,
    WAITS,
    Connection,
    arrow_schemas,
    connect_for_building,
    copy_rows_to,
    explain_duckdb_errors,
    share_memory,
)
from ingest.store.generations import OnWrite
from ingest.store.migrations import SCHEMA_VERSION, migrate, read_schema_version
from ingest.store.reader import LABELLED
from ingest.store.reconciliation import SETTLING, SIGNED
from ingest.store.rollup import roll_up
from ingest.store.scripts import read_script
from lenient import PARSER_VERSION

_HERE = Path(__file__).parent

FACTS = (
    "sessions", "turns", "tool_calls", "diagnostics", "step_texts", "probes", "rejects", "late_results",
)  # fmt: skip

_SHARED = ("copies", "prompts", "tool_definitions")  # one row each, however many files tell of it
_INSERT = {name: read_script(f"insert_{name}.sql") for name in _SHARED} | {
    name: f"INSERT INTO {name} BY NAME SELECT * FROM incoming"  # noqa: S608 - our own table names
    for name in (*FACTS, "files", "ingest_runs", "sources", "codes")
}


_SEE_ANEW = """
    UPDATE files SET
        stored_bytes = incoming.stored_bytes, mtime_ns = incoming.mtime_ns, version = incoming.version,
        archive = incoming.archive, archive_seen = incoming.archive_seen
    FROM incoming WHERE files.file_id = incoming.file_id"""

_LABEL = (
    f"UPDATE prompts SET label = named.label FROM ({LABELLED}) AS named "  # noqa: S608 - our own text
    "WHERE prompts.prompt_id = named.prompt_id"
)


_ALL_DAYS = """
    INSERT INTO touched_days
    (SELECT day FROM tool_calls UNION SELECT day FROM turns) EXCEPT SELECT day FROM touched_days"""


class GenerationBuilder:
    """The generation being built, open for writing. Every method raises StoreError when the disk fails."""

    def __init__(self, path: Path, on_write: OnWrite) -> None:
        self._path = path
        self._on_write = on_write
        self._all_days = False  # whether the rollups of all days are to be made anew
        is_new = not path.exists()
        self._on_write("open")
        with explain_duckdb_errors(path):
            self._con = connect_for_building(path)
            if is_new:
                self._create_tables()
            elif (found := read_schema_version(self._con, path)) < SCHEMA_VERSION:
                self._migrate_tables(found)
            for table in ("replaced", "touched_also"):
                self._con.execute(f"CREATE TEMP TABLE {table} (file_id INTEGER)")
            self.schemas = arrow_schemas(self._con, _INSERT)

    def _create_tables(self) -> None:
        self._on_write("create")
        with self.transaction():
            self._con.execute(read_script("schema.sql"))
            self._con.execute(
                "INSERT INTO store_info VALUES (?, ?, ?)", [SCHEMA_VERSION, PARSER_VERSION, utc_now()]
            )

    def _migrate_tables(self, found: int) -> None:
        self._on_write("migrate")
        with self.transaction():
            migrate(self._con, found)
        self._all_days = True

    def leave_memory(self, to_workers: bool) -> None:
        """Keep to less memory while workers need some."""
        with explain_duckdb_errors(self._path):
            share_memory(self._con, beside_workers=to_workers)

    def next_run_id(self) -> int:
        return self._fetch_number("SELECT coalesce(max(run_id), 0) + 1 FROM ingest_runs")

    def next_file_id(self) -> int:
        return self._fetch_number("SELECT coalesce(max(file_id), 0) + 1 FROM files")

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Write a batch in one transaction."""
        self._on_write("batch")
        with explain_duckdb_errors(self._path), self.transaction():
            for name, table in tables.items():
                self._con.register("incoming", table)
                self._con.execute(_INSERT[name])
                self._con.unregister("incoming")
        self._make_room(WAITS)

    def forget(self, file_id: int) -> None:
        """Remove the rows of a file that failed after some of them were written."""
        self._on_write("forget")
        with explain_duckdb_errors(self._path), self.transaction():
            for table in FACTS:
                self._con.execute(f"DELETE FROM {table} WHERE file_id = ?", [file_id])  # noqa: S608 - our own names

    def drop_quotes(self, file_ids: Sequence[int]) -> None:
        """Remove the quotes of rejects of these files: sessions in them are to be forgotten."""
        if file_ids:
            self._change(
                "UPDATE rejects SET snippet = '', reason = 'not quoted: sessions of the file are forgotten' "
                "WHERE file_id IN (SELECT unnest(?::INTEGER[]))",
                [list(file_ids)],
            )

    def mark_replaced(self, file_ids: Sequence[int]) -> None:
        """Have `settle` remove the rows of these files: others have taken their place."""
        with explain_duckdb_errors(self._path):
            self._con.execute("INSERT INTO replaced SELECT unnest(?::INTEGER[])", [list(file_ids)])

    def rename(self, file_id: int, name: str) -> None:
        """Note the new name of a file whose content is in."""
        statement = "UPDATE files SET path = ?, status = 'loaded', reason = NULL WHERE file_id = ?"
        self._change(statement, [name, file_id])

    def update_stamps(self, looks: Sequence[Row]) -> None:
        """Note how files look by now whose content is in: rows of `file_id` and their stamps."""
        if not looks:
            return
        with self.open_transaction("ledger") as con:
            con.register("incoming", pa.Table.from_pylist(list(looks), self.schemas["copies"]))
            con.execute(_SEE_ANEW)
            con.unregister("incoming")

    def note_refusal(self, file_id: int, reason: str) -> None:
        """Note why a file that is in the ledger could not be read this time."""
        self._change("UPDATE files SET status = 'rejected', reason = ? WHERE file_id = ?", [reason, file_id])

    def _change(self, statement: str, values: list[Any]) -> None:
        self._on_write("ledger")
        with explain_duckdb_errors(self._path), self.transaction():
            self._con.execute(statement, values)

    def set_labels(self, labels: Mapping[str, str]) -> None:
        """Give prompts people's names; a prompt that `labels` does not name keeps its name."""
        if not labels:
            return
        self._on_write("labels")
        with explain_duckdb_errors(self._path), self.transaction():
            self._con.execute(_LABEL, [list(labels), list(labels.values())])

    def settle(self, *before: str) -> None:
        """Take replaced files out, mark copies, join late results. `late_arrivals` concludes their turns.

        `before`: scripts to run when it is known what is touched, and nothing is removed yet.
        """
        self._make_room(WAITS // 4)  # which settling and summing up can use
        first = ((script, None) for script in ("touched.sql", *before))
        for script, needed in (*first, *SETTLING):
            # Scripts of others may leave anything behind.
            if needed is None or before or self.is_true(needed):
                with self.open_transaction(script) as con:
                    con.execute(read_script(script))

    def roll_up(self) -> None:
        """Bring the rollups of the days in `touched_days` up to date, and check the whole.

        Raises StoreError when the counts disagree: such a generation is never published.
        """
        if self._all_days:
            with self.open_transaction("all_days") as con:
                con.execute(_ALL_DAYS)
        if self.is_true(SIGNED):
            with self.open_transaction("signatures.sql") as con:
                con.execute(read_script("signatures.sql"))
        with self.open_transaction("rollups") as con:
            roll_up(con)
        with explain_duckdb_errors(self._path):
            wrong = self._con.execute(read_script("verify.sql")).fetchall()
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
        with explain_duckdb_errors(self._path), self.transaction():
            for name in tables:
                self._con.execute(f"DELETE FROM {name}")  # noqa: S608 - our own table names
            self._con.execute("UPDATE store_info SET parser_version = ?", [PARSER_VERSION])
        self.add(tables)

    def run_figures(self) -> dict[str, int]:
        """Count for the latest run:

        `rejects`; calls: `duplicates`, `judged`, and those gone wrong by layer.
        """
        with explain_duckdb_errors(self._path):
            return dict(self._con.execute(read_script("figures.sql")).fetchall())

    def rewrite(self) -> None:
        """Write all that is left into a new file and close; no byte of what was removed stays."""
        clean = self._path.with_name(f"{self._path.name}.clean")
        self._on_write("rewrite")
        with explain_duckdb_errors(self._path):
            copy_rows_to(self._con, clean)
            self._con.close()
        self._on_write("rewritten")
        with explain_os_errors(self._path.parent):
            clean.replace(self._path)

    def finish(self) -> None:
        """Checkpoint and close: all is in the one file, without a write-ahead log."""
        self._on_write("checkpoint")
        self._checkpoint()
        with explain_duckdb_errors(self._path):
            self._con.close()

    def _make_room(self, most: int) -> None:
        """Write rows that wait in memory if they take more bytes than `most`."""
        if self._fetch_number(WAITING) > most:
            self._checkpoint()

    def _checkpoint(self) -> None:
        with explain_duckdb_errors(self._path):
            self._con.execute("CHECKPOINT")

    def abandon(self) -> None:
        """Close without caring for what was written."""
        self._con.close()

    def is_true(self, question: str) -> bool:
        """Answer a query for one truth value."""
        return bool(self._fetch_number(question))

    def fetch_rows(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query, by column."""
        with explain_duckdb_errors(self._path):
            found = self._con.execute(query, list(values))
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    @contextmanager
    def open_transaction(self, step: str) -> Iterator[Connection]:
        """Open a transaction for statements of others; `step` is its name for `on_write`."""
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
    """Return the time now as TIMESTAMP columns hold it: UTC without an offset."""
    return datetime.now(UTC).replace(tzinfo=None)
