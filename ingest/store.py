"""Arrow tables in, one checked and checkpointed DuckDB file out; knows no logs and no folder of generations.

The file being built is private to the load: nobody reads it, and when the load dies it is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.batches import Row
from ingest.building_file import (
    WAITING,
    WAITS,
    Connection,
    copy_to,
    explained,
    open_for_building,
    schemas_of,
    share_memory,
)
from ingest.errors import StoreError, explaining
from ingest.generations import OnWrite
from ingest.lookup import LABELLED
from ingest.migrations import SCHEMA_VERSION, migrate, version_of
from ingest.rollups import roll_up
from ingest.settling import SETTLING, SIGNED
from lenient import PARSER_VERSION

_HERE = Path(__file__).parent

FACTS = (
    "sessions", "turns", "tool_calls", "diagnostics", "step_texts", "probes", "rejects", "late_results",
)  # fmt: skip

# One row each: of a copy its newest look; of a prompt and a definition, which many files tell, the first, and
# a later text where that has none.
_SHARED = {
    "copies": """
        DELETE FROM copies WHERE path IN (SELECT path FROM incoming);
        INSERT INTO copies BY NAME SELECT * FROM incoming""",
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
            VALUES (seen.prompt_id, seen.name, seen.version, seen.text, seen.text_hash);
        INSERT INTO prompt_texts
        SELECT prompt_id, text_hash, any_value(text) FROM incoming
        ANTI JOIN prompt_texts USING (prompt_id, text_hash)
        WHERE text IS NOT NULL GROUP BY prompt_id, text_hash""",
    "tool_definitions": """
        INSERT INTO tool_definitions BY NAME
        SELECT DISTINCT ON (definition_id) * FROM incoming
        WHERE definition_id NOT IN (SELECT definition_id FROM tool_definitions)""",
}
_INSERT = _SHARED | {
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


class Building:
    """The generation being built, open for writing. Every method raises StoreError when the disk fails."""

    def __init__(self, path: Path, on_write: OnWrite) -> None:
        self._path = path
        self._on_write = on_write
        self._all_days = False  # whether the rollups of all days are to be made anew
        is_new = not path.exists()
        self._on_write("open")
        with explained(path):
            self._con = open_for_building(path)
            if is_new:
                self._create()
            elif (found := version_of(self._con, path)) < SCHEMA_VERSION:
                self._migrate(found)
            for table in ("replaced", "touched_also"):
                self._con.execute(f"CREATE TEMP TABLE {table} (file_id INTEGER)")
            self.schemas = schemas_of(self._con, _INSERT)

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
        self._all_days = True

    def leave_memory(self, to_workers: bool) -> None:
        """Keep to less memory while workers need some."""
        with explained(self._path):
            share_memory(self._con, beside_workers=to_workers)

    def next_run_id(self) -> int:
        return self._number("SELECT coalesce(max(run_id), 0) + 1 FROM ingest_runs")

    def next_file_id(self) -> int:
        return self._number("SELECT coalesce(max(file_id), 0) + 1 FROM files")

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Write a batch in one transaction."""
        self._on_write("batch")
        with explained(self._path), self._transaction():
            for name, table in tables.items():
                self._con.register("incoming", table)
                self._con.execute(_INSERT[name])
                self._con.unregister("incoming")
        self._make_room(WAITS)

    def forget(self, file_id: int) -> None:
        """Remove the rows of a file that failed after some of them were written."""
        self._on_write("forget")
        with explained(self._path), self._transaction():
            for table in FACTS:
                self._con.execute(f"DELETE FROM {table} WHERE file_id = ?", [file_id])  # noqa: S608 - our own names

    def unquote(self, file_ids: Sequence[int]) -> None:
        """Take back what was quoted of these files: sessions in them are to be forgotten."""
        if file_ids:
            self._change(
                "UPDATE rejects SET snippet = '', reason = 'not quoted: sessions of the file are forgotten' "
                "WHERE file_id IN (SELECT unnest(?::INTEGER[]))",
                [list(file_ids)],
            )

    def replace(self, file_ids: Sequence[int]) -> None:
        """Have the rows of these files removed by `settle`: others have taken their place."""
        with explained(self._path):
            self._con.execute("INSERT INTO replaced SELECT unnest(?::INTEGER[])", [list(file_ids)])

    def rename(self, file_id: int, name: str) -> None:
        """Note the new name of a file whose content is in."""
        statement = "UPDATE files SET path = ?, status = 'loaded', reason = NULL WHERE file_id = ?"
        self._change(statement, [name, file_id])

    def see_anew(self, looks: Sequence[Row]) -> None:
        """Note how files look by now whose content is in: rows of `file_id` and how they look."""
        if not looks:
            return
        with self.writing("ledger") as con:
            con.register("incoming", pa.Table.from_pylist(list(looks), self.schemas["copies"]))
            con.execute(_SEE_ANEW)
            con.unregister("incoming")

    def refuse(self, file_id: int, reason: str) -> None:
        """Note why a file that is in the ledger could not be read this time."""
        self._change("UPDATE files SET status = 'rejected', reason = ? WHERE file_id = ?", [reason, file_id])

    def _change(self, statement: str, values: list[Any]) -> None:
        self._on_write("ledger")
        with explained(self._path), self._transaction():
            self._con.execute(statement, values)

    def label(self, labels: Mapping[str, str]) -> None:
        """Give prompts people's names; what `labels` does not name keeps the name it has."""
        if not labels:
            return
        self._on_write("labels")
        with explained(self._path), self._transaction():
            self._con.execute(_LABEL, [list(labels), list(labels.values())])

    def settle(self, *before: str) -> None:
        """Take replaced files out, mark copies, join late results; `ingest.late` concludes their turns.

        `before`: scripts to run when it is known what is touched, and nothing is removed yet.
        """
        self._make_room(WAITS // 4)  # which settling and summing up can use
        first = ((script, None) for script in ("touched.sql", *before))
        for script, needed in (*first, *SETTLING):
            # Scripts of others may leave anything behind.
            if needed is None or before or self.holds(needed):
                with self.writing(script) as con:
                    con.execute(_sql(script))

    def roll_up(self) -> None:
        """Bring the rollups of the days in `touched_days` up to date, and check the whole.

        Raises StoreError when the counts disagree: such a generation is never published.
        """
        if self._all_days:
            with self.writing("all_days") as con:
                con.execute(_ALL_DAYS)
        if self.holds(SIGNED):
            with self.writing("signatures.sql") as con:
                con.execute(_sql("signatures.sql"))
        with self.writing("rollups") as con:
            roll_up(con)
        with explained(self._path):
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
        with explained(self._path), self._transaction():
            for name in tables:
                self._con.execute(f"DELETE FROM {name}")  # noqa: S608 - our own table names
            self._con.execute("UPDATE store_info SET parser_version = ?", [PARSER_VERSION])
        self.add(tables)

    def figures_of_run(self) -> dict[str, int]:
        """Of the latest run: `rejects`; calls: `duplicates`, `judged`, and those gone wrong by layer."""
        with explained(self._path):
            return dict(self._con.execute(_sql("figures.sql")).fetchall())

    def rewrite(self) -> None:
        """Write all that is left into a new file and close: of what was removed no byte stays."""
        clean = self._path.with_name(f"{self._path.name}.clean")
        self._on_write("rewrite")
        with explained(self._path):
            copy_to(self._con, clean)
            self._con.close()
        self._on_write("rewritten")
        with explaining(self._path.parent):
            clean.replace(self._path)

    def finish(self) -> None:
        """Checkpoint and close: all is in the one file, without a write-ahead log."""
        self._on_write("checkpoint")
        self._checkpoint()
        with explained(self._path):
            self._con.close()

    def _make_room(self, most: int) -> None:
        """Write rows away that wait in memory, if they take more bytes than `most`."""
        if self._number(WAITING) > most:
            self._checkpoint()

    def _checkpoint(self) -> None:
        with explained(self._path):
            self._con.execute("CHECKPOINT")

    def abandon(self) -> None:
        """Close without caring for what was written."""
        self._con.close()

    def holds(self, question: str) -> bool:
        """The answer to a query for one truth value."""
        return bool(self._number(question))

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """The rows of a query, by column."""
        with explained(self._path):
            found = self._con.execute(query, list(values))
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    @contextmanager
    def writing(self, step: str) -> Iterator[Connection]:
        """A transaction for statements of others; `step` is its name for `on_write`."""
        self._on_write(step)
        with explained(self._path), self._transaction():
            yield self._con

    def _number(self, query: str) -> int:
        with explained(self._path):
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


def utc_now() -> datetime:
    """Now, as TIMESTAMP columns hold it: UTC without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)


def _sql(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
